// How each group reaches its GPU: why, what was ruled out and why, what the mode keeps and gives up.
const WORDS = { yes: "keeps", limited: "limited", no: "gives up", unknown: "not known" };

export default drawn((data, send) => {
  if (!data.groups) return null;
  if (!data.groups.length) return h("div", { class: "gp-card gp-empty" }, h("p", {}, "How each group reaches its GPU, and why, appears here."));
  return h("div", { class: `gp-access${data.stale ? " gp-stale" : ""}` }, data.groups.map((g) =>
    h("article", { class: "gp-card" },
      h("h2", {}, chip(g.letter, g.colour), g.name, h("b", { class: g.possible ? "gp-tag" : "gp-tag gp-bad" }, g.mode)),
      g.profile ? h("p", { class: "gp-small" }, h("button", { type: "button", class: "gp-link", "data-at": g.profile_key, onclick: () => send("why", { key: g.profile_key }) }, g.profile), `: ${g.profile_reason}.`) : null,
      h("ul", { class: "gp-reasons" }, g.reasons.map((r) => h("li", { title: r.source }, r.text)), g.against.map((r) => h("li", { title: r.source }, h("b", {}, "But: "), r.text))),
      h("details", { "data-keep": `${g.id}-out` }, h("summary", { "data-at": `${g.id}-out` }, "Not chosen, and why"),
        h("ul", { class: "gp-out" }, g.ruled_out.map((r) => h("li", {}, h("b", {}, r.mode), r.possible ? " " : " ruled out: ", r.text, h("cite", {}, r.source))))),
      h("details", { "data-keep": `${g.id}-traits` }, h("summary", { "data-at": `${g.id}-traits` }, "What it keeps and gives up"),
        h("ul", { class: "gp-out" }, g.traits.map((t) => h("li", {}, h("b", {}, `${t.feature}: ${WORDS[t.verdict]}. `), t.text, h("cite", {}, t.source))))),
      h("p", { class: "gp-cites" }, h("cite", {}, g.cites)))));
}, keepOpen);
