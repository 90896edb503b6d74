// Start: examples, templates, and the recent designs of this browser with their versions.
const MOST_SHOWN = 3, MOST_BYTES = 5_000_000;
const SIGN = { good: "\u2713", warn: "!", bad: "\u2715" };

// Designs, each with its versions, by identity; a list of an older gpuplan may have none.
function byDesign(all) {
  const designs = new Map();
  all.forEach((each, at) => {
    const key = each.design || `at ${at}`;
    designs.set(key, [...(designs.get(key) ?? []), each]);
  });
  return [...designs];
}

export default drawn((data, send, model) => {
  if (!data.examples) return null;
  const recent = data.customer ? [] : recentDesigns(), designs = byDesign(recent);
  const put = (all, said, back) => {
    storeDesigns(all);
    model.said = { said, back };
    model.draw();
    document.querySelector(back ? "[data-at=put-back]" : "[data-at=blank]")?.focus();
  };
  const remove = (gone, said) => {
    const before = recentDesigns(), is = gone && sameDesign(gone);
    put(gone ? before.filter((each) => !is(each)) : [], said, before);
  };
  const putBack = () => {
    const now = recentDesigns(), { back } = model.said;
    put([...now.filter((each) => !back.some(sameDesign(each))), ...back], "", null);
  };
  const save = () => download("gpuplan-designs.json", JSON.stringify({ gpuplan: "designs", designs: recentDesigns() }, null, 1));
  const take = async ({ target }) => {
    const [file] = target.files;
    target.value = "";
    let found = [];
    try {
      if (file.size <= MOST_BYTES) found = designsIn(JSON.parse(await file.text()).designs);
    } catch { /* it is said below */ }
    const now = recentDesigns(), more = found.filter((each) => !now.some(sameDesign(each)));
    put([...now, ...more].toSorted((one, other) => other.day.localeCompare(one.day)),
      found.length ? `${more.length} of ${found.length} designs in ${file.name} added; the others are here already.` : `${file.name} holds no list of designs, or has more than 5 MB.`, null);
  };
  const open = ({ fragment, design }) => (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;  // a new tab opens it by its address
    event.preventDefault();
    send("recent", { fragment, design });
  };
  const row = (r, first, more) => h("tr", { class: first ? "" : "gp-version" },
    h("td", {}, r.fragment ? h("a", { href: `#${r.fragment}`, onclick: open(r) }, first || !r.version ? r.name : r.version) : h("b", {}, r.name),
      h("small", {}, [first && r.customer, first && r.version, !r.fragment && "no longer in this browser: only a saved file has it"].filter(Boolean).join(" \u00b7 ")), more),
    h("td", { class: "gp-nowrap" }, r.day), h("td", { class: "n" }, r.hosts), h("td", { class: "n" }, r.gpus), h("td", {}, r.model), h("td", { class: "n gp-nowrap" }, r.cost),
    h("td", {}, r.state ? mark({ sign: SIGN[r.tone] ?? "\u2013", text: r.state, tone: r.tone || "note" }) : null),
    h("td", {}, h("button", { type: "button", class: "gp-link", "aria-label": `Remove ${[r.name, r.version, r.day].filter(Boolean).join(", ")}`, onclick: () => remove(r, `Removed: ${r.name}`) }, "Remove")));
  const unfolded = (model.unfolded ??= new Set());
  const rows = ([key, [latest, ...older]]) => {
    const shown = unfolded.has(key);
    const more = older.length ? h("button", { type: "button", class: "gp-link", "aria-expanded": String(shown), onclick: () => { unfolded[shown ? "delete" : "add"](key); model.draw(); } },
      `${older.length} older ${older.length > 1 ? "versions" : "version"}`) : null;
    return [row(latest, true, more), shown ? older.map((each) => row(each, false)) : null];
  };
  const listed = (some) => h("table", { class: "gp-table" }, h("thead", {}, h("tr", {}, ["Design", "Changed", "Hosts", "GPUs", "Model", "5-year cost", "Availability", ""].map((text, n) =>
    text ? h("th", { scope: "col", class: [2, 3, 5].includes(n) ? "n" : undefined }, text) : h("td")))), h("tbody", {}, some.map(rows)));
  const chooser = h("input", { type: "file", accept: ".json", hidden: true, "aria-label": "Import a list of designs", onchange: take });
  const act = (at, text, title, onclick) => h("button", { type: "button", class: "gp-link", "data-at": at, title, onclick }, text);
  const card = (e, style) => h("button", { type: "button", class: `gp-card gp-pick ${style}`, "data-at": e.id, onclick: () => send("example", { name: e.id }) },
    h("b", {}, e.title), h("span", {}, e.text), e.answer ? h("span", { class: "gp-answer" }, e.answer) : null);
  return h("div", {},
    h("div", { class: "gp-examples" },
      h("section", {}, h("h2", {}, "Examples", h("small", {}, "each opens as a complete design")), h("div", { class: "gp-cards" }, data.examples.map((e) => card(e, "")))),
      h("section", {}, h("h2", {}, "Reference designs (2020)", h("small", {}, "hardware no longer sold")), h("div", { class: "gp-cards" }, data.references.map((e) => card(e, "gp-quiet"))))),
    h("section", { class: "gp-templates" }, h("h2", {}, "Templates by industry", h("small", {}, "every number in them is assumed, for you to replace")), h("div", { class: "gp-cards" }, data.templates.map((e) => card(e, "gp-slim")))),
    data.customer ? null : h("section", { class: "gp-recent", "aria-label": "Recent designs" },
      h("h2", {}, "Recent designs", h("small", {}, `only in this browser: the last ${MOST_RECENT} versions, the oldest go first`),
        h("span", { class: "gp-recent-acts" }, chooser, act("import-designs", "Import", "Add the designs of an exported list", () => chooser.click()),
          recent.length ? [act("export-designs", "Export", "Save the whole list as a file", save), act("clear-designs", "Clear list", "", () => remove(null, "List cleared"))] : null)),
      model.said ? h("p", { class: "gp-small", role: "status" }, model.said.said, " ", model.said.back ? act("put-back", "Undo", "", putBack) : null) : null,
      designs.length ? listed(designs.slice(0, MOST_SHOWN)) : null,
      designs.length > MOST_SHOWN ? h("details", { "data-keep": "older" }, h("summary", {}, `${designs.length - MOST_SHOWN} older`), listed(designs.slice(MOST_SHOWN))) : null));
}, keepOpen);
