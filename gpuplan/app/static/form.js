// A card of inputs, folded or not, with tables below. Fields are kept, so that typing is never interrupted.
export default {
  render({ model, el }) {
    const send = (type, rest) => model.send({ type, ...rest });
    const fields = new Map();
    const fold = model.get("data").fold;
    const title = h(fold ? "b" : "h2");
    const hint = h("small");
    const body = h("div", { class: "gp-fields" });
    const below = h("div");
    const details = fold ? h("details", { class: "gp-fold" }, h("summary", {}, title, hint), body, below) : null;
    el.append(h("div", { class: "gp-card" }, details ?? [title, body]));
    function draw() {
      const data = model.get("data");
      if (!data.fields) return;
      title.textContent = data.title;
      const alive = new Set(data.fields.map((f) => f.path));
      for (const [path, field] of fields) if (!alive.has(path)) { field.node.remove(); fields.delete(path); }
      data.fields.forEach((field, at) => {
        if (!fields.has(field.path)) fields.set(field.path, control(field, send));
        const kept = fields.get(field.path);
        kept.update(field);
        if (body.children[at] !== kept.node) body.insertBefore(kept.node, body.children[at] ?? null);
      });
      if (!details) return;
      hint.textContent = data.hint;
      if (data.fields.some((f) => f.problem)) details.open = true;
      redraw(below, tables(data.tables ?? [], send));
    }
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
