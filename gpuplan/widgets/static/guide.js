// Three questions that make a first design: what to run, how many use each, and where. The second and third come with the first
// answer. Below them, the other ways to begin. What is ticked, typed and chosen stays in this tab, also when it is loaded again, until all of it is sent at once.
const ANSWERS = "gpuplan:guide";
function keptAnswers() {
  try {
    return Object(JSON.parse(sessionStorage.getItem(ANSWERS)));
  } catch {
    return {};  // a browser may have no storage, and what is there may be anything
  }
}
function keepAnswers(answers) {
  try {
    sessionStorage.setItem(ANSWERS, JSON.stringify(answers));
  } catch { /* as above */ }
}

export default {
  render({ model, el }) {
    const send = sender(model), kinds = new Map(), where = new Map();
    const question = (number, text, ...rest) => h("fieldset", {}, h("legend", {}, h("span", { class: "gp-num", "aria-hidden": "true" }, number), text), rest);
    const ticks = h("div", { class: "gp-guide-kinds" }), counts = h("div", { class: "gp-fields" }), places = h("div", { class: "gp-fields" });
    const next = h("div", { class: "gp-guide-next", hidden: true }, question(2, "How many users or jobs?", counts), question(3, "Where will it run?", places),
      h("div", { class: "gp-guide-go" }, h("button", { type: "submit", class: "gp-primary gp-big", "data-at": "guide-go" }, "Show a first design"),
        h("small", {}, "Anything you leave open becomes a planning value, marked as assumed.")));
    const chosen = () => [...kinds].filter(([, kind]) => kind.tick.checked);
    const fields = () => [...[...kinds.values()].flatMap(({ tick, field }) => [tick, field]), ...[...where.values()].map(({ field }) => field)];
    const keep = () => keepAnswers(Object.fromEntries(fields().map((each) => [each.dataset.at, each.type === "checkbox" ? each.checked : each.value])));
    const form = h("form", { class: "gp-card gp-guide", novalidate: true, oninput: keep, onchange: keep, onsubmit: (event) => {
      event.preventDefault();
      if (chosen().length) send("guide", { counts: Object.fromEntries(chosen().map(([id, kind]) => [id, kind.field.value])), where: Object.fromEntries([...where].map(([path, each]) => [path, each.field.value])) });
    } }, question(1, "What do you want to run?", ticks), next);
    const big = (at, onclick, text) => h("button", { type: "button", class: "gp-big", "data-at": at, onclick }, text);
    const back = big("back", () => send("go", { step: "usecases" }), "");
    el.append(h("div", { class: "gp-start-lead" }, h("h1", {}, "Size a shared-GPU cluster, with a reason for every number"),
      h("p", { class: "gp-lead" }, "Nothing leaves this machine, and every number shows its source.")), form, h("div", { class: "gp-more" },
      big("blank", () => send("example", { name: "blank" }), "Start blank"), big("open-file", () => document.querySelector('input[type=file][aria-label="Open a scenario file"]')?.click(), "Open a file"), back));

    // An answer with its label above it, and what is wrong with it below.
    function answer(at, name, field) {
      const id = `${at}-${ownName(model, at)}`, said = h("p", { class: "gp-problem", id: `${id}-problem`, hidden: true }), label = h("label", { for: id }, name);
      field.id = id;
      field.dataset.at = at;
      field.setAttribute("aria-describedby", said.id);
      return { field, node: h("div", { class: "gp-field" }, h("div", { class: "gp-label" }, label), h("div", { class: "gp-cell" }, field), said), update(problem) {
        said.textContent = problem;
        said.hidden = !problem;
        field.setAttribute("aria-invalid", String(Boolean(problem)));
      } };
    }
    function arrange() {
      next.hidden = !chosen().length;
      counts.replaceChildren(...chosen().map(([, kind]) => kind.node));
    }
    function answerAgain() {
      const kept = keptAnswers();
      for (const each of fields()) {
        const given = kept[each.dataset.at];
        if (each.type === "checkbox") each.checked = given === true;
        else if (typeof given === "string" && (!each.options || [...each.options].some(({ value }) => value === given))) each.value = given;
      }
      arrange();
    }
    function draw() {
      const data = model.get("data"), first = !kinds.size;
      if (!data.kinds) return;
      back.hidden = !data.started;
      back.textContent = `Back to \u201c${data.name}\u201d`;
      for (const kind of data.kinds) {
        if (!kinds.has(kind.id)) {
          const tick = h("input", { type: "checkbox", "data-at": `guide-${kind.id}`, onchange: arrange });
          ticks.append(h("label", { title: kind.about }, tick, kind.name));
          kinds.set(kind.id, { tick, ...answer(`guide-count-${kind.id}`, `${kind.name}: ${kind.label.toLowerCase()}`, h("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder: kind.planned })) });
        }
        kinds.get(kind.id).update(kind.problem);
      }
      for (const place of data.where) {
        if (!where.has(place.path)) {
          where.set(place.path, answer(`guide-${place.path}`, place.label, h("select", {}, place.options.map(([value, text]) => h("option", { value }, text)))));
          places.append(where.get(place.path).node);
        }
        where.get(place.path).update(place.problem);
      }
      if (first) answerAgain();
      form.querySelector("[aria-invalid=true]")?.focus();
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => { keepAnswers({}); model.off("change:data", draw); };
  },
};
