// Link speeds on a scale, and in a lane for each thing that crosses the network how it fares at them. Click a speed to choose it.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  if (!data.lanes.length) return data.text.map((parts) => h("p", { class: "gp-said" }, parts.map((p) => p.text)));
  const at = (share) => `${100 * share}%`;
  const chosen = data.speeds.find((s) => s.value === data.value);
  const choose = (s) => s.value !== data.value && send("set", { path: data.path, value: String(s.value), live: false });
  const speed = (s) => h("button", { type: "button", class: `gp-link-speed${s.main ? " gp-main-speed" : ""}`, style: `left: ${at(s.at)}`, "data-at": `link-${s.value}`, "aria-pressed": String(s === chosen),
    "aria-label": `${s.value} Gbit/s`, onclick: () => choose(s) }, s.value);
  const segment = (g) => h("span", { class: `gp-link-segment gp-${g.mark.tone || "plain"} gp-of-${g.verdict}`, style: `left: ${at(g.start)}; width: ${at(g.width)}`, title: g.title },
    h("span", {}, h("b", { "aria-hidden": "true" }, g.mark.sign), ` ${g.text}`));
  const line = () => h("i", { class: "gp-link-line", style: `left: ${at(chosen.at)}`, "aria-hidden": "true" });
  const lane = (l) => h("li", { class: "gp-lane" },
    h("div", { class: "gp-lane-name" }, h("b", {}, l.chips.map((c) => chip(...c)), l.name), h("small", {}, l.about)),
    h("div", { class: `gp-lane-scale${l.segments.length ? "" : " gp-awaited"}` }, l.segments.map(segment), line()),
    h("div", { class: "gp-lane-now" }, mark(l.mark),
      l.key ? h("button", { type: "button", class: "gp-why", "data-at": l.key, title: "Why this number?", "aria-label": `Why ${l.means}, ${l.name}?`, onclick: () => send("why", { key: l.key }) }, l.means)
        : h("small", {}, l.means)));
  const shown = long(model, "lanes", "what crosses the network", data.lanes, (l) => `${l.name} ${l.about}`);
  return [
    h("div", { class: `gp-lanes${data.stale ? " gp-stale" : ""}` },
      h("div", { class: "gp-lane gp-lane-head" }, h("h2", { class: "gp-lane-name" }, "What crosses the network"),
        h("div", { class: "gp-lane-scale", role: "group", "aria-label": "Link speed, Gbit/s" }, data.speeds.map(speed)), h("span", { class: "gp-lane-now" }, `At ${data.value} Gbit/s`)),
      shown.tools, h("ul", {}, shown.rows.map(({ row, off }) => { const node = lane(row); if (off) node.classList.add(off); return node; }))),
    h("ul", { class: "gp-lane-legend" }, data.legend.map((m) => h("li", {}, h("i", { class: `gp-link-segment gp-${m.tone}`, "aria-hidden": "true" }), `${m.sign} ${m.text}`))),
    data.after.map((parts) => h("p", { class: "gp-said" }, parts.map((p) => p.strong ? h("b", {}, p.text) : p.text))),
  ];
});
