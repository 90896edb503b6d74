// Sliders over planned positions.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  const tick = (s) => (text, n) => h("span", { class: n === s.own ? "on" : "" }, h("i"), n === 0 || n === s.own || n === s.ticks.length - 1 ? h("small", {}, text) : null);
  const slider = (s) => h("div", { class: `gp-slider${s.at === s.own ? "" : " gp-moved-slider"}` }, h("span", {}, s.label), h("output", { title: s.moved }, s.value),
    s.input ? slot(model, s, { key: `slide-${s.what}`, name: s.label, words: `${s.value}, ${s.moved}` }, (at, held) => send("what-if", { path: s.what, at, ...held })) : null,
    h("div", { class: "gp-ticks", "aria-hidden": "true" }, s.ticks.map(tick(s))));
  return h("div", { class: data.stale ? "gp-stale" : "" }, h("h2", {}, h("span", {}, data.title), data.selects.map((s) => menu(s, send, model))), data.sliders.map(slider));
});
