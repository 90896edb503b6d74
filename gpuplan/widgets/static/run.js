// Work in the background: a file to send, how it is to be done, buttons, progress, and what came out.
// A file is sent piece by piece; the next one goes when the last has arrived.
// Inputs and buttons are kept, so that neither typing nor a click is interrupted when something arrives.
export default {
  render({ model, el }) {
    const send = sender(model);
    const nodes = new Map(), placed = new Map();
    const keep = (key, make) => nodes.get(key) ?? nodes.set(key, make()).get(key);

    const pieces = () => model.get("data").upload.event;
    const sendPiece = () => {
      const { file, at } = model.sending;
      const end = Math.min(at + model.get("data").upload.piece, file.size);
      file.slice(at, end).arrayBuffer().then((buffer) => {
        if (model.sending?.file !== file) return;
        model.sending.at = end;
        model.send({ type: pieces(), name: file.name, size: file.size, at }, undefined, [buffer]);
      });
    };
    function sendOn(up) {
      if (!up || !model.sending) return;
      const { file, at } = model.sending;
      if (up.name !== file.name.slice(0, 200) && up.got !== at) model.sending = at ? undefined : model.sending;
      else if (up.got === at && at >= file.size) model.sending = undefined;
      else if (up.got === at && at > 0) sendPiece();
    }
    const choose = (event) => {
      const file = event.target.files[0];
      if (!file) return;
      model.sending = { file, at: 0 };
      if (file.size) sendPiece();
      else send(pieces(), { name: file.name, size: 0, at: 0 });
      event.target.value = "";
    };

    function uploader(up) {
      const chooser = keep("chooser", () => h("input", { type: "file", accept: up.accept, hidden: true, onchange: choose }));
      const button = keep("run-file", () => h("button", { type: "button", "data-at": "run-file", onclick: () => chooser.click() }));
      chooser.setAttribute("aria-label", up.label);
      button.textContent = up.label;
      return [chooser, button];
    }
    function input(i) {
      const key = `run-${i.what}`, look = (value, rest) => send("look", { what: i.what, value, ...rest });
      if (i.input) {
        const node = i.options ? menu(i, send, model, key) : slot(model, i, { class: "gp-walk", key, name: i.label, words: i.label }, look);
        placed.set(key, kept(placed.get(key), node));
        return placed.get(key);
      }
      const node = keep(key, () => h("input", { type: "text", placeholder: i.empty, "data-at": key, spellcheck: "false", autocomplete: "off", onchange: (event) => look(event.target.value) }));
      if (document.activeElement !== node) node.value = i.value;
      const label = keep(`label-${i.what}`, () => h("label", { class: "gp-look", title: i.question }, h("span"), node));
      label.firstChild.textContent = i.label;
      return label;
    }
    function button(b) {
      const node = keep(b.key, () => h("button", { type: "button", "data-at": b.key, onclick: () => send(b.event, b.rest) }));
      node.textContent = b.text;
      node.className = b.primary ? "gp-primary" : "";
      node.disabled = Boolean(b.off);
      return node;
    }
    const bar = h("progress", { max: 1, "aria-label": "Progress" });
    const words = h("span");
    const progress = h("span", { class: "gp-run-progress" }, bar, words);
    function showProgress(p) {
      if (p.done === null) bar.removeAttribute("value");
      else bar.value = p.done;
      words.textContent = p.text;
      return progress;
    }

    const nextRow = h("span", { class: "gp-run-row" });
    const title = h("h2");
    const controls = h("div", { class: "gp-run" });
    const below = h("div");
    const all = h("div", {}, title, controls, below);
    function draw() {
      const data = model.get("data");
      if (!data.shown) return el.replaceChildren();
      if (all.parentNode !== el) el.replaceChildren(all);
      sendOn(data.upload);
      all.className = data.stale ? "gp-stale" : "";
      title.replaceChildren(data.title, ...(data.hint ? [h("small", {}, data.hint)] : []));
      const shown = [data.upload ? uploader(data.upload) : [], data.inputs.map(input),
        data.upload && (data.buttons.length || data.progress) ? nextRow : [],
        data.buttons.map(button), data.progress ? showProgress(data.progress) : []].flat();
      const focused = controls.contains(document.activeElement);
      for (const node of [...controls.children]) if (!shown.includes(node)) node.remove();
      shown.forEach((node, at) => controls.children[at] !== node && controls.insertBefore(node, controls.children[at] ?? null));
      // A button that is gone leaves the focus to the first one now there.
      if (focused && !controls.contains(document.activeElement)) {
        (data.buttons.map(button).find((node) => !node.disabled) ?? controls.querySelector("button"))?.focus({ preventScroll: true });
      }
      const inside = below.contains(document.activeElement);
      redraw(below, [
        data.problem ? h("p", { class: "gp-problem", role: "alert" }, data.problem) : null,
        data.text.map((text) => h("p", { class: "gp-said" }, text)),
        data.tables.length ? h("div", { class: data.old ? "gp-old" : "" }, tables(data.tables, send, model)) : null,
        (data.after ?? []).map((text) => h("p", { class: "gp-said gp-small" }, text))]);
      if (inside && document.activeElement === document.body) controls.querySelector("button:enabled")?.focus({ preventScroll: true });
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
