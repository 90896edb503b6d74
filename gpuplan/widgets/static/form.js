// A card of inputs, folded or not, with a sentence and tables below. Fields are kept, so that typing is never interrupted.
export default {
  render({ model, el }) {
    const send = sender(model);
    const put = keptFields(send);
    const fold = model.get("data").fold;
    const title = h("h2");
    const hint = h("small");
    const body = h("div", { class: "gp-fields" });
    const below = h("div");
    const details = fold ? h("details", { class: "gp-fold" }, h("summary", {}, title, hint), body, below) : null;
    el.append(h("div", { class: "gp-card" }, details ?? [title, body, below]));
    function draw() {
      const data = model.get("data");
      if (!data.fields) return;
      title.textContent = data.title;
      el.hidden = data.shown === false;
      below.classList.toggle("gp-stale", Boolean(data.stale));
      put([body, data.fields]);
      const focused = below.contains(document.activeElement);
      redraw(below, [data.text ? h("p", { class: "gp-said" }, data.text) : null, tables(data.tables ?? [], send, model),
        data.button ? h("button", { type: "button", "data-at": data.button.key, onclick: () => send("fold", { key: data.button.key, open: true }) }, data.button.text) : null]);
      if (focused && !below.contains(document.activeElement)) body.querySelector("[data-at]:is(input, select, textarea)")?.focus({ preventScroll: true });
      if (!details) return;
      hint.textContent = data.hint;
      if (data.fields.some((f) => f.problem)) details.open = true;
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
