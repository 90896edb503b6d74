// GPUs by workload through the week as bars, with lines at the GPUs that there are, and what the design saves without each workload.
const share = (part) => `${100 * part}%`;
const bar = (b) => [
  h("div", { class: "gp-load-name" }, h("b", {}, b.name), b.note ? h("small", {}, b.note) : null),
  h("div", { class: "gp-load-bar" }, b.parts.map((p) => h("i", { class: `gp-c${p.colour}`, style: `width:${share(p.share)}`, title: p.title }, p.text.split(" ")[0], h("span", {}, p.text.slice(1)))), h("b", {}, b.gpus))];

export default drawn((data) => data.shown ? h("div", { class: `gp-loads${data.stale ? " gp-old" : ""}` },
  h("section", { class: "gp-card" }, h("h2", {}, "GPUs by workload", h("small", {}, data.about)),
    h("div", { class: "gp-load-chart", role: "img", "aria-label": [...data.bars.map((b) => `${b.name}: ${b.gpus} GPUs; ${b.parts.map((p) => p.title).join(", ")}`), ...data.lines.map((l) => l.text)].join(". ") },
      h("div", { class: "gp-load-lines" }, data.lines.map((l) => h("span", { class: l.after ? "after" : "", style: `left:${share(l.at)}` }, h("em", {}, l.text)))),
      data.bars.map(bar))),
  data.told ? h("section", { class: "gp-card" }, h("h2", {}, "What drives the host count"),
    data.drivers.length ? h("table", { class: "gp-drivers" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Without"), h("th", { scope: "col" }, "Hosts"), h("th", { scope: "col", colspan: 2 }, data.cost))),
      h("tbody", {}, data.drivers.map((d) => h("tr", {}, h("th", { scope: "row", title: d.name }, chip(d.letter, d.colour), d.name), h("td", {}, d.fewer ? h("b", {}, d.hosts) : d.hosts),
        h("td", { "aria-hidden": "true" }, h("i", { style: `width:${share(d.share)}` })), h("td", { class: "n" }, d.money))))) : null,
    h("p", { class: "gp-small", role: "status" }, data.told)) : null) : null);
