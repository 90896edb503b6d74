// The numbered design decisions, the messages, and the sources.
export default drawn((data, send) => {
  if (!data.decisions) return null;
  const cites = (numbers) => numbers.length ? h("span", { class: "gp-refs" }, `[${numbers.join(", ")}]`) : null;
  return [
    h("div", { class: "gp-head" }, h("div", {}, h("h1", {}, "Design"), h("p", {}, `${data.title}${data.customer ? ` for ${data.customer}` : ""}: the decisions, why each was taken, and what it implies.`)),
      h("button", { type: "button", class: "gp-print", onclick: () => print() }, "Print")),
    data.decisions.length
      ? h("ol", { class: `gp-decisions${data.stale ? " gp-stale" : ""}` }, data.decisions.map((d) => h("li", { class: "gp-card" },
          h("span", { class: "gp-decision-number" }, d.number),
          h("div", {}, h("h2", {}, d.title, d.key ? h("button", { type: "button", class: "gp-link", "data-at": `d${d.number}`, onclick: () => send("why", { key: d.key }) }, "why?") : null),
            h("p", { class: "gp-decision" }, d.decision, " ", cites(d.cites)),
            h("dl", {}, h("dt", {}, "Justification"), h("dd", {}, d.justification), h("dt", {}, "Implication"), h("dd", {}, d.implication))))))
      : h("div", { class: "gp-card gp-empty" }, h("p", {}, "No decisions yet: there are no workloads."),
          h("p", {}, h("button", { type: "button", class: "gp-primary", onclick: () => send("go", { step: "usecases" }) }, "Add a group"))),
    data.messages.length ? h("section", { class: "gp-card" }, h("h2", {}, "Messages"),
      messageList(data.messages, send)) : null,
    data.sources.length ? h("section", { class: "gp-card" }, h("h2", {}, "Sources"),
      h("ol", { class: "gp-sources" }, data.sources.map((s) => h("li", { value: s.number }, h("b", {}, s.title), `, ${s.producer}`, s.published ? `, ${s.published}` : "",
        s.url ? h("span", { class: "gp-url" }, s.url) : null)))) : null,
  ];
});
