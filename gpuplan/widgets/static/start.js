// Start: an example, a blank design, a file, or a recent design of this browser; and what the steps answer.
const MOST_SHOWN = 6;
export default drawn((data, send) => {
  if (!data.examples) return null;
  const recent = data.customer ? [] : recentDesigns();
  const open = ({ fragment, design }) => (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;  // a new tab opens it by its address
    event.preventDefault();
    send("recent", { fragment, design });
  };
  const about = (r) => [h("b", {}, r.name), h("span", {}, r.day), h("span", {}, [r.customer, r.figures].filter(Boolean).join(" \u00b7 "))];
  const listed = (designs) => h("ul", {}, designs.map((r) => h("li", {}, r.fragment
    ? h("a", { class: "gp-card", href: `#${r.fragment}`, onclick: open(r) }, about(r))
    : h("div", { class: "gp-card" }, about(r), h("span", {}, "No longer in this browser: only a saved file has it")))));
  const forget = ({ target }) => {
    forgetDesigns();
    target.closest(".gp-start").querySelector("[data-at=blank]").focus();
    target.closest("section").remove();
  };
  return h("div", { class: "gp-start" },
    h("h2", {}, "Or begin with an example", h("small", {}, "each opens as a complete design")),
    h("div", { class: "gp-cards" },
      data.examples.map((e) => h("button", { type: "button", class: "gp-card gp-pick", "data-at": e.id, onclick: () => send("example", { name: e.id }) },
        h("h2", {}, e.title), h("p", {}, e.text), h("p", { class: "gp-answer" }, e.answer), h("p", { class: "gp-small" }, e.hardware)))),
    h("div", { class: "gp-more" },
      h("button", { type: "button", class: "gp-big", "data-at": "blank", onclick: () => send("example", { name: "blank" }) }, "Start blank"),
      h("button", { type: "button", class: "gp-big", onclick: () => document.querySelector('input[type=file][aria-label="Open a scenario file"]')?.click() }, "Open a file"),
      data.started ? h("button", { type: "button", class: "gp-big", "data-at": "back", onclick: () => send("go", { step: "usecases" }) }, `Back to \u201c${data.name}\u201d`) : null),
    recent.length ? h("section", { class: "gp-recent", "aria-label": "Recent designs" },
      h("h2", {}, "Recent designs", h("small", {}, `kept only in this browser, the last ${MOST_RECENT} in their latest version; the server stores none`),
        h("button", { type: "button", class: "gp-link gp-head-act", onclick: forget }, "Clear list")),
      listed(recent.slice(0, MOST_SHOWN)),
      recent.length > MOST_SHOWN ? h("details", {}, h("summary", {}, `${recent.length - MOST_SHOWN} older`), listed(recent.slice(MOST_SHOWN))) : null) : null,
    h("section", { class: "gp-journey", "aria-label": "The steps" },
      h("h2", {}, "Eight steps", h("small", {}, "in about fifteen minutes, in any order")),
      h("ol", {}, data.journey.map((s, i) => h("li", {}, h("span", { class: "gp-num", "aria-hidden": "true" }, i + 1), h("div", {}, h("b", {}, s.title), h("span", {}, s.text)))))));
});
