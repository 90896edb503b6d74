// The answer so far; every figure can be asked why.
const figures = drawn((data, send) => {
  if (!data.shown) return null;
  return h("section", { class: `gp-figures${data.stale ? " gp-stale" : ""}`, "aria-label": "The answer so far" },
    data.figures.map((f) => h("button", {
      type: "button", class: `gp-figure gp-${f.tone || "plain"}`, "data-at": f.key, "aria-expanded": String(data.open === f.key),
      title: f.key === "messages" ? "Show the messages" : "Why this number?", onclick: () => send("why", { key: f.key }),
    }, h("small", {}, f.label), h("b", { class: f.value.length > (/^totals\.(hosts|gpus)$/.test(f.key) ? 6 : 9) ? "gp-long" : "" }, f.value), h("span", { title: f.note }, f.note))),
    data.stale ? h("p", { class: "gp-stale-word", role: "status" }, "An input is not allowed: these are the figures of the last good plan.") : null);
});

// What changes in the session comes here for all parts and charts of the screen, in one message; each is given its own.
export default {
  initialize({ model }) {
    model.on("msg:custom", ({ type, states }) => {
      if (type !== "states") return;
      // None waits for another one, so that each gets what concerns it in the order in which it came.
      for (const [id, state] of Object.entries(states)) model.widget_manager.get_model(id).then((each) => each.set_state(state));
    });
  },
  ...figures,
};
