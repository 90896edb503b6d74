// How each group reaches its GPU; why, what was ruled out and what that keeps and gives up, each said once with the groups for which it holds.
const WORDS = { yes: "supported", limited: "limited", no: "not supported", unknown: "not known" };

export default drawn((data, send) => {
  if (!data.groups) return null;
  if (!data.groups.length) return h("div", { class: "gp-card gp-empty" }, h("p", {}, "Access modes appear here once there are workloads."));
  const known = new Map(data.groups.map((g) => [g.id, g]));
  const badge = (g) => h("b", { class: g.possible ? "gp-tag" : "gp-tag gp-bad" }, g.mode);
  const held = (ids) => h("span", { class: "gp-held" }, ids.length === known.size && ids.length > 1 ? "all workloads"
    : ids.map((id) => known.get(id)).map((g) => h("span", {}, chip(g.letter, g.colour), " ", g.name)));
  const modes = (ids) => [...new Map(ids.map((id) => [known.get(id).mode, known.get(id)])).values()].map(badge);
  const list = (key, title, rows) => h("details", { "data-keep": key }, h("summary", { "data-at": key }, title), h("ul", { class: "gp-out" }, rows));
  return h("div", { class: `gp-access${data.stale ? " gp-stale" : ""}` },
    h("section", { class: "gp-card" }, h("h2", {}, "Access modes"), h("ul", { class: "gp-modes" }, data.groups.map((g) => h("li", {}, chip(g.letter, g.colour), h("b", {}, g.name), badge(g),
      h("span", { class: "gp-small" }, g.profile ? [h("button", { type: "button", class: "gp-link", "data-at": g.profile_key, onclick: () => send("why", { key: g.profile_key }) }, g.profile), `: ${g.profile_reason}.`] : null))))),
    h("section", { class: "gp-card" }, h("h2", {}, "Reasons"), data.why.map((w) => h("article", {}, h("h3", {}, modes(w.held), " for ", held(w.held)),
      h("ul", { class: "gp-reasons" }, w.reasons.map((r) => h("li", { title: r.source }, r.text)), w.against.map((r) => h("li", { title: r.source }, h("b", {}, "But: "), r.text))),
      h("cite", {}, w.cites)))),
    h("section", { class: "gp-card" },
      list("access-out", "Not chosen, and why", data.ruled_out.map((r) => h("li", {}, h("b", {}, r.mode), r.possible ? " not chosen for " : " ruled out for ", held(r.held), h("p", {}, r.text), h("cite", {}, r.source)))),
      list("access-traits", "What each mode supports", data.traits.map((t) => h("li", {}, h("b", {}, `${t.feature}: ${WORDS[t.verdict]}`), " for ", held(t.held), h("p", {}, t.text), h("cite", {}, t.source))))));
}, keepOpen);
