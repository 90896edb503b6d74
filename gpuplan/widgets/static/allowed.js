// What this GPU on this version allows: a sign and a word for each way to share, the rule on demand.
const SIGNS = { yes: "\u2713", no: "\u2715", unknown: "?" };

export default drawn((data) => {
  if (!data.modes) return null;
  return h("div", { class: "gp-card gp-allowed" }, h("h2", {}, data.title),
    h("ul", {}, data.modes.map((m) => h("li", {}, h("details", { "data-keep": m.id },
      h("summary", { "data-at": `allowed-${m.id}` }, h("i", { class: `gp-sign gp-${m.verdict}`, "aria-hidden": "true" }, SIGNS[m.verdict]), h("span", {}, m.name), h("b", { class: `gp-${m.verdict}` }, m.word)),
      h("p", { class: "gp-small" }, m.text), h("cite", {}, m.source))))));
}, keepOpen);
