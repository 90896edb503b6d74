// The answer so far; every figure can be asked why. What a change moved is marked for a moment.

const MARKED = 5_000;  // ms
const STALE = "Last valid plan";

const LARGE = ["totals.hosts", "cost.net_present"];

// The hosts that carry the load, and those for failures.
const boxes = (counts) => h("i", { class: "gp-boxes", "aria-hidden": "true" }, counts.map((count, n) => Array.from({ length: count }, () => h("i", { class: n ? "gp-spare" : "" }))));

const figure = (f, data, send) => h("button", {
  type: "button", class: `gp-figure gp-${f.tone || "plain"}${LARGE.includes(f.key) ? " gp-figure-large" : ""}${data.stale ? " gp-stale" : ""}`, "data-at": f.key, "aria-expanded": String(data.open === f.key),
  title: f.key === "messages" ? "Show the points to confirm" : "Why this number?", onclick: () => send("why", { key: f.key }),
}, h("small", {}, f.label),
  h("span", { class: "gp-figure-line" }, f.sign ? h("i", { "aria-hidden": "true" }, f.sign) : null, h("b", {}, f.value), f.beside ? h("span", {}, f.beside) : null),
  h("span", { class: "gp-figure-note" }, f.boxes.length ? boxes(f.boxes) : null, f.range ? h("i", { "aria-hidden": "true" }, rangeBar(f.range)) : null,
    f.assumed ? h("i", { class: "gp-dot", "aria-hidden": "true" }) : null, h("span", {}, f.note)),
  f.was ? h("em", { "aria-hidden": "true" }, f.was) : null);

const figures = drawn((data, send) => {
  if (!data.shown) return null;
  const moved = data.figures.filter((f) => f.was);
  return h("section", { class: "gp-figures", "aria-label": "The answer so far" },
    data.figures.map((f) => figure(f, data, send)),
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
    const stays = () => [...el.querySelectorAll(".gp-figure")].find((each) => getComputedStyle(each).animationName !== "none")?.offsetTop ?? el.offsetHeight;  // without what leaves with the page
    const sized = new ResizeObserver(() => el.closest(".gp-app")?.style.setProperty("--top", `${(parseFloat(getComputedStyle(el).top) || 0) + stays()}px`));
    sized.observe(el);
    return () => { sized.disconnect(); changed.disconnect(); done(); };
  },
};
