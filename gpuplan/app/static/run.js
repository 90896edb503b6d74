// Work in the background: a file to send, how it is to be done, buttons, progress, and what came out.
// A file is sent piece by piece; the next one goes when the last has arrived.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  const up = data.upload;
  const sendPiece = () => {
    const { file, at } = model.sending;
    const end = Math.min(at + up.piece, file.size);
    file.slice(at, end).arrayBuffer().then((buffer) => {
      if (model.sending?.file !== file) return;
      model.sending.at = end;
      model.send({ type: "piece", name: file.name, size: file.size, at }, undefined, [buffer]);
    });
  };
  if (up && model.sending) {
    const { file, at } = model.sending;
    if (up.name !== file.name.slice(0, 200) && up.got !== at) model.sending = at ? undefined : model.sending;
    else if (up.got === at && at >= file.size) model.sending = undefined;
    else if (up.got === at && at > 0) sendPiece();
  }
  const chooser = up && h("input", { type: "file", accept: up.accept, hidden: true, "aria-label": up.label, onchange: () => {
    const file = chooser.files[0];
    if (!file) return;
    model.sending = { file, at: 0 };
    if (file.size) sendPiece();
    else send("piece", { name: file.name, size: 0, at: 0 });
  } });
  const input = (i) => h("label", { class: "gp-look", title: i.question }, i.label, i.options
    ? h("select", { "data-at": `run-${i.what}`, onchange: (event) => send("look", { what: i.what, value: event.target.value }) },
        i.options.map((o) => h("option", { value: o.value, selected: o.value === i.value }, o.text)))
    : h("input", { type: "text", value: i.value, placeholder: i.empty, "data-at": `run-${i.what}`, spellcheck: "false", autocomplete: "off",
        onchange: (event) => send("look", { what: i.what, value: event.target.value }) }));
  const p = data.progress;
  return h("div", { class: data.stale ? "gp-stale" : "" },
    h("h2", {}, data.title, data.hint ? h("small", {}, data.hint) : null),
    h("div", { class: "gp-run" },
      up ? [chooser, h("button", { type: "button", "data-at": "run-file", onclick: () => chooser.click() }, up.label)] : null,
      data.inputs.map(input),
      data.buttons.map((b) => h("button", { type: "button", class: b.primary ? "gp-primary" : "", "data-at": b.key, disabled: b.off, onclick: () => send(b.event) }, b.text)),
      p ? h("span", { class: "gp-run-progress", role: "status" }, h("progress", { max: 1, value: p.done ?? undefined, "aria-label": "Progress" }), p.text) : null),
    data.problem ? h("p", { class: "gp-problem", role: "alert" }, data.problem) : null,
    data.text.map((text) => h("p", { class: "gp-said" }, text)),
    h("div", { class: data.old ? "gp-old" : "" }, tables(data.tables, send)));
});
