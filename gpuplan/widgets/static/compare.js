// Designs beside each other: what each is called, a row with a sentence for each result that differs, and what to try while nothing does.
function tries(data, send) {
  return h("ul", { class: "gp-tries" }, data.tries.map((t) => h("li", {}, h("b", {}, t.name), h("p", {}, t.told),
    h("button", { type: "button", "data-at": `try-${t.name}`, "aria-label": `Try ${t.name}`, onclick: () => send("try", { name: t.name }) }, "Try it"))));
}

// Folded, since a customer may look on: it names others.
const others = (data, send) => data.others.length ? h("details", { "data-keep": "others" }, h("summary", { "data-at": "others" }, "Kept beside other designs"),
  h("ul", { class: "gp-tries" }, data.others.map((o) => h("li", {}, h("p", {}, o.told),
    h("button", { type: "button", "data-at": `carry-${o.name}`, "aria-label": `Carry over ${o.name}`, onclick: () => send("carry", { name: o.name, design: o.design }) }, "Carry over"))))) : null;

const keep = (data, send, text) => h("button", { type: "button", class: "gp-primary", "data-at": "keep", "data-near": true, disabled: data.off, onclick: () => send("keep") }, text);

function heads(data, send) {
  const act = (event, text, name) => h("button", { type: "button", class: "gp-link gp-act", "data-at": `${event}-${name}`, "data-else": "keep", "aria-label": `${text}: ${name}`, onclick: () => send(event, { name }) }, text);
  return h("tr", {}, h("td"), data.designs.map((d, n) => h("th", { scope: "col" }, d.kept
    ? [h("textarea", { class: "gp-kept-name", rows: 3, maxlength: 80, value: d.name, title: d.name, "aria-label": `Name of the kept design ${n + 1}`, "data-at": `kept-name-${n}`, autocomplete: "off", spellcheck: "false",
        onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); event.target.blur(); } },
        onchange: ({ target }) => send("rename-kept", { name: d.name, to: target.value }) }),
      h("p", {}, act("open-kept", "Open", d.name), act("forget-kept", "Forget", d.name))]
    : [h("b", {}, "This design"), h("p", { class: "gp-small" }, d.name, " ", data.off ? null : h("button", { type: "button", class: "gp-link gp-act", "data-at": "keep", "data-near": true, onclick: () => send("keep") }, "Keep this one too"))])), h("th", { scope: "col" }, "What it means"));
}

export default drawn((data, send) => {
  if (!data.designs) return null;
  if (data.designs.length < 2) {
    return h("div", {}, h("h2", {}, data.title), h("p", { class: "gp-said" }, data.text, " ", data.empty ? null : keep(data, send, "Keep this design")), data.tries.length ? [h("h3", {}, "Or try one of these"), tries(data, send)] : null, others(data, send));
  }
  const row = (r) => h("tr", {}, h("th", { scope: "row" }, r.label), r.values.map((value) => h("td", { class: value === r.values[0] ? "" : "gp-differs" }, value)), h("td", {}, r.sentence));
  return h("div", { class: data.stale ? "gp-stale" : "" },
    data.notes.map((note) => h("p", { class: "gp-said gp-count" }, note)),
    h("div", { class: "gp-tables" }, h("table", { class: `gp-table gp-beside gp-beside-${data.designs.length}` }, h("thead", {}, heads(data, send)), h("tbody", {}, data.rows.map(row)))),
    data.same ? h("p", { class: "gp-said gp-small" }, data.same) : null,
    data.tries.length ? [h("h2", {}, "Change an input, or try one of these"), tries(data, send)] : null, others(data, send));
}, keepOpen);
