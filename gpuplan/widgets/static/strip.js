// The answer so far; every figure can be asked why. What a change moved is marked for a moment.

const MARKED = 5_000;  // ms
const STALE = "Last valid plan";

const figures = drawn((data, send) => {
  if (!data.shown) return null;
  const moved = data.figures.filter((f) => f.was);
  return h("section", { class: "gp-figures", "aria-label": "The answer so far" },
    data.figures.map((f) => h("button", {
      type: "button", class: `gp-figure gp-${f.tone || "plain"}${data.stale ? " gp-stale" : ""}`, "data-at": f.key, "aria-expanded": String(data.open === f.key),
      title: f.key === "messages" ? "Show the points to confirm" : "Why this number?", onclick: () => send("why", { key: f.key }),
    }, h("small", {}, f.label), h("b", {}, f.value), h("span", {}, f.note), f.was ? h("em", { "aria-hidden": "true" }, f.was) : null)),
    h("p", { class: "gp-hidden", role: "status" }, moved.map((f) => `${f.label} ${f.value}, ${f.was}`).join("; ")),
    data.stale ? h("p", { class: "gp-stale-word", role: "status" }, data.wrong.path ? h("button", { type: "button", class: "gp-link", "data-at": "wrong", title: `Go to \u201c${data.wrong.name}\u201d`,
      onclick: () => send("visit", { path: data.wrong.path }) }, STALE) : STALE) : null);
}, (el, model) => {
  roving(el.querySelector(".gp-figures"));
  const { turn, figures: shown } = model.get("data");
  if (turn === undefined) return;
  if (model.turn !== undefined && model.turn !== turn && shown.some((f) => f.was)) {
    clearTimeout(model.marking);
    model.marked = true;
    model.marking = setTimeout(() => { model.marked = false; el.querySelector(".gp-figures")?.classList.remove("gp-moved"); }, MARKED);
  }
  model.turn = turn;
  el.querySelector(".gp-figures")?.classList.toggle("gp-moved", Boolean(model.marked));
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
  render({ model, el }) {
    const done = figures.render({ model, el });
    const themed = () => sender(model)("theme", { dark: document.body.dataset.jpThemeLight === "false" });
    const changed = new MutationObserver(themed);
    changed.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
    themed();
    // What stands below the strip, or beside what is scrolled below it, begins where it ends.
    const sized = new ResizeObserver(() => el.closest(".gp-app")?.style.setProperty("--top", `${(parseFloat(getComputedStyle(el).top) || 0) + el.offsetHeight}px`));
    sized.observe(el);
    return () => { sized.disconnect(); changed.disconnect(); done(); };
  },
};
