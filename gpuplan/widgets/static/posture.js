// The postures side by side, and what is bet on maintenance. Click a card to choose it.
export default drawn((data, send, model) => {
  if (!data.cards) return null;
  const path = data.maintenance.path;
  const choose = (card) => card.value !== data.value && send("set", { path: data.path, value: String(card.value), live: false });
  const why = (key, text, big) => h("button", {
    type: "button", class: big ? "gp-why gp-why-big" : "gp-why", "data-at": key, title: "Why this number?",
    onclick: (event) => { event.stopPropagation(); send("why", { key }); },
  }, text);
  const card = (c) => h("div", { class: `gp-card gp-posture${c.value === data.value ? " on" : ""}`, onclick: () => choose(c) },
    h("label", { class: "gp-posture-name" },
      h("input", { type: "radio", name: ownName(model, "gp-posture"), checked: c.value === data.value, "data-at": `n${c.value}`, onchange: () => choose(c), onclick: (e) => e.stopPropagation() }), c.title),
    h("p", { class: "gp-posture-words" }, c.words),
    c.key ? h("p", { class: "gp-posture-hosts" }, why(c.key, c.hosts, true), h("span", {}, c.gpus)) : null,
    h("dl", {}, c.figures.map((f) => [h("dt", { title: f.about }, f.label), h("dd", {}, f.parts.map(([key, text], i) => [i ? ", " : null, why(key, text)]))]),
      c.cost ? [h("dt", {}, "Cost"), h("dd", { class: "gp-later" }, c.cost)] : null));
  return [
    h("div", { class: "gp-two gp-postures" },
      h("div", { class: `gp-posture-cards${data.stale ? " gp-stale" : ""}`, role: "radiogroup", "aria-label": "Host failures to tolerate", title: data.question }, data.cards.map(card)),
      h("div", { class: "gp-card gp-bet" },
        h("label", { class: "gp-inline", title: data.maintenance.question },
          h("input", { type: "checkbox", checked: data.maintenance.value, "data-at": path, onchange: (e) => send("set", { path, value: e.target.checked, live: false }) }),
          data.maintenance.label),
        data.bet ? h("p", { class: data.stale ? "gp-stale" : "" }, data.bet) : null)),
    data.problem ? h("p", { class: "gp-problem", role: "alert" }, data.problem) : null,
  ];
});
