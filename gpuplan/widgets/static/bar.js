// The bar: brand, name of the design, undo, open, save, link, theme. Keeps the scenario in the address bar.

// Longer links are cut by some mail and chat programs.
const LONG_LINK = 8_000;

// How long a notice stays, ms; one of something wrong stays until it is dismissed, or until something else is done.
const STAYS = { note: 6_000, warn: 12_000 };

// A design counts as a recent one when it has stood for so long, ms, or is left.
const SETTLED = 1_000;

// Fields for text, and those of the design in which what was typed is entered: there undo takes back the last edit, as everywhere.
const TEXT = "textarea, input:not([type=checkbox], [type=radio], [type=range])";
const ENTERED = ":is(.gp-field, .gp-cell) :not([data-typing])";

const inVoila = () => document.body.dataset.voila === "voila";

// On a page of Voila's own, which does not look after its address, its memory and its session.
function writeAddress(fragment) {
  if (location.hash.slice(1) !== fragment) history.replaceState(null, "", `#${fragment}`);
}

// A step is drawn when it is entered, so the field may take a moment to appear, and longer on a busy machine; what is done on the page meanwhile ends the wait.
let asked = 0;
for (const done of ["pointerdown", "keydown"]) addEventListener(done, () => { asked += 1; }, true);
function focusField(path, tries = 600, turn = ++asked) {
  const field = document.querySelector(`.gp-app [data-at="${CSS.escape(path)}"]`);
  if (field?.isConnected && field.closest("details")) field.closest("details").open = true;
  if (field?.isConnected && !field.offsetParent) field.closest("[popover]")?.showPopover();
  if (field?.isConnected && !field.offsetParent) field.dispatchEvent(new Event("reveal", { bubbles: true })); // on another page of a long table
  if (field?.offsetParent) {
    field.focus();
    field.scrollIntoView({ block: "center" });
  } else if (tries) setTimeout(() => { if (turn === asked) focusField(path, tries - 1, turn); }, 50);
}

// All that is on the screen of a widget and of those in it is there.
async function rendered(model) {
  await Promise.all(Object.values(model.views ?? {}));
  await Promise.all((model.get("children") ?? []).map(rendered));
}
const frame = () => new Promise(requestAnimationFrame);
// A chart that is drawn, and a place that a menu or a slider of ipywidgets has yet to fill: see slot in common.js.
const unfinished = () => [...document.querySelectorAll(".gp-page :is([aria-busy=true], .gp-input:empty)")].some((each) => each.offsetParent);

// The page declares what it shows, for tests and other programs that drive it: `data-state` of the document is "busy" from what is
// typed or done until the session has carried it out and the page has drawn what came of it, then "idle"; `data-revision` is that
// of the answer on the screen, `data-working` names what the session does beside the page.
let declared = 0;
async function declare(model, { app, revision, working }) {
  const turn = ++declared;
  await rendered(await model.widget_manager.get_model(app));
  do await frame(); while (turn === declared && unfinished());
  if (turn === declared) window.gpuplan.declare({ revision, working });
}

export default {
  render({ model, el }) {
    const send = sender(model);
    const file = h("input", { type: "file", accept: ".yaml,.yml,.json", hidden: true, "aria-label": "Open a scenario file",
      onchange: async () => {
        const chosen = file.files[0];
        if (!chosen) return;
        if (chosen.size > 1_000_000) send("too-large", { name: chosen.name, size: chosen.size });
        else send("open", { name: chosen.name, base64: await base64(chosen) });
        file.value = "";
      } });
    const button = (text, type, title, primary) =>
      h("button", { type: "button", class: primary ? "gp-primary" : "", title, "data-at": type, onclick: () => send(type) }, text);
    const undo = button("Undo", "undo");
    const redo = button("Redo", "redo");
    const named = (node, words, keys) => {
      const text = words ? `${node.textContent}: ${words}` : node.textContent;
      node.title = `${text} (${keys})`;
      node.setAttribute("aria-label", text);
    };
    const open = h("button", { type: "button", "data-at": "open", onclick: () => file.click(), title: "Open a scenario file" }, "Open");
    const save = button("Save", "save", "Save the scenario as a file");
    // A version of the design under a name, in the list of this browser.
    const version = h("input", { type: "text", maxlength: 60, "aria-label": "Name of the version", placeholder: "Name of the version", "data-at": "version-name", autocomplete: "off" });
    const naming = h("form", { class: "gp-card gp-naming", popover: "auto", id: ownName(model, "versions"), onsubmit: (event) => {
      event.preventDefault();
      if (!version.value.trim() || !entryNow()) return;
      list();
      keepDesign({ ...entryNow(), version: version.value.trim() });
      tell("note", `Version \u201c${version.value.trim()}\u201d is kept in this browser. It opens from the start page.`);
      version.value = "";
      naming.hidePopover();
    } }, version, h("button", { type: "submit", class: "gp-primary", "data-at": "version-keep" }, "Keep"));
    const versions = h("button", { type: "button", "data-at": "version", title: "Keep this version under a name", popovertarget: naming.id }, "Keep version");
    const share = h("button", { type: "button", class: "gp-primary", "data-at": "share", title: "Copy a link that contains this design", onclick: copy }, "Share link");
    const view = h("button", { type: "button", class: "gp-view", "data-at": "view", "aria-pressed": "false",
      title: "Show only what the customer may see",
      onclick: () => send("view", { customer: !model.get("data").customer }) }, "Customer view");
    const present = h("button", { type: "button", "data-at": "present", title: "Full screen, in the customer's view",
      onclick: () => { document.documentElement.requestFullscreen?.().catch(() => {}); send("present"); } }, "Present");
    const theme = h("button", { type: "button", class: "gp-icon", "data-at": "theme", "aria-label": "Light or dark", title: "Light or dark", hidden: !window.gpuplan,
      onclick: () => window.gpuplan.setTheme(window.gpuplan.theme === "dark" ? "light" : "dark") }, "\u25d0");
    const put = keptFields(send), fields = h("div", { class: "gp-fields" }), example = h("p", { class: "gp-small" }), about = h("h2");
    const settings = h("div", { class: "gp-card gp-settings", popover: "auto", id: ownName(model, "settings") }, about, fields, example);
    const set = h("button", { type: "button", "data-at": "settings", popovertarget: settings.id });
    const name = h("input", { class: "gp-name", type: "text", "aria-label": "Name of the design", maxlength: 80,
      oninput: () => typed("name", name.value), onblur: () => typed(),
      onchange: () => { send("set", { path: "name", value: name.value, live: false }); typed(); } });
    const notice = h("div", { class: "gp-notice", role: "status", hidden: true, onmouseenter: stay, onfocusin: stay, onmouseleave: leave, onfocusout: leave });
    let leaving;
    const brand = h("button", { type: "button", class: "gp-brand", title: "Start page", onclick: () => send("go", { step: "start" }) }, "gpuplan");
    // Past the bar, the figures and the steps: to where the step begins.
    const skip = h("button", { type: "button", class: "gp-skip", "data-at": "skip", onclick: () => {
      const tab = el.closest(".gp-app").querySelector(".gp-tab");
      (tab.querySelector("[data-first]") ?? [...tab.querySelectorAll("button, input, select, textarea, summary, a")].find((each) => each.offsetParent && !each.disabled))?.focus();
    } }, "Skip to content");
    el.append(skip,
      h("div", { class: "gp-bar-row" }, h("div", { class: "gp-bar-name" }, brand, name),
        h("div", { class: "gp-acts" }, undo, redo, open, save, versions, naming, view, present, share, set, settings, theme, file)), notice);

    function tell(level, text) {
      notice.hidden = !text;
      notice.className = `gp-notice gp-${level}`;
      notice.dataset.level = level;
      notice.replaceChildren(h("span", {}, text), h("button", { type: "button", class: "gp-icon", "aria-label": "Dismiss", onclick: dismiss }, "\u00d7"));
      leave();
    }
    function dismiss() {
      stay();
      notice.hidden = true;
      if (model.get("data").notice.text) send("dismiss", { text: model.get("data").notice.text });
    }
    function stay() { clearTimeout(leaving); }
    function leave() {
      stay();
      const time = STAYS[notice.dataset.level];
      if (time && !notice.hidden && !notice.matches(":hover, :focus-within")) leaving = setTimeout(dismiss, time);
    }
    async function copy() {
      const { customer, internal, share } = model.get("data");
      const link = new URL(location.href);
      const shared = customer ? share : model.get("data").fragment;
      link.hash = window.gpuplan?.addressed(shared) ?? shared;  // at the step on the screen
      const what = !internal ? "It contains the whole design; the server stores nothing."
        : customer ? "It contains the customer version. Do not send the address of this page, which contains your own version."
        : "It contains the whole design with internal notes and margin. For the customer, share the link from the customer view.";
      try {
        await navigator.clipboard.writeText(link.href);
        const long = link.href.length > LONG_LINK;
        tell(long ? "warn" : "note", `Link copied. ${what}${long ? ` It has ${link.href.length.toLocaleString("en").replaceAll(",", "\u202f")} characters, and mail and chat programs may cut long links: send the saved file instead.` : ""}`);
      } catch {
        tell("note", customer && internal ? "This browser does not allow copying. Save the design instead: the file is the customer version, the address of this page is not."
          : "Copy the address of this page: it contains the whole design.");
      }
    }
    let shown = "", keeping = 0, waiting;
    // Lists a design when it has stood for a moment, or when it is left before that.
    function list(entry) {
      clearTimeout(keeping);
      if (waiting && waiting.design !== entry?.design) keepDesign(waiting);
      waiting = entry;
      if (entry) keeping = setTimeout(() => { keepDesign(entry); waiting = undefined; }, SETTLED);
    }
    const left = () => list();
    function entryNow() {
      const { recent, name, fragment } = model.get("data");
      if (!recent) return null;
      const { design, customer, hosts, gpus, cost, state, tone } = recent;
      return { name, fragment, design, customer, hosts, gpus, model: recent.model, cost, state, tone };
    }
    function draw() {
      const data = model.get("data");
      undo.disabled = !data.can_undo;
      redo.disabled = !data.can_redo;
      named(undo, data.undo, "Ctrl+Z");
      named(redo, data.redo, "Ctrl+Y");
      save.disabled = share.disabled = present.disabled = !data.started;
      versions.hidden = !inVoila() || !data.started || data.customer;
      view.setAttribute("aria-pressed", String(data.customer));
      name.hidden = set.hidden = !data.started;
      put([fields, data.settings.fields]);
      about.textContent = set.title = data.settings.title;
      example.textContent = data.settings.text;
      set.replaceChildren("Format", wrongMark(data.settings.fields.some((field) => field.problem) && "has an error") ?? "");
      if (document.activeElement !== name) name.value = data.name;
      name.title = data.name;
      name.setAttribute("aria-invalid", String(Boolean(data.name_problem)));
      const said = JSON.stringify(data.notice);
      if (said !== shown) tell(data.notice.level, data.notice.text);
      shown = said;
      if (!inVoila() || !data.fragment) return;
      (window.gpuplan?.keepAddress ?? writeAddress)(data.fragment);
      list(entryNow());
    }
    const keys = (event) => {
      // While somebody types they are the browser's own.
      const types = document.activeElement?.matches(TEXT) && !document.activeElement.matches(ENTERED);
      if (!(event.ctrlKey || event.metaKey) || types) return;
      if (event.key === "z" && !event.shiftKey) { event.preventDefault(); send("undo"); }
      if (event.key === "y" || (event.key === "z" && event.shiftKey)) { event.preventDefault(); send("redo"); }
    };
    const arrived = () => { if (location.hash.startsWith("#s=") && location.hash.slice(1) !== model.get("data").fragment) send("restore", { fragment: location.hash }); };
    if (inVoila()) {
      document.addEventListener("keydown", keys);
      addEventListener("pagehide", left);
      if (window.gpuplan) window.gpuplan.join(model.widget_manager.kernel, (event) => model.send(event));
      else {
        addEventListener("hashchange", arrived);
        arrived();
      }
    }
    model.on("change:data", draw);
    model.on("msg:custom", (message, buffers) => {
      if (message.type === "download") download(message.name, buffers[0]);
      if (message.type === "focus") focusField(message.path);
      if (message.type === "taken") window.gpuplan.heard(message.number, message.memory, message.designs);
      if (window.gpuplan && ["taken", "shown"].includes(message.type)) declare(model, message);
    });
    draw();
    return () => {
      left();
      stay();
      document.removeEventListener("keydown", keys);
      removeEventListener("pagehide", left);
      removeEventListener("hashchange", arrived);
    };
  },
};
