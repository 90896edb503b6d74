// The numbered design decisions, each in a line that opens; the map of the design beside them; or the messages about the plan.
const folded = () => [...document.querySelectorAll(".gp-decisions details")];
addEventListener("beforeprint", () => folded().forEach((each) => { each.open = true; }));  // paper has no lines to click

function decisions(data, send) {
  const cites = (numbers) => numbers ? h("span", { class: "gp-refs" }, `[${numbers}]`) : null;
  const all = () => {
    const open = folded().some((each) => !each.open);
    folded().forEach((each) => { each.open = open; });
  };
  return [
    h("div", { class: "gp-tools gp-decision-tools" }, h("button", { type: "button", class: "gp-link", "data-at": "decisions-all", onclick: all }, "All reasons"),
      h("button", { type: "button", class: "gp-print", onclick: () => print() }, "Print")),
    h("ol", { class: "gp-decisions" }, data.decisions.map((d) => h("li", {}, h("details", { "data-keep": d.number, "data-at": `decision-${d.number}` },
      h("summary", {}, h("span", { class: "gp-decision-number" }, d.number), h("p", {}, h("b", {}, d.title), h("span", { class: "gp-decision" }, d.decision))),
      h("dl", {}, h("dt", {}, "Justification"), h("dd", {}, d.justification, " ", cites(d.cites), " ",
        d.key ? h("button", { type: "button", class: "gp-link", "data-at": `d${d.number}`, onclick: () => send("why", { key: d.key }) }, "Why this number?") : null),
        h("dt", {}, "Implication"), h("dd", {}, d.implication)))))),
  ];
}

export default drawn((data, send, model) => {
  if (data.messages) return h("div", { class: data.stale ? "gp-stale" : "" }, data.messages.length ? messageList(data.messages, send, model) : h("p", {}, "Nothing to fix or confirm."));
  if (data.picture) return [h("h2", {}, data.title), h("img", { class: "gp-map", alt: data.title, src: `data:image/svg+xml,${encodeURIComponent(data.picture)}` })];
  if (!data.decisions) return null;
  if (data.decisions.length) return h("div", { class: data.stale ? "gp-stale" : "" }, decisions(data, send));
  return h("div", { class: "gp-empty" }, h("p", {}, "No decisions yet: there are no workloads."),
    h("p", {}, h("button", { type: "button", class: "gp-primary", onclick: () => send("go", { step: "usecases" }) }, "Add a workload")));
}, keepOpen);
