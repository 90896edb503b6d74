// The steps; each can be entered at any time. Below them, the glossary.
export default drawn((data, send) => {
  if (!data.steps) return null;
  return h("nav", { "aria-label": "Steps" },
    h("ol", {}, data.steps.map((s, i) => h("li", {}, h("button", {
      type: "button", class: s.id === data.current ? "on" : "", "aria-current": s.id === data.current ? "step" : undefined,
      "data-at": s.id, onclick: () => send("go", { step: s.id }),
    }, h("span", { class: "gp-num", "aria-hidden": "true" }, i || "\u2302"), h("span", {}, s.title), wrongMark(s.error))))),
    h("button", { type: "button", class: "gp-ask-terms", "data-at": "glossary", "aria-expanded": String(data.glossary), onclick: () => send("why", { key: "glossary" }) },
      h("span", { class: "gp-num", "aria-hidden": "true" }, "?"), "Glossary"));
}, (el, model) => {
  roving(el.querySelector("ol"));
  const { current } = model.get("data"), list = el.querySelector("nav"), chosen = el.querySelector("[aria-current]");
  if (chosen) list.scrollLeft = chosen.offsetLeft + chosen.offsetWidth / 2 - list.clientWidth / 2;  // where they stand beside each other
  if (model.step && model.step !== current) {
    el.closest(".gp-app")?.scrollIntoView();
    // What was pressed goes with its page, and on the start page with this list. What was reached in the list meanwhile keeps the focus.
    const start = current === "start";
    if (document.activeElement?.closest(start ? ".gp-page, nav" : ".gp-page")) (start ? document.querySelector(".gp-brand") : chosen)?.focus({ preventScroll: true });
  }
  model.step = current;
});
