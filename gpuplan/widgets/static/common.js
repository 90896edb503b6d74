// Shared by every part: elements made from plain data, and drawing that keeps the keyboard focus.

// A long run without a space may break in its middle, so that no name is wider than what it stands in.
const LONG = /\S{20,}/, SIGNS_OF = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function breakable(text) {
  if (typeof text !== "string" || !LONG.test(text)) return text;
  return text.split(/(\S{20,})/).flatMap((part, at) => at % 2
    ? [...SIGNS_OF.segment(part)].flatMap(({ segment }, n) => n && n % 8 === 0 ? [document.createElement("wbr"), segment] : [segment])
    : [part]);
}

function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) listen(node, name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(...(tag === "option" ? [child] : [breakable(child)].flat()));
  }
  return node;
}

// What an element does may change while it stays on the page.
function listen(node, type, act) {
  (node.acts ??= {})[type] = act;
  node.addEventListener(type, (event) => node.acts[type](event));
}

// The same for drawings.
function svg(tag, props, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props ?? {})) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

// Whether an element can become another one: what can be pressed or opened stays what it was.
const alike = (old, node) => old.nodeName === node.nodeName && old.type === node.type && old.dataset?.at === node.dataset?.at
  && old.dataset?.keep === node.dataset?.keep && Object.keys(old.acts ?? {}).join() === Object.keys(node.acts ?? {}).join();

function become(old, node) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== node.data) old.data = node.data;
    return;
  }
  for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!node.hasAttribute(name) && !(name === "open" && old.dataset.keep)) old.removeAttribute(name);
  old.acts = node.acts;
  fill(old, [...node.childNodes]);
  if (["radio", "checkbox"].includes(old.type)) old.checked = node.checked;
  else if (old.matches("input, select, textarea") && old.value !== node.value) old.value = node.value;
}

// Gives an element new content. What is there is changed where it differs, and stays where it is: the browser has less to lay
// out and to paint, and does not look through all inputs for what it could fill in.
function fill(el, nodes) {
  const there = [...el.childNodes];
  nodes.forEach((node, at) => {
    if (!there[at]) el.append(node);
    else if (alike(there[at], node)) become(there[at], node);
    else there[at].replaceWith(node);
  });
  for (const old of there.slice(nodes.length)) old.remove();
}

// Puts new content into an element; what had the focus gets it back by its data-at, or else what its data-else names, or
// else what is marked data-near.
function redraw(el, content) {
  const active = el.contains(document.activeElement) ? document.activeElement : null;
  const find = (at) => (at ? el.querySelector(`[data-at="${CSS.escape(at)}"]`) : null);
  const fresh = document.createDocumentFragment();
  fresh.append(...[content].flat(Infinity).filter(Boolean));
  fill(el, [...fresh.childNodes]);
  if (!active || document.activeElement === active) return;
  const { at, else: other } = active.dataset;
  (find(at) ?? find(other) ?? el.querySelector("[data-near]"))?.focus({ preventScroll: true });
}

// Sends events to the session; the page around the workbook keeps each until the session has said that it has it.
const sender = (model) => (type, rest) => {
  const event = { type, ...rest };
  if (window.gpuplan?.post) window.gpuplan.post(event, (numbered) => model.send(numbered));
  else model.send(event);
};

// The page remembers what is being typed until it is entered; without arguments, that it is.
const typed = (path, value) => window.gpuplan?.typed?.(path, value);

// The last designs of this browser, newest first; a browser may have no storage, and what is there may be anything.
const RECENT = "gpuplan-recent", MOST_RECENT = 6;
function recentDesigns() {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT));
    return kept.filter((each) => ["name", "day", "fragment"].every((key) => typeof each?.[key] === "string") && each.fragment.startsWith("s=")).slice(0, MOST_RECENT);
  } catch {
    return [];
  }
}
function keepDesign(name, fragment) {
  const day = new Date().toLocaleDateString("sv");  // 2026-11-21, of this place
  const kept = [{ name, day, fragment }, ...recentDesigns().filter((each) => each.name !== name)].slice(0, MOST_RECENT);
  try {
    localStorage.setItem(RECENT, JSON.stringify(kept));
  } catch { /* no storage, or it is full: the address bar has the design all the same */ }
}
function forgetDesigns() {
  try {
    localStorage.removeItem(RECENT);
  } catch { /* as above */ }
}

// A name for the radio buttons of this view alone: those with one name are one choice on the whole page.
function ownName(model, name) {
  return (model.names ??= {})[name] ??= `${name}-${Math.random().toString(36).slice(2)}`;
}

// Draws again on every change of the data.
function drawn(view, after) {
  return {
    render({ model, el }) {
      const send = sender(model);
      const draw = () => {
        redraw(el, view(model.get("data"), send, model));
        after?.(el, model, send);
      };
      model.on("change:data", draw);
      draw();
      return () => model.off("change:data", draw);
    },
  };
}

// For drawn(): what was opened stays open when it is drawn again.
function keepOpen(el, model) {
  model.opened ??= new Set();
  for (const node of el.querySelectorAll("details")) {
    node.open = model.opened.has(node.dataset.keep);
    node.ontoggle = () => model.opened[node.open ? "add" : "delete"](node.dataset.keep);
  }
}

// One input with its label, unit, question and problem. update() leaves what is being typed alone.
function control(field, send, compact) {
  const id = `gp-${field.path.replaceAll(".", "-")}-${Math.random().toString(36).slice(2, 7)}`;
  const change = (value, live) => send("set", { path: field.path, value, live });
  let timer;
  let given = -Infinity;
  let input;
  const wait = () => { clearTimeout(timer); timer = undefined; };
  const give = () => { wait(); given = performance.now(); change(input.value, true); };
  if (field.kind === "checkbox") {
    input = h("input", { type: "checkbox", id, onchange: () => change(input.checked, false) });
  } else if (field.kind === "select") {
    input = h("select", { id, onchange: () => change(input.value, false) });
  } else {
    const area = field.kind === "area";
    input = h(area ? "textarea" : "input", {
      type: area ? undefined : field.kind === "number" ? "number" : "text", rows: area ? 4 : undefined, id, autocomplete: "off", spellcheck: "false",
      min: field.kind === "number" ? field.low : undefined, max: field.kind === "number" ? field.high : undefined,
      oninput: () => {
        typed(field.path, input.value);
        wait();
        if (!input.value.trim()) return;
        // The first of a run goes at once; those that follow quickly wait for the last of them.
        if (performance.now() - given > 150) give();
        else timer = setTimeout(give, 15);
      },
      onchange: () => { wait(); change(input.value, false); typed(); },
    });
  }
  input.dataset.at = field.path;
  const problem = h("p", { class: "gp-problem", id: `${id}-problem`, role: "alert" });
  const known = h("span", { class: "gp-assumed" });
  const label = h("label", { for: id }, field.label);
  const ask = field.question && !compact
    ? h("button", { class: "gp-ask", type: "button", "aria-label": `Why ask: ${field.label}`, "aria-expanded": "false",
        onclick: () => { question.hidden = !question.hidden; ask.setAttribute("aria-expanded", String(!question.hidden)); } }, "?")
    : null;
  const question = h("p", { class: "gp-question", hidden: true }, field.question);
  let shown;
  const update = (next) => {
    if (shown === undefined || JSON.stringify(shown) !== JSON.stringify(next)) {
      if (next.kind === "select" && JSON.stringify(shown?.options) !== JSON.stringify(next.options)) {
        input.replaceChildren(...next.options.map((o) => h("option", { value: o.value }, o.text)));
      }
      if (next.kind === "checkbox") input.checked = next.value;
      else if (document.activeElement !== input || next.kind === "select" || !input.dataset.typing) {
        if (input.value !== next.value) input.value = next.value;
      }
      if (compact) input.setAttribute("aria-label", `${next.label}${compact ? ", " + compact : ""}`);
      input.setAttribute("aria-invalid", String(Boolean(next.problem)));
      input.placeholder = next.empty ?? "";
      if (next.problem) input.setAttribute("aria-describedby", `${id}-problem`);
      else input.removeAttribute("aria-describedby");
      input.readOnly = Boolean(next.locked);
      input.title = next.locked;
      problem.textContent = next.problem ? `${next.problem}.` : "";
      problem.hidden = !next.problem;
      known.textContent = next.assumed ? "assumed" : "";
      known.title = next.known;
      shown = next;
    }
  };
  if (["text", "number", "textarea"].includes(input.type)) {
    // What cannot be changed says why when somebody tries.
    input.addEventListener("keydown", (event) => {
      if (input.readOnly && (event.key.length === 1 || event.key === "Backspace") && !event.ctrlKey && !event.metaKey) {
        problem.textContent = shown.locked;
        problem.hidden = false;
      }
    });
    input.addEventListener("input", () => { input.dataset.typing = "1"; });
    input.addEventListener("blur", () => {
      delete input.dataset.typing;
      if (timer) give();
      else if (shown && !shown.problem && input.value !== shown.value) input.value = shown.value;
      typed();
    });
    input.addEventListener("change", () => { delete input.dataset.typing; });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && shown) { wait(); input.value = shown.value; delete input.dataset.typing; typed(); }
    });
  }
  const unit = field.unit ? h("span", { class: "gp-unit" }, field.unit) : null;
  // A form of its own: browsers look through all inputs of a form for what they could fill in, at every key.
  const onsubmit = (event) => event.preventDefault();
  const node = compact
    ? h("form", { class: "gp-cell", onsubmit }, input)
    : field.kind === "checkbox"
      ? h("form", { class: "gp-field gp-check", onsubmit }, h("div", { class: "gp-line" }, input, label, known, ask), question, problem)
      : h("form", { class: "gp-field", onsubmit }, h("div", { class: "gp-line" }, label, known, ask),
          h("div", { class: "gp-line" }, input, unit), question, problem);
  update(field);
  return { node, update, input, problem };
}

// The stated total beside what the groups need, with a way to take either.
const statedTotal = (stated, send) => stated && h("p", { class: `gp-total${stated.tone ? " gp-stated" : ""}` }, stated.text, stated.ways.map((way) => [" ",
  h("button", { type: "button", class: "gp-link", "data-at": way.at, onclick: () => send("set", { path: way.path, value: way.value, live: false }) }, way.text)]));

const chip = (letter, colour) => h("span", { class: `gp-chip gp-c${colour}`, "aria-hidden": "true" }, letter);

// A sign and a word, whatever the colour.
const mark = (m) => h("span", { class: `gp-mark-word gp-${m.tone}` }, h("b", { "aria-hidden": "true" }, m.sign), ` ${m.text}`);

// How well a number is known.
const basisTag = (basis) => h("b", { class: `gp-tag gp-${basis}` }, basis);

// A share from 0 to 1 as a bar from its low to its high end with a line at the typical value.
function rangeBar(range) {
  const at = (share) => `${100 * share}%`;
  return svg("svg", { class: "gp-range", role: "img", "aria-label": range.words },
    svg("rect", { class: "gp-range-all", x: 0, y: 4, width: "100%", height: 6, rx: 3 }),
    svg("rect", { class: "gp-range-part", x: at(range.low), y: 4, width: at(range.high - range.low), height: 6, rx: 3 }),
    range.marks.map((share) => svg("line", { class: "gp-range-mark", x1: at(share), x2: at(share), y1: 1, y2: 13 })),
    svg("line", { class: "gp-range-line", x1: at(range.typical), x2: at(range.typical), y1: 0, y2: 14 }));
}

// A choice in a cell of a table.
const cellSelect = (field, send) => h("span", { class: "gp-cell" }, h("select", { "aria-label": field.label, title: field.question, "data-at": field.path,
  "aria-invalid": field.problem ? "true" : undefined, onchange: (event) => send("set", { path: field.path, value: event.target.value, live: false }) },
  field.options.map((o) => h("option", { value: o.value, selected: o.value === field.value }, o.text))));

// What a cell of a table holds; a number with a key opens its trail.
const cellContent = (c, row, send) => [
  c.chip ? chip(...c.chip) : null,
  c.key ? h("button", { type: "button", class: "gp-why", "data-at": c.key, "aria-label": `Why ${c.text}, ${row[0].text}?`, onclick: () => send("why", { key: c.key }) }, c.text) : c.text,
  c.range ? [" ", h("small", { class: "gp-range-text" }, c.range.text), rangeBar(c.range)] : null,
  c.mark ? mark(c.mark) : null, c.basis ? basisTag(c.basis) : null, c.field ? cellSelect(c.field, send) : null,
  c.visit ? h("button", { type: "button", class: "gp-link", "data-at": `visit-${c.visit}-${row[1].text}`, onclick: () => send("visit", { path: c.visit }) }, c.visit_text) : null,
  c.tag ? [" ", h("b", { class: `gp-tag gp-${c.tag_tone ?? "derived"}` }, c.tag)] : null,
  c.note ? h("small", { class: c.note_tone ? `gp-note-${c.note_tone}` : "" }, c.note) : null,
  (c.acts ?? []).map((a) => [" ", h("button", { type: "button", class: "gp-link gp-act", "data-at": `${a.event}-${Object.values(a.rest)}`, "aria-label": `${a.text}: ${a.name}`,
    onclick: () => send(a.event, a.rest) }, a.text)])];
const cellStyle = (c) => [c.numeric ? "n" : "", c.range ? "gp-ranged" : "", c.tone ? `gp-${c.tone}` : ""].filter(Boolean).join(" ");
const headCells = (heads) => heads.map((c) => c.text ? h("th", { scope: "col", class: c.numeric ? "n" : "" }, c.text) : h("td"));

// Tables made from plain data.
function tables(all, send) {
  return all.map((t) => h("section", { class: "gp-tables" }, t.title ? h("h3", {}, t.title) : null,
    t.rows.length ? h("table", { class: "gp-table" },
      t.heads.length ? h("thead", {}, h("tr", {}, headCells(t.heads))) : null,
      h("tbody", {}, t.rows.map((row) => h("tr", { class: row[0].row }, row.map((c) => h("td", { class: cellStyle(c), title: c.title }, cellContent(c, row, send))))))) : null,
    t.more ? h("p", { class: "gp-small" }, t.more) : null));
}

const LEVELS = { stop: "Fix", warn: "Settle", note: "Note" };

const messageList = (messages, send) => h("ul", { class: "gp-messages" }, messages.map((m) => h("li", { class: `gp-${m.level}`, "data-code": m.code },
  h("b", { class: "gp-tag" }, LEVELS[m.level]), h("div", {}, m.text, " ", h("em", {}, m.change), " ",
    m.where ? h("button", { type: "button", class: "gp-link", "data-at": m.code, onclick: () => send("visit", { path: m.path }) }, `Go to \u201c${m.where}\u201d`) : null,
    m.sources.length ? h("cite", {}, m.sources.join("; "), m.locator ? `, ${m.locator}` : "") : null))));

// The content of a file as text, as an event carries it.
const base64 = (file) => new Promise((done) => {
  const reader = new FileReader();
  reader.onloadend = () => done(reader.result?.split(",")[1] ?? "");
  reader.readAsDataURL(file);
});
