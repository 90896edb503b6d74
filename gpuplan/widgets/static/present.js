// Presenting: what stands in place of the bar; keys to go from step to step; the one input under discussion.

// What of a page is shown while it is presented: the fields of forms are not, but the one that is discussed.
const sheet = new CSSStyleSheet();
const discuss = (path) => {
  const it = `[data-at="${CSS.escape(path)}"]`;
  sheet.replaceSync(path ? `.gp-presenting .gp-page :is(.gp-part, .gp-card:not(.gp-posture), .gp-field, .gp-fold, .gp-workload-more):has(${it}) { display: block !important; }
    .gp-presenting .gp-page .gp-two:has(> .gp-side ${it}) { grid-template-columns: minmax(0, 1fr) 324px !important; }
    .gp-presenting .gp-page [role=radiogroup]:has(${it}) input { display: inline-block !important; } .gp-presenting .gp-page [role=radiogroup]:has(${it}) .gp-posture { pointer-events: auto !important; }` : "");
};

// What a step takes at least.
const FITS = { width: 1100, height: 720 };

// Keys are the presenter's unless something on the page needs them: a remote control sends those of pages.
const BY = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const NEEDS_ARROWS = "input, select, textarea, [role=tablist] *, .gp-figures *";

// Inputs of the tab on the screen: path and label; a choice between cards by the first of them.
const inputs = () => [...document.querySelectorAll(".gp-page :is(.gp-field, [role=radiogroup])")].flatMap((field) => {
  const input = field.querySelector("[data-at]:is(input, select, textarea)");
  return input ? [{ path: input.dataset.at, label: field.ariaLabel ?? field.querySelector("label").textContent }] : [];
});

let last = "";  // the input that had the focus last, while editing
addEventListener("focusin", ({ target }) => { if (target.matches?.(".gp-page .gp-field [data-at]:is(input, select, textarea)")) last = target.dataset.at; });

const bar = drawn((data, send, model) => {
  if (!data.on) return null;
  const listed = inputs();
  if (!listed.some((each) => each.path === model.discussed)) model.discussed = "";
  discuss(model.discussed);
  const arrow = (by, text, label, off) => h("button", { type: "button", class: "gp-icon", "data-at": `present-${label.toLowerCase()}`, "aria-label": `${label} step`, disabled: off, onclick: () => send("turn", { by }) }, text);
  return h("div", { class: "gp-show" },
    h("b", { title: data.name }, data.name), h("span", {}, `${data.at} of ${data.of}: ${data.step}`),
    h("div", { class: "gp-acts" },
      listed.length ? h("label", {}, "Discuss ", h("select", { "data-at": "discuss", value: model.discussed, onchange: ({ target }) => { model.discussed = target.value; target.blur(); model.draw(); } },
        h("option", { value: "" }, "No input selected"), listed.map((each) => h("option", { value: each.path, selected: each.path === model.discussed }, each.label)))) : null,
      arrow(-1, "\u2039", "Previous", data.at === 1), arrow(1, "\u203a", "Next", data.at === data.of),
      h("button", { type: "button", "data-at": "edit", onclick: () => send("edit") }, "Back to editing")));
});

export default {
  render({ model, el }) {
    const send = sender(model);
    let on = false;
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    // As large as the first tab of each step still fits.
    const size = () => el.closest(".gp-app")?.style.setProperty("--zoom", Math.max(1, Math.min(innerHeight / FITS.height, innerWidth / FITS.width)));
    const show = () => {
      const now = model.get("data").on;
      size();
      if (now && !on) model.discussed = last;
      el.closest(".gp-app")?.classList.toggle("gp-presenting", now);
      if (on && !now && document.fullscreenElement) document.exitFullscreen();
      on = now;
    };
    const keys = (event) => {
      if (!on || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape" && !document.querySelector(".gp-drawer")) send("edit");
      const by = BY[event.key];
      if (!by || (event.key.startsWith("Arrow") && document.activeElement?.matches(NEEDS_ARROWS))) return;
      event.preventDefault();
      send("turn", { by });
    };
    // The browser's own way out of the full screen ends it, too.
    const full = () => { if (on && !document.fullscreenElement) send("edit"); };
    show();
    model.on("change:data", show);  // first: what is drawn asks it
    const done = bar.render({ model, el });
    // A step is drawn after this is: its inputs are listed then.
    const page = document.querySelector(".gp-work") ?? document.body;
    let waiting;
    const changed = new MutationObserver(() => { clearTimeout(waiting); if (on) waiting = setTimeout(() => model.draw(), 100); });
    changed.observe(page, { childList: true, subtree: true });
    document.addEventListener("keydown", keys);
    addEventListener("resize", size);
    document.addEventListener("fullscreenchange", full);
    return () => {
      done();
      model.off("change:data", show);
      changed.disconnect();
      clearTimeout(waiting);
      document.removeEventListener("keydown", keys);
      removeEventListener("resize", size);
      document.removeEventListener("fullscreenchange", full);
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    };
  },
};
