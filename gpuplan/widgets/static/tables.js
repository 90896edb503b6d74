// Details that are worked out when they are opened: a line that says what is inside, sentences and tables.
export default drawn((data, send, model) => {
  if (!data.shown) return null;
  return h("details", { class: `gp-fold${data.stale ? " gp-stale" : ""}`, open: data.open,
    ontoggle: (event) => event.target.open !== data.open && send("fold", { key: data.key, open: event.target.open }) },
    h("summary", { "data-at": data.key, "data-near": true }, h("h2", {}, data.title), h("small", {}, data.hint)),
    (data.text ?? []).map((text) => h("p", { class: "gp-said" }, text)),
    data.selects?.length ? h("div", { class: "gp-tools" }, data.selects.map((s) => menu(s, send, model))) : null, tables(data.tables, send, model));
});
