// What a card says: heading, what to look at, sentences with numbers that can be asked why, tables, notes.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  const piece = (p) => p.key
    ? h("button", { type: "button", class: "gp-why", "data-at": p.key, title: "Why this number?", "aria-label": `Why ${p.text}?`, onclick: () => send("why", { key: p.key }) }, p.text)
    : p.visit ? h("button", { type: "button", class: "gp-link", "data-at": `visit-${p.visit}`, onclick: () => send("visit", { path: p.visit }) }, p.text)
    : p.strong ? h("b", {}, p.text) : p.waiting ? h("span", { class: "gp-waiting" }, p.text) : p.text;
  const said = (paragraphs) => (paragraphs ?? []).map((parts) => h("p", { class: "gp-said" }, parts.map(piece)));
  const act = (a) => h("button", { type: "button", class: `gp-head-act${a.primary ? " gp-primary" : ""}`, "data-at": a.key, disabled: a.off, onclick: () => send(a.event, a.rest) }, a.text);
  const figure = (f) => h("div", { class: "gp-fact" }, h("small", {}, f.label), h("div", {},
    f.key ? h("button", { type: "button", class: "gp-why gp-why-big", "data-at": f.key, title: "Why this number?", "aria-label": `Why ${f.value}, ${f.label}?`, onclick: () => send("why", { key: f.key }) }, f.value)
      : h("b", { class: "gp-why-big" }, f.value),
    f.range ? [h("span", {}, f.range.text, " ", basisTag(f.basis)), rangeBar(f.range), h("span", {}, mark(f.mark))] : null,
    f.note ? h("span", {}, f.note) : null));
  const points = { circle: () => svg("circle", { cx: 14, cy: 6, r: 4 }), square: () => svg("rect", { x: 10.5, y: 2.5, width: 7, height: 7 }), diamond: () => svg("path", { d: "M14 1 L19 6 L14 11 L9 6 Z" }), "triangle-up": () => svg("path", { d: "M14 1 L18.5 10 H9.5 Z" }) };
  const curve = (c) => h("li", {}, svg("svg", { width: 28, height: 12, "aria-hidden": "true", fill: c.ink, stroke: c.ink, "stroke-width": 0 },
    svg("line", { x1: 0, x2: 28, y1: 6, y2: 6, "stroke-width": c.width, "stroke-dasharray": c.dash.join(" ") }), points[c.point]()), c.name);
  return h("div", { class: data.stale ? "gp-stale" : "" },
    data.title ? h("h2", { tabindex: -1, "data-near": true }, data.title, data.hint ? h("small", {}, data.hint) : null, (data.selects ?? []).map((s) => menu(s, send, model)), (data.acts ?? []).map(act)) : null,
    data.legend ? h("ul", { class: "gp-curves" }, data.legend.map(curve)) : null, said(data.text), data.figures ? h("div", { class: "gp-facts" }, data.figures.map(figure)) : null, tables(data.tables ?? [], send, model), data.parts ? h("ul", { class: "gp-legend" }, data.parts.map((p) => h("li", {}, chip(...p.chip), h("b", {}, p.name), h("em", {}, p.text)))) : null, data.list ? h("ul", { class: "gp-list" }, data.list.map((text) => h("li", {}, text))) : null, said(data.after),
    data.button ? h("button", { type: "button", "data-at": data.button.key, onclick: () => send("fold", { key: data.button.key, open: true }) }, data.button.text) : null,
    (data.notes ?? []).map((note) => h("p", { class: "gp-small gp-said" }, note.text, h("cite", {}, note.cite))));
});
