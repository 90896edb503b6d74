// A chart. Vega stays: when only rows change, its view gets the new rows; else the chart is made again.
const vega = (globalThis.gpuplanVega ??= Promise.withResolvers());

// No menu (it is unnamed and offers an editor on the internet), vector output for print, and no eval: with "ast" Vega
// interprets its expressions, which the page's Content-Security-Policy demands.
// A chart that says nothing of its colours has those of the page around it, light or dark.
const ink = "currentColor", line = "#8886";
const words = { labelColor: ink, titleColor: ink };
const config = {
  background: "transparent", view: { stroke: line }, axis: { ...words, gridColor: line, domainColor: line, tickColor: line }, legend: words, header: words,
  title: { color: ink, subtitleColor: ink }, text: { color: ink }, rule: { color: ink },
};
const OPTIONS = { mode: "vega-lite", actions: false, renderer: "svg", ast: true, config };

// From the rows of a view to others. Rows are changed where they are, so that their marks stay in the document.
function changes(view, name, now) {
  const set = view.changeset();
  const there = view.data(name);
  now.forEach((row, at) => {
    if (at >= there.length) set.insert({ ...row });
    else for (const [field, value] of Object.entries(row)) if (there[at][field] !== value) set.modify(there[at], field, value);
  });
  return there.length > now.length ? set.remove(there.slice(now.length)) : set;
}

export default {
  async render({ model, el }) {
    el.ariaBusy = "true"; // until it shows what it was given
    const embed = await vega.promise;
    const place = document.createElement("div");
    el.append(place);
    let made; // what is on the screen: vega-embed's answer, and the spec and the rows that it was made of
    let width = 0; // of its place, which it has once it is on the page
    let drawing = false;
    let gone = false;
    const post = (event) => globalThis.gpuplan?.post ? gpuplan.post(event, (numbered) => model.send(numbered)) : model.send(event);

    // A chart is taller where there is room: where it is wide, and the window tall.
    const tall = (spec, view) => typeof spec.height === "number" && view.height(Math.round(spec.height * Math.max(1, Math.min(width / 720, (innerHeight - 300) / 500, 1.6))));

    async function show(spec, rows) {
      if (made?.spec === spec) {
        const { view, rows: before } = made;
        for (const [name, now] of Object.entries(rows)) {
          if (JSON.stringify(before[name]) !== JSON.stringify(now)) view.change(name, changes(view, name, now));
        }
        made.rows = rows;
        tall(spec, view);
        await view.resize().runAsync(); // room for labels that have become longer
        return;
      }
      made?.finalize();
      made = undefined;
      if (!spec.$schema) return place.replaceChildren();
      place.style.width = spec.width === "container" ? "100%" : "";
      const datasets = { ...spec.datasets, ...rows };
      const { view, finalize } = await embed(place, structuredClone({ ...spec, datasets }), OPTIONS);
      made = { view, finalize, spec, rows };
      tall(spec, view);
      // A point that says what a click means sends it.
      view.addEventListener("click", (_, item) => item?.datum?.click && post(item.datum.click));
      await view.runAsync();
    }
    // One at a time, and the last one counts: what came meanwhile is drawn next.
    async function draw() {
      if (drawing || !width) return;
      drawing = true;
      el.ariaBusy = "true";
      let spec, rows;
      while (!gone && (spec !== model.get("spec") || rows !== model.get("rows"))) {
        [spec, rows] = [model.get("spec"), model.get("rows")];
        try {
          await show(spec, rows);
        } catch (error) {
          console.error(error);
        }
      }
      drawing = false;
      el.ariaBusy = "false";
    }
    model.on("change:spec", draw);
    model.on("change:rows", draw);
    // A chart follows the width of its place.
    const placed = new ResizeObserver(() => {
      if (el.clientWidth === width) return;
      width = el.clientWidth;
      if (made) dispatchEvent(new Event("resize"));
      draw();
    });
    placed.observe(el);
    return () => {
      gone = true;
      placed.disconnect();
      model.off("change:spec", draw);
      model.off("change:rows", draw);
      made?.finalize();
    };
  },
};
