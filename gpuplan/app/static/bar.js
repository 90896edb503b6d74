// The bar: brand, name of the design, undo, open, save, link, theme. Keeps the scenario in the address bar.

const inVoila = () => document.body.dataset.voila === "voila";

function download(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A step is drawn when it is entered, so the field may take a moment to appear.
function focusField(path, tries = 20) {
  const field = document.querySelector(`.gp-app [data-at="${CSS.escape(path)}"]`);
  if (field?.isConnected && field.closest("details")) field.closest("details").open = true;
  if (field?.offsetParent) {
    field.focus();
    field.scrollIntoView({ block: "center" });
  } else if (tries) setTimeout(() => focusField(path, tries - 1), 50);
}

export default {
  render({ model, el }) {
    const send = (type, rest) => model.send({ type, ...rest });
    const isDark = () => document.body.dataset.jpThemeLight === "false";
    const themed = () => send("theme", { dark: isDark() });
    themed();
    addEventListener("gpuplan:theme", themed);
    const file = h("input", { type: "file", accept: ".yaml,.yml,.json", hidden: true, "aria-label": "Open a scenario file",
      onchange: async () => {
        const chosen = file.files[0];
        if (!chosen) return;
        if (chosen.size > 1_000_000) send("too-large", { name: chosen.name, size: chosen.size });
        else model.send({ type: "open", name: chosen.name }, undefined, [await chosen.arrayBuffer()]);
        file.value = "";
      } });
    const button = (text, type, title, primary) =>
      h("button", { type: "button", class: primary ? "gp-primary" : "", title, "data-at": type, onclick: () => send(type) }, text);
    const undo = button("Undo", "undo", "Take the last change back (Ctrl+Z)");
    const redo = button("Redo", "redo", "Bring it back (Ctrl+Y)");
    const open = h("button", { type: "button", onclick: () => file.click(), title: "Open a scenario file" }, "Open");
    const save = button("Save", "save", "Save the scenario as a file");
    const share = h("button", { type: "button", class: "gp-primary", title: "Copy a link that carries this design", onclick: copy }, "Share link");
    const theme = h("button", { type: "button", class: "gp-icon", "aria-label": "Light or dark", title: "Light or dark", hidden: !window.gpuplan,
      onclick: () => window.gpuplan.setTheme(isDark() ? "light" : "dark") }, "\u25d0");
    const name = h("input", { class: "gp-name", type: "text", "aria-label": "Name of the design", maxlength: 80,
      onchange: () => send("set", { path: "name", value: name.value, live: false }) });
    const notice = h("div", { class: "gp-notice", role: "status", hidden: true });
    const brand = h("button", { type: "button", class: "gp-brand", title: "Start page", onclick: () => send("go", { step: "start" }) }, "gpuplan");
    el.append(
      h("div", { class: "gp-bar-row" }, h("div", { class: "gp-bar-name" }, brand, name),
        h("div", { class: "gp-acts" }, undo, redo, open, save, share, theme, file)), notice);

    function tell(level, text) {
      notice.hidden = !text;
      notice.className = `gp-notice gp-${level}`;
      notice.replaceChildren(text, h("button", { type: "button", class: "gp-icon", "aria-label": "Dismiss", onclick: () => send("dismiss") }, "\u00d7"));
    }
    async function copy() {
      try {
        await navigator.clipboard.writeText(location.href);
        tell("note", "The link is copied. It carries the whole design; nothing is stored on the server.");
      } catch {
        tell("note", "Copy the address of this page: it carries the whole design.");
      }
    }
    function draw() {
      const data = model.get("data");
      undo.disabled = !data.can_undo;
      redo.disabled = !data.can_redo;
      save.disabled = share.disabled = !data.started;
      name.hidden = !data.started;
      if (document.activeElement !== name) name.value = data.name;
      name.setAttribute("aria-invalid", String(Boolean(data.name_problem)));
      tell(data.notice.level, data.notice.text);
      if (inVoila() && data.fragment && location.hash.slice(1) !== data.fragment) {
        history.replaceState(null, "", `#${data.fragment}`);
      }
    }
    const keys = (event) => {
      if (!(event.ctrlKey || event.metaKey) || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
      if (event.key === "z" && !event.shiftKey) { event.preventDefault(); send("undo"); }
      if (event.key === "y" || (event.key === "z" && event.shiftKey)) { event.preventDefault(); send("redo"); }
    };
    const arrived = () => { if (location.hash.startsWith("#s=") && location.hash.slice(1) !== model.get("data").fragment) send("restore", { fragment: location.hash }); };
    if (inVoila()) {
      document.addEventListener("keydown", keys);
      addEventListener("hashchange", arrived);
      if (location.hash.startsWith("#s=")) arrived();
    }
    model.on("change:data", draw);
    model.on("msg:custom", (message, buffers) => {
      if (message.type === "download") download(message.name, buffers[0]);
      if (message.type === "focus") focusField(message.path);
    });
    draw();
    return () => { document.removeEventListener("keydown", keys); removeEventListener("hashchange", arrived); removeEventListener("gpuplan:theme", themed); };
  },
};
