// Link speeds on a scale, and in a lane for each thing that crosses the network how it fares at them. Click a speed to choose it.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  if (!data.lanes.length) return data.text.map((parts) => h("p", { class: "gp-said" }, parts.map((p) => p.text)));
  const chosen = data.speeds.findIndex((s) => s.value === data.value);
  const choose = (s) => s.value !== data.value && send("set", { path: data.path, value: String(s.value), live: false });
  const speed = (s, at) => h("button", { type: "button", class: `gp-link-speed${s.main ? " gp-main-speed" : at === chosen ? "" : " gp-link-minor"}`, "data-at": `link-${s.value}`, "aria-pressed": String(at === chosen),
    "aria-label": `${s.value} Gbit/s`, onclick: () => choose(s) }, s.value);
  // What is as at the speed before stands there once, where there is room for all speeds.
  const again = (l, at) => l.cells[at - 1]?.mark.sign === l.cells[at].mark.sign;
  const cell = (l) => (c, at) => h("span", { class: `gp-link-cell gp-${c.mark.tone || "plain"}${at === chosen ? " gp-link-chosen" : data.speeds[at].main ? "" : " gp-link-minor"}`, title: c.title },
    h("span", { class: c.again && again(l, at) ? "gp-again" : "" }, h("b", { class: again(l, at) ? "gp-again" : "", "aria-hidden": "true" }, c.mark.sign), h("span", { class: c.again ? "gp-again" : "" }, c.text)));
  const lane = (l) => [
    h("div", { class: "gp-lane-name" }, h("b", {}, l.chips.map((c) => chip(...c)), l.name), h("small", {}, l.about)),
    h("div", { class: "gp-lane-scale" }, l.cells.length ? l.cells.map(cell(l)) : h("span", { class: "gp-link-cell gp-awaited" })),
    h("div", { class: "gp-lane-now" }, mark(l.mark),
      l.key ? h("button", { type: "button", class: "gp-why", "data-at": l.key, title: "Why this number?", "aria-label": `Why ${l.means}, ${l.name}?`, onclick: () => send("why", { key: l.key }) }, l.means)
        : h("small", {}, l.means))];
  const shown = long(model, "lanes", "what crosses the network", data.lanes, (l) => `${l.name} ${l.about}`);
  return [
    h("div", { class: `gp-lanes${data.stale ? " gp-stale" : ""}` },
      h("div", { class: "gp-lane gp-lane-head" }, h("h2", { class: "gp-lane-name" }, "What crosses the network"),
        h("div", { class: "gp-lane-scale", role: "group", "aria-label": "Link speed, Gbit/s" }, data.speeds.map(speed)), h("span", { class: "gp-lane-now" }, `At ${data.value} Gbit/s`)),
      shown.tools, h("ul", {}, shown.rows.map(({ row, off }) => h("li", { class: `gp-lane ${off}` }, lane(row))))),
    h("ul", { class: "gp-lane-legend" }, data.legend.map((m) => h("li", {}, h("i", { class: `gp-link-cell gp-${m.tone}`, "aria-hidden": "true" }), `${m.sign} ${m.text}`))),
  ];
});
