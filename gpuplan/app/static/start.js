// Start: an example, a blank design, or a file.
export default drawn((data, send) => {
  if (!data.examples) return null;
  return h("div", { class: "gp-start" },
    h("h1", {}, "From who needs GPUs to which servers, how many, and why"),
    h("p", { class: "gp-lead" }, "Describe the groups, and see the hosts, what a failure does, and the source behind every number. Nothing leaves this machine."),
    h("div", { class: "gp-cards" },
      data.examples.map((e) => h("button", { type: "button", class: "gp-card gp-pick", "data-at": e.id, onclick: () => send("example", { name: e.id }) },
        h("h2", {}, e.title), h("p", {}, e.text), h("p", { class: "gp-answer" }, e.answer), h("p", { class: "gp-small" }, e.hardware)))),
    h("div", { class: "gp-more" },
      h("button", { type: "button", class: "gp-big", "data-at": "blank", onclick: () => send("example", { name: "blank" }) }, "Start blank"),
      h("button", { type: "button", class: "gp-big", onclick: () => document.querySelector('input[type=file][aria-label="Open a scenario file"]')?.click() }, "Open a file"),
      data.started ? h("button", { type: "button", class: "gp-big", "data-at": "back", onclick: () => send("go", { step: "usecases" }) }, `Back to \u201c${data.name}\u201d`) : null));
});
