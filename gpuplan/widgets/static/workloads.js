// Workloads as sentences, one of which is open for editing: its few inputs, those that are used rarely behind a click, and what follows
// from them. Before them the board and the server that it runs on, after them the kinds to add.
const line = (style, [first, second]) => h("span", { class: style }, h("b", {}, first), second ? h("small", {}, second) : null);

const memoryBar = ({ label, parts, text }) => h("div", { class: "gp-model-bar" }, h("small", {}, label),
  svg("svg", { role: "img", "aria-label": `${label}: ${text}`, width: "100%", height: 10 }, parts.map((p) =>
    svg("rect", { class: `gp-m${p.colour}`, x: `${100 * p.from}%`, width: `${100 * p.share}%`, y: 0, height: 10 }))),
  h("p", {}, parts.map((p) => h("span", {}, h("i", { class: `gp-m${p.colour}`, "aria-hidden": "true" }), p.text))));

// The inputs of the workload that is open, and what follows from them.
function openPart(send) {
  const put = keptFields(send), firsts = h("div", { class: "gp-fields" }), rest = h("div", { class: "gp-fields" }), hint = h("small");
  const elsewhere = h("p", { class: "gp-small" });
  const acts = h("div", { class: "gp-workload-acts" });
  const more = h("details", { class: "gp-fold" }, h("summary", {}, h("b", {}, "More inputs"), hint), rest, elsewhere), found = h("div", { class: "gp-model-found" });
  const figure = (f) => h("div", {}, h("small", {}, f.label),
    h("button", { type: "button", class: "gp-number", title: "Why this number?", "data-at": f.key, "aria-label": `Why ${f.value}, ${f.label}?`, onclick: () => send("why", { key: f.key }) }, f.value),
    f.note ? h("p", {}, f.note) : null);
  const node = takesDrops(h("div", { class: "gp-workload-open" }, firsts, h("div", { class: "gp-workload-more" }, more, acts), found));
  return { node, update(row) {
    const { fields, more: others, hint: said, vms, bar, figures, notes, file } = row.open;
    put([firsts, fields], [rest, others]);
    hint.textContent = said;
    if (others.some((f) => f.problem)) more.open = true;
    redraw(elsewhere, [h("button", { type: "button", class: "gp-link", "data-at": `visit-${vms}`, onclick: () => send("visit", { path: vms }) }, "vCPUs, memory and vMotion")]);
    redraw(found, [h("div", { class: "gp-model-figures" }, bar ? memoryBar(bar) : null, figures.map(figure)), notes.map((text) => h("p", { class: "gp-small" }, text))]);
    const act = (text, type, rest) => h("button", { type: "button", "data-at": `${type}${rest?.by ?? ""}-${row.id}`, "aria-label": `${text}: ${row.name}`, onclick: () => send(type, { id: row.id, ...rest }) }, text);
    redraw(acts, [file ? fileButton(file, send, { id: row.id }) : null, act("Duplicate", "duplicate"), act("Move up", "move", { by: -1 }), act("Move down", "move", { by: 1 }), act("Delete", "delete")]);
  } };
}

function workload(id, send) {
  const why = h("span", { class: "gp-workload-gpus" });
  const toggle = h("button", { type: "button", class: "gp-workload-row", "data-at": `workload-${id}`, onclick: () => send("workload", { id }) });
  const node = h("li", { class: "gp-workload", "data-group": id }, h("div", {}, toggle, why));
  let part;
  return { node, toggle, update(row, off) {
    node.className = `gp-workload ${row.open ? "on" : ""} ${off}`;
    toggle.setAttribute("aria-expanded", String(Boolean(row.open)));
    redraw(toggle, [row.letter ? chip(row.letter, row.colour) : null, line("gp-workload-name", [row.name, row.kind === row.name ? "" : row.kind]),
      h("span", { class: "gp-workload-said" }, row.words[0].map((p, at) => [at ? ", " : "", h("b", {}, p.text)]), h("small", {}, row.words[1].map((p) => p.text))),
      line("gp-workload-gets", row.gets),
      h("span", { class: "gp-chevron", "aria-hidden": "true" }, row.open ? "\u2303" : "\u203a"), wrongMark(row.error)]);
    redraw(why, [row.key ? h("button", { type: "button", class: "gp-number", title: "Why this number?", "data-at": row.key, "aria-label": `Why ${row.gpus} GPUs for ${row.name}?`,
      onclick: () => send("why", { key: row.key }) }, row.gpus) : row.gpus]);
    const opening = row.open && !part;
    if (opening) node.append((part = openPart(send)).node);
    if (!row.open && part) { part.node.remove(); part = undefined; }
    part?.update(row);
    if (opening) requestAnimationFrame(() => node.scrollIntoView({ block: "nearest" }));  // once the others are closed
  } };
}

export default {
  render({ model, el }) {
    const send = sender(model), shown = new Map(), put = keptFields(send);
    const [gpu, server, rest] = [0, 1, 2].map(() => h("div", { class: "gp-fields" })), perHost = h("span"), fit = h("span", { class: "gp-fit", role: "status" }), tools = h("div"), list = h("ol", { class: "gp-workloads" }), foot = h("div", { class: "gp-workloads-foot" });
    const empty = h("p", { class: "gp-empty" }, "Choose a workload below.");
    const add = h("div", { class: "gp-add-kinds" });
    el.append(h("section", { class: "gp-card gp-sized", "aria-label": "Sized for" }, h("b", {}, "On"), gpu, perHost, server, fit, rest), tools,
      h("section", { class: "gp-card gp-workload-list", "aria-label": "Workloads" }, list, empty, add), foot);
    const kind = (k) => h("button", { type: "button", "data-at": `add-${k.id}`, title: k.about, onclick: () => send("add", { use_case: k.id }) }, k.name);
    function draw() {
      const data = model.get("data");
      if (!data.rows) return;
      const near = [...shown.values()].findIndex((each) => each.node.contains(document.activeElement));
      put([gpu, data.sized_for.slice(0, 1)], [server, data.sized_for.slice(1, 2)], [rest, data.sized_for.slice(2)]);
      perHost.textContent = data.per_host;
      redraw(fit, [mark(data.fit)]);
      const alive = new Set(data.rows.map((r) => r.id));
      for (const [id, row] of shown) if (!alive.has(id)) { row.node.remove(); shown.delete(id); }
      const many = long(model, "workloads", "workloads", data.rows, (r) => [r.name, r.kind, ...r.words.flat().map((p) => p.text), ...r.gets].join(" "));
      redraw(tools, [many.tools]);
      many.rows.forEach(({ row, off }, at) => {
        if (!shown.has(row.id)) shown.set(row.id, workload(row.id, send));
        const { node, toggle, update } = shown.get(row.id);
        update(row, row.open ? "" : off);
        toggle.toggleAttribute("data-first", at === 0);
        if (list.children[at] === node) return;
        const active = node.contains(document.activeElement) ? document.activeElement : null;
        list.insertBefore(node, list.children[at] ?? null);
        active?.focus();
      });
      list.classList.toggle("gp-dense", data.rows.length > 6);
      list.classList.toggle("gp-old", data.stale);
      list.hidden = !data.rows.length;
      empty.hidden = Boolean(data.rows.length);
      redraw(add, [h("span", {}, "+ Add"), data.kinds.map(kind),
        h("details", { "data-keep": "kinds" }, h("summary", {}, "More kinds"), h("div", {}, data.more_kinds.map(kind)))]);
      redraw(foot, [statedTotal(data.stated, send)]);
      foot.hidden = !data.stated;
      if (near >= 0 && !el.contains(document.activeElement)) {
        const rows = data.rows.map((r) => shown.get(r.id));
        (rows[near] ?? rows.at(-1))?.toggle.focus();
        if (!rows.length) add.querySelector("button").focus();
      }
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
