// Choices side by side, such as postures or link speeds. Click a card to choose it.
export default drawn((data, send, model) => {
  if (!data.cards) return null;
  const choose = (card) => card.value !== data.value && send("set", { path: data.path, value: String(card.value), live: false });
  const why = (key, text) => h("button", { type: "button", class: "gp-why gp-why-big", "data-at": key, title: "Why this number?",
    onclick: (event) => { event.stopPropagation(); send("why", { key }); } }, text);
  const card = (c) => h("div", { class: `gp-card gp-posture${c.value === data.value ? " on" : ""}`, onclick: () => choose(c) },
    h("label", { class: "gp-posture-name" },
      h("input", { type: "radio", name: ownName(model, "gp-posture"), checked: c.value === data.value, "data-at": `n${c.value}`, onchange: () => choose(c), onclick: (e) => e.stopPropagation() }), c.title),
    c.mark ? mark(c.mark) : null,
    c.key ? h("p", { class: "gp-posture-hosts" }, why(c.key, c.hosts), h("span", {}, c.gpus)) : null,
    h("p", { class: "gp-posture-words" }, c.words, c.cost ? h("span", { title: c.about }, c.cost) : null));
  return [
    h("div", { class: `gp-posture-cards${data.stale ? " gp-stale" : ""}`, role: "radiogroup", "aria-label": data.label, title: data.question }, data.cards.map(card)),
    data.problem ? h("p", { class: "gp-problem", role: "alert" }, data.problem) : null,
  ];
});
