// Sliders over planned positions. Each stays while its data changes, and its thumb where the hand has put it until the session has that.
export default {
  render({ model, el }) {
    const send = sender(model);
    const kept = new Map();
    const title = h("h2"), rows = h("div");
    const all = h("div", {}, title, rows);

    function slider(path) {
      const id = ownName(model, `slide-${path}`);
      const input = h("input", { type: "range", min: 0, step: 1, id, "data-at": `slide-${path}`, autocomplete: "off", oninput: () => {
        each.asked = Number(input.value);
        send("what-if", { path, at: each.asked });
      } });
      const name = h("label", { for: id }), value = h("output", { for: id }), ticks = h("div", { class: "gp-ticks", "aria-hidden": "true" });
      const each = { input, name, value, ticks, node: h("div", { class: "gp-slider" }, name, value, input, ticks) };
      return each;
    }
    function update(s) {
      const each = kept.get(s.path) ?? kept.set(s.path, slider(s.path)).get(s.path);
      if (each.asked === s.at) each.asked = undefined;
      each.input.max = s.ticks.length - 1;
      if (each.asked === undefined) each.input.value = s.at;
      each.input.setAttribute("aria-valuetext", `${s.value}, ${s.moved}`);
      each.name.textContent = s.label;
      each.value.textContent = s.value;
      each.value.title = s.moved;
      each.node.classList.toggle("gp-moved-slider", s.at !== s.own);
      redraw(each.ticks, s.ticks.map((text, n) => h("span", { class: n === s.own ? "on" : "" }, h("i"), n === 0 || n === s.own || n === s.ticks.length - 1 ? h("small", {}, text) : null)));
      return each.node;
    }
    function draw() {
      const data = model.get("data");
      if (!data.shown) return el.replaceChildren();
      if (all.parentNode !== el) el.replaceChildren(all);
      all.className = data.stale ? "gp-stale" : "";
      redraw(title, [h("span", {}, data.title), data.selects.map((s) => menu(s, send))]);
      const nodes = data.sliders.map(update);
      for (const [path, { node }] of kept) if (!nodes.includes(node)) { node.remove(); kept.delete(path); }
      nodes.forEach((node, at) => rows.children[at] !== node && rows.insertBefore(node, rows.children[at] ?? null));
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
