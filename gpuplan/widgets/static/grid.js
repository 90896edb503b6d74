// A grid of real inputs with a row for each workload group: the table of groups with all that can be done to them,
// or one with more inputs, under a title or folded. Rows are kept, so that typing is never interrupted. A group that uses a
// language model has a sentence below it, which opens: its inputs, and what follows from them.
function modelPanel(data, send) {
  const fields = new Map();
  const said = h("span");
  const body = h("div", { class: "gp-fields" });
  const rest = h("div", { class: "gp-fields" });
  const hint = h("small");
  const more = h("details", { class: "gp-fold" }, h("summary", {}, h("b", {}, "More inputs"), hint), rest);
  const found = h("div", { class: "gp-model-found" });
  const node = h("details", { class: "gp-fold gp-model", open: data.open, "data-at": `model-${data.id}` }, h("summary", {}, said), body, more, found);
  const bar = ({ label, parts, text }) => h("div", { class: "gp-model-bar" }, h("small", {}, label),
    svg("svg", { role: "img", "aria-label": `${label}: ${text}`, width: "100%", height: 10 }, parts.map((p) =>
      svg("rect", { class: `gp-m${p.colour}`, x: `${100 * p.from}%`, width: `${100 * p.share}%`, y: 0, height: 10 }))),
    h("p", {}, parts.map((p) => h("span", {}, h("i", { class: `gp-m${p.colour}`, "aria-hidden": "true" }), p.text))));
  const figure = (f) => h("div", {}, h("small", {}, f.label), f.key
    ? h("button", { type: "button", class: "gp-number", title: "Why this number?", "data-at": f.key, "aria-label": `Why ${f.value}, ${f.label}?`, onclick: () => send("why", { key: f.key }) }, f.value)
    : h("b", {}, f.value), h("p", {}, f.note));
  return { node, update(next) {
    said.replaceChildren(h("b", {}, next.lead), ` \u00b7 ${next.said}`);
    const alive = new Set(next.fields.map((f) => f.path));
    for (const [path, field] of fields) if (!alive.has(path)) { field.node.remove(); fields.delete(path); }
    next.fields.forEach((field, at) => {
      if (!fields.has(field.path)) fields.set(field.path, control(field, send));
      const kept = fields.get(field.path);
      kept.update(field);
      const [shelf, place] = at < next.first ? [body, at] : [rest, at - next.first];
      if (shelf.children[place] !== kept.node) shelf.insertBefore(kept.node, shelf.children[place] ?? null);
    });
    more.hidden = next.fields.length <= next.first;
    hint.textContent = next.hint;
    if (next.fields.some((f) => f.problem)) node.open = true;
    if (next.fields.slice(next.first).some((f) => f.problem)) more.open = true;
    redraw(found, [h("div", { class: "gp-model-figures" }, next.bar ? bar(next.bar) : null, next.figures.map(figure)),
      next.notes.map((text) => h("p", { class: "gp-small" }, text))]);
  } };
}

export default {
  render({ model, el }) {
    const send = sender(model);
    const { fold, title, heads, presets, head: first = "Group", file } = model.get("data");
    const plain = Boolean(fold || title);
    const span = heads.length;
    const rows = new Map();
    const head = h("tr");
    const sum = h("b");
    const sumLabel = h("span");
    const empty = h("div", { class: "gp-empty" },
      h("p", {}, "No workloads yet."), h("p", {}, "Add the first group below: choose its use case, then its number of users."));
    const foot = h("tfoot", {}, h("tr", {}, h("td", { colspan: span + 1 }, sumLabel), h("td", { class: "n" }, sum), h("td")));
    const table = h("table", { class: "gp-grid" }, h("thead", {}, head), plain ? null : foot);
    const stated = h("div");
    const hint = h("small");
    const details = fold ? h("details", { class: "gp-fold" }, h("summary", {}, h("b", {}, fold), hint), table, file ? fromFile() : null) : null;
    const choice = h("select", { "data-at": "add-what", "aria-label": "Use case of the new group" });
    const add = h("div", { class: "gp-add" }, choice,
      h("button", { type: "button", class: "gp-primary", "data-at": "add", onclick: () => send("add", { use_case: choice.value }) }, "Add group"));
    el.append(h("div", { class: "gp-card gp-wide" }, details ?? (title ? [h("h2", {}, title, hint), table] : [table, stated, empty, add])));
    head.append(h("th", {}, h("span", { class: "gp-hidden" }, "Letter")), plain ? h("th", {}, first) : "",
      ...heads.map((c) => h("th", { title: c.question, class: `gp-col-${c.name}` }, h("abbr", { title: `${c.full}. ${c.question}` }, c.text))));
    if (!plain) {
      head.append(h("th", { class: "n" }, "GPUs"), h("th", {}, h("span", { class: "gp-hidden" }, "Actions")));
      choice.append(...presets.map((p) => h("option", { value: p.id, title: p.example }, `${p.name} \u2013 ${p.configuration[0].toLowerCase() + p.configuration.slice(1)}`)));
    }

    function fromFile() {
      const chooser = h("input", { type: "file", accept: ".csv,.txt,.gz", hidden: true, "aria-label": file.label, onchange: async () => {
        const chosen = chooser.files[0];
        if (!chosen) return;
        // One that is too large is refused by its beginning; the rest of it is not sent.
        send(file.event, { name: chosen.name, base64: await base64(chosen.slice(0, file.most + 1)) });
        chooser.value = "";
      } });
      return h("div", { class: "gp-run" }, chooser,
        h("button", { type: "button", "data-at": file.event, title: file.hint, onclick: () => chooser.click() }, file.label));
    }
    function makeRow(row) {
      const cells = row.cells.map((field) => control(field, send, row.name));
      const named = (field) => field.problem ? { ...field, problem: `${field.label}: ${field.problem}` } : field;
      const mark = h("td", { class: "gp-mark" });
      const name = h("td", { class: "gp-row-name" });
      const gpus = h("button", { type: "button", class: "gp-number", title: "Why this number?", onclick: () => gpus.dataset.key && send("why", { key: gpus.dataset.key }) });
      const icon = (text, label, type, rest) => {
        const node = h("button", { type: "button", class: "gp-icon", title: label, onclick: () => send(type, { id: row.id, ...rest }) }, text);
        node.dataset.label = label;
        node.dataset.at = `${type}${rest?.by ?? ""}-${row.id}`;
        return node;
      };
      const icons = [icon("\u2191", "Move up", "move", { by: -1 }), icon("\u2193", "Move down", "move", { by: 1 }),
        icon("\u2750", "Duplicate", "duplicate"), icon("\u00d7", "Delete", "delete")];
      let panel;
      const shelf = h("tr", { hidden: true }, h("td"), h("td", { colspan: span + 2 }));
      const node = h("tbody", { "data-group": row.id },
        h("tr", {}, mark, plain ? name : null, cells.map((c) => h("td", {}, c.node)),
          plain ? null : [h("td", { class: "n" }, gpus), h("td", { class: "gp-icons" }, icons)]),
        h("tr", { class: "gp-problems" }, h("td"), h("td", { colspan: span + 2 }, cells.map((c) => c.problem))), plain ? null : shelf);
      return { node, update(next) {
        mark.replaceChildren(next.letter ? chip(next.letter, next.colour) : "");
        cells.forEach((cell, i) => {
          cell.update(named(next.cells[i]));
          cell.input.setAttribute("aria-label", `${next.cells[i].label}, ${next.name}`);
          cell.input.title = next.cells[i].question;
        });
        name.replaceChildren(...[breakable(next.name)].flat());
        if (plain) return;
        gpus.textContent = next.gpus;
        gpus.dataset.key = next.key;
        gpus.setAttribute("aria-label", `Why ${next.gpus} GPUs for ${next.name}?`);
        if (next.model && !panel) shelf.lastChild.append((panel = modelPanel(next.model, send)).node);
        else if (!next.model && panel) { panel.node.remove(); panel = undefined; }
        panel?.update(next.model);
        shelf.hidden = !panel;
        icons.forEach((i) => i.setAttribute("aria-label", `${i.dataset.label}: ${next.name}`));
      } };
    }
    function draw() {
      const data = model.get("data");
      if (!data.rows) return;
      const alive = new Set(data.rows.map((r) => r.id));
      for (const [id, row] of rows) if (!alive.has(id)) { row.node.remove(); rows.delete(id); }
      let before = head.parentNode;
      data.rows.forEach((row) => {
        if (!rows.has(row.id)) rows.set(row.id, makeRow(row));
        const { node, update } = rows.get(row.id);
        update(row);
        if (before.nextSibling !== node) {
          const active = node.contains(document.activeElement) ? document.activeElement : null;
          before.after(node);
          active?.focus();
        }
        before = node;
      });
      if (plain) {
        el.hidden = !data.rows.length;
        hint.textContent = data.hint;
        if (fold && data.rows.some((r) => r.cells.some((c) => c.problem))) details.open = true;
      }
      sum.textContent = data.sum;
      sumLabel.textContent = data.sum_label;
      redraw(stated, statedTotal(data.stated, send));
      table.hidden = !data.rows.length;
      empty.hidden = Boolean(data.rows.length);
      table.classList.toggle("gp-old", data.stale);
    }
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
