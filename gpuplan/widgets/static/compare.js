// Designs in columns: the figures of each as bars on a common axis, the best of each row marked, and what the difference means.
// Folded, since a customer may look on: it names others.
const others = (data, send) => data.others.length ? h("details", { "data-keep": "others" }, h("summary", { "data-at": "others" }, "Pinned beside other designs"),
  h("ul", { class: "gp-carried" }, data.others.map((o) => h("li", {}, h("p", {}, o.told),
    h("button", { type: "button", "data-at": `carry-${o.name}`, "aria-label": `Carry over ${o.name}`, onclick: () => send("carry", { name: o.name, design: o.design }) }, "Carry over"))))) : null;

function head(d, n, data, send) {
  const act = (event, text, off) => h("button", { type: "button", class: "gp-act", "data-at": `${event}-${d.name}`, "data-else": "keep", "aria-label": `${text}: ${d.name}`, disabled: off, onclick: () => send(event, { name: d.name }) }, text);
  return h("th", { scope: "col", class: `gp-side-${d.kind}` },
    d.kind === "kept" ? h("textarea", { class: "gp-kept-name", rows: 2, maxlength: 80, value: d.name, title: d.name, "aria-label": `Name of the pinned design ${n}`, "data-at": `kept-name-${n - 1}`, autocomplete: "off", spellcheck: "false",
      onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); event.target.blur(); } },
      onchange: ({ target }) => send("rename-kept", { name: d.name, to: target.value }) }) : h("b", {}, d.name),
    d.kind === "now" ? h("p", { class: "gp-small" }, data.about) : null,
    d.waiting ? h("p", { class: "gp-waiting" }, d.waiting) : null, d.standing ? h("p", {}, mark(d.standing)) : null,
    h("p", { class: "gp-side-acts" }, d.kind === "now" ? h("button", { type: "button", "data-at": "keep", "data-near": true, disabled: data.off, onclick: () => send("keep") }, "Pin")
      : d.kind === "kept" ? [act("open-kept", "Use"), act("forget-kept", "Remove")] : [act("try", "Use"), act("pin", "Pin", data.off)]));
}

// A bar from 0, with the range of its figure as a whisker.
const at = (share) => `${100 * share}%`;
const bar = (p, missed) => svg("svg", { class: "gp-side-bar", "aria-hidden": "true" }, svg("rect", { class: "gp-side-all", width: "100%", y: 3, height: 8, rx: 2 }),
  missed ? svg("line", { class: "gp-side-hatched", x1: 0, x2: at(p.share), y1: 7, y2: 7 }) : svg("rect", { class: "gp-side-part", width: at(p.share), y: 3, height: 8, rx: 2 }),
  p.low === null ? null : [svg("line", { x1: at(p.low), x2: at(p.high), y1: 7, y2: 7 }), [p.low, p.high].map((end) => svg("line", { x1: at(end), x2: at(end), y1: 3, y2: 11 }))]);

export default drawn((data, send) => {
  if (!data.designs) return null;
  if (!data.designs.length) return h("div", {}, h("h2", {}, data.title), others(data, send));
  const place = (p, d) => h("td", { class: `gp-side-${d.kind}${p?.best ? " gp-side-best" : ""}` }, p?.text ? [
    h("p", {}, h("b", {}, p.text), p.note ? h("span", {}, p.note) : null, p.best ? h("em", {}, p.best) : null), p.share === null ? null : bar(p, d.missed)] : null);
  const row = (r) => h("tr", {}, h("th", { scope: "row" }, r.label, h("small", {}, r.about)), data.designs.map((d, n) => place(r.places[n], d)), h("td", { class: "gp-small" }, h("p", {}, r.sentence)));
  return h("div", { class: data.stale ? "gp-stale" : "" },
    h("table", { class: "gp-designs", style: `--designs: ${data.designs.length}` },
      h("thead", {}, h("tr", {}, h("td"), data.designs.map((d, n) => head(d, n, data, send)), h("th", { scope: "col" }, "Difference"))), h("tbody", {}, data.rows.map(row))),
    data.title ? h("p", { class: "gp-said gp-small" }, data.title) : null,
    data.notes.length ? h("details", { class: "gp-small", "data-keep": "conditions" }, h("summary", { "data-at": "conditions" }, "Conditions"), data.notes.map((note) => h("p", { class: "gp-said" }, note))) : null, others(data, send));
}, keepOpen);
