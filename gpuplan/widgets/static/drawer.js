// Why this number: sentence, formula with the numbers in it, inputs, sources, how well known. Or the messages, or the terms of the glossary.
const BASIS = { measured: "measured", published: "published", quoted: "stated or quoted", derived: "derived", fitted: "fitted to measurements", assumed: "assumed" };

// How far the design is within its limits: a bar up to the limit, or past its line where it is exceeded; dashed where that is not known.
function limits(listed, send) {
  return listed?.length ? h("section", { class: "gp-limits", "aria-label": "Limits" }, listed.map((l) => h("div", { class: `gp-limit gp-${l.tone}`, "data-limit": l.path },
    h("p", {}, h("button", { type: "button", class: "gp-link", "data-at": `limit-${l.path}`, onclick: () => send("visit", { path: l.path }) }, l.name), h("span", {}, l.text)),
    limitBar(l), l.over || l.why ? h("small", {}, l.over ? h("b", {}, l.over) : null, l.over && l.why ? ": " : "", l.why) : null))) : null;
}

function limitBar({ share, tone, name, text, over }) {
  if (share === null && tone !== "warn") return null;
  const whole = Math.max(1, share ?? 1), at = (part) => `${100 * part / whole}%`;
  return svg("svg", { class: "gp-limit-bar", role: "img", "aria-label": [name, text, over].filter(Boolean).join(", ") },
    svg("rect", { class: "gp-limit-all", width: "100%", height: 8, rx: 3 }),
    tone === "warn" ? svg("line", { class: "gp-limit-open", x1: 0, x2: at(share ?? 1), y1: 4, y2: 4 })
      : svg("rect", { class: "gp-limit-part", width: at(Math.min(share, 1)), height: 8, rx: 3 }),
    whole > 1 ? [svg("rect", { class: "gp-limit-over", x: at(1), width: at(whole - 1), height: 8, rx: 3 }), svg("line", { class: "gp-limit-end", x1: at(1), x2: at(1), y1: -2, y2: 10 })] : null);
}

function why(data, send, model) {
  const many = long(model, `inputs-${data.key}`, "the inputs", data.inputs, (i) => `${i.label} ${i.value} ${i.known}`);
  return [
    h("p", { class: "gp-small" }, data.label),
    h("p", {}, data.sentence),
    h("p", { class: "gp-formula" }, data.formula),
    data.more.length ? h("p", {}, data.more.map((p) => p.key ? h("button", { type: "button", class: "gp-why", "data-at": p.key, onclick: () => send("why", { key: p.key }) }, p.text)
      : p.visit ? h("button", { type: "button", class: "gp-link", "data-at": `visit-${p.visit}`, onclick: () => send("visit", { path: p.visit }) }, p.text) : p.strong ? h("b", {}, p.text) : p.text)) : null,
    limits(data.limits, send),
    many.tools,
    data.inputs.length ? h("table", { class: "gp-table" },
      h("thead", {}, h("tr", {}, h("th", {}, "Input"), h("th", { class: "n" }, "Value"), h("th", {}, "Source"))),
      h("tbody", {}, many.rows.map(({ row: i, off }) => h("tr", { class: off || undefined },
        h("td", {}, i.key ? h("button", { type: "button", class: "gp-link", "data-at": i.key, onclick: () => send("why", { key: i.key }) }, i.label) : i.label),
        h("td", { class: "n" }, i.value), h("td", { class: "gp-known" }, i.known, i.basis === "assumed" && !i.key ? h("b", { class: "gp-tag gp-warn" }, "assumed") : null))))) : null,
    h("p", { class: "gp-basis" }, h("b", { class: `gp-tag gp-${data.basis}` }, BASIS[data.basis]), " ", data.basis_text),
    data.sources.length ? h("div", { class: "gp-small" }, h("b", {}, "Sources"),
      h("ul", {}, data.sources.map((s) => h("li", {}, s.title, s.where ? `, ${s.where}` : "", s.url ? h("span", { class: "gp-url" }, s.url) : null)))) : null,
    h("p", { class: "gp-small gp-function" }, data.function),
  ];
}

function messages(data, send, model) {
  return [limits(data.limits, send), data.messages.length ? messageList(data.messages, send, model) : h("p", {}, "No messages for this plan.")];
}

function terms(model) {
  const all = globalThis.gpuplanTerms ?? [], wanted = plain(model.wanted ?? "").trim();
  const names = (t) => plain(t.names.join(" ")), found = all.filter((t) => `${names(t)} ${plain(t.meaning)}`.includes(wanted));
  if (wanted) found.sort((one, other) => names(other).includes(wanted) - names(one).includes(wanted));
  return [
    h("input", { type: "search", class: "gp-search", "data-at": "glossary-search", placeholder: "Search", "aria-label": "Search the glossary", autocomplete: "off", spellcheck: "false", value: model.wanted ?? "",
      oninput: ({ target }) => { model.wanted = target.value; model.draw(); } }),
    h("p", { class: "gp-small", role: "status" }, wanted ? found.length ? `${found.length} of ${all.length} terms` : "No match" : `${all.length} terms`),
    h("ul", { class: "gp-terms" }, found.map((t) => h("li", { "data-at": `term-${t.names[0]}` }, h("b", {}, t.term), h("span", {}, t.meaning), t.sources ? h("cite", {}, t.sources) : null))),
  ];
}

let opener = null;
let visited = [];

export default drawn((data, send, model) => {
  if (!data.kind || data.kind === "closed") { visited = []; return null; }
  const close = () => {
    visited = [];
    send("close");
    const at = opener?.dataset?.at;  // it may have been drawn again since
    (opener?.isConnected || !at ? opener : document.querySelector(`.gp-app [data-at="${CSS.escape(at)}"]`))?.focus?.();
  };
  const here = data.kind === "why" ? data.key : data.kind;
  if (visited.at(-2) === here) visited.pop();
  else if (visited.at(-1) !== here) visited.push(here);
  const before = visited.at(-2);
  return h("aside", { class: "gp-drawer", role: "region", "aria-label": data.title, tabindex: -1, "data-at": "drawer",
    onclose: close },
    h("h2", {}, data.title, h("button", { type: "button", class: "gp-icon", "aria-label": "Close", "data-at": "close", onclick: close }, "\u00d7")),
    before ? h("p", {}, h("button", { type: "button", class: "gp-link", "data-at": "back", onclick: () => send("why", { key: before }) }, "\u2190 back")) : null,
    data.kind === "why" ? why(data, send, model) : data.kind === "glossary" ? terms(model) : messages(data, send, model));
}, (el, model) => {
  const open = Boolean(el.firstChild), listed = model.get("data").kind === "glossary";
  const drawer = el.querySelector(".gp-drawer");
  if (open && !model.wasOpen) {
    opener = document.activeElement;
    model.escape = (event) => { if (event.key === "Escape") el.querySelector(".gp-drawer")?.dispatchEvent(new Event("close")); };
    document.addEventListener("keydown", model.escape);
  }
  if (open && (!model.wasOpen || document.activeElement === document.body)) drawer.focus({ preventScroll: true });
  if (listed && !model.listed) el.querySelector("[data-at=glossary-search]").focus({ preventScroll: true });
  if (!listed) model.wanted = "";
  if (!open && model.wasOpen) document.removeEventListener("keydown", model.escape);
  [model.wasOpen, model.listed] = [open, listed];
});
