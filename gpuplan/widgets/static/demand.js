// How many GPUs are enough: the rules side by side, the target in one sentence with its inputs, the stated total.
// The inputs are kept, so that neither typing nor dragging is interrupted.
export default {
  render({ model, el }) {
    const send = sender(model);
    const cards = h("div", { class: "gp-rules", role: "radiogroup", "aria-label": "Sizing rule" });
    const problem = h("p", { class: "gp-problem", role: "alert" });
    const sentence = h("p");
    const target = h("div", { class: "gp-target", role: "group", "aria-label": "Target" });
    const stated = h("div");
    const saving = h("p", { class: "gp-saving", role: "status" });
    const body = h("div", { class: "gp-card gp-promise" }, sentence, target, saving, stated);
    el.append(cards, problem, body);

    let slider;
    const give = (at, live, held) => {
      const path = "demand.chance", value = model.get("data").target.steps[at];
      send("set", { path, value, live, ...held });
      if (live) typed(path, value);
      else typed();
    };
    const words = h("span");
    const end = h("span");
    const inputs = {};
    const input = (name, field, ...after) => {
      inputs[name] ??= control(field, send, "target");
      inputs[name].update(field.problem ? { ...field, problem: `${field.label}: ${field.problem}` } : field);
      inputs[name].input.setAttribute("aria-label", field.label);
      inputs[name].input.title = field.question;
      return [inputs[name].node, ...after];
    };

    const why = (card) => h("button", { type: "button", class: "gp-why gp-why-big", "data-at": card.key, title: "Why this number?",
      "aria-label": `Why ${card.gpus}, ${card.title}?`, onclick: (event) => { event.stopPropagation(); send("why", { key: card.key }); } }, card.gpus);
    const rule = (data) => (card) => h("label", { title: card.formula },
      h("input", { type: "radio", name: ownName(model, "gp-rule"), checked: card.value === data.value, "data-at": `rule-${card.value}`,
        onchange: () => card.value !== model.get("data").value && send("set", { path: data.path, value: card.value, live: false }) }),
      h("span", {}, h("b", {}, card.title), h("small", {}, card.about)));
    // Rules that give the same number are one tile.
    const drawTile = (data) => (first) => {
      const same = data.cards.filter((card) => card.gpus === first.gpus), chosen = same.find((card) => card.value === data.value);
      return h("div", { class: `gp-card gp-posture gp-rule${chosen ? " on" : ""}`, style: `--rules: ${same.length}` },
        h("p", {}, chosen?.key ? why(chosen) : h("b", { class: "gp-why-big" }, first.gpus)), same.map(rule(data)));
    };
    let shape;
    function drawTarget(data) {
      const t = data.target;
      target.hidden = !t;
      sentence.hidden = Boolean(t);
      saving.textContent = data.saving;
      saving.hidden = !data.saving;
      sentence.textContent = data.sentence;
      if (!t) return;
      data.sliders.forEach((s) => {
        slider = kept(slider, slot(model, s, { key: "slider", name: "Target probability, in steps", words: t.steps[s.at] }, (at, held) => give(at, true, held), (at) => give(at, false)));
      });
      const parts = [input("chance", t.chance), input("whom", t.whom), t.wait ? input("wait", t.wait) : []].flat();
      words.textContent = t.words;
      end.textContent = t.wait ? "min." : "";
      if (shape !== Boolean(t.wait)) {
        shape = Boolean(t.wait);
        const [chance, whom, wait] = parts;
        target.replaceChildren(...[h("span", {}, "At most"), slider, chance, h("span", {}, "of the requests of"), whom, words, wait, wait ? end : null,
          h("div", { class: "gp-target-problems" }, ["chance", "whom", ...(wait ? ["wait"] : [])].map((name) => inputs[name].problem))].filter(Boolean));
      }
      words.textContent = t.wait ? t.words : `${t.words}.`;
    }
    function draw() {
      const data = model.get("data");
      if (!data.cards) return;
      cards.title = data.question;
      cards.classList.toggle("gp-stale", data.stale);
      redraw(cards, data.cards.filter((card, at) => data.cards.findIndex((other) => other.gpus === card.gpus) === at).map(drawTile(data)));
      problem.textContent = data.problem;
      problem.hidden = !data.problem;
      drawTarget(data);
      const focused = stated.contains(document.activeElement);
      redraw(stated, statedTotal(data.stated, send));
      if (focused && !data.stated) cards.querySelector("input:checked")?.focus({ preventScroll: true });
    }
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
