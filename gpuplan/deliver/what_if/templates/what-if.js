"use strict";
// Picks from the answers that were planned beforehand, and draws their costs; it works out nothing but where a line goes.
(() => {
  const find = (css) => [...document.querySelectorAll(css)];
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("answers").textContent);
  const text = (at) => data.texts[at];
  const sliders = data.axes.map((_, n) => byId(`axis-${n}`));
  const own = data.axes.map((axis) => axis.own);
  const [LEAST, PAPER] = [280, 680]; // widths of the chart: on the narrowest screen, and in print

  const position = () => sliders.map((slider) => Number(slider.value));
  const place = (at) => at.reduce((sum, value, n) => sum * data.axes[n].readouts.length + value, 0);
  const told = (at, key) => text(data.answers[place(at)][data.fields.indexOf(key)]);
  const along = (at) => data.axes[0].readouts.map((_, n) => [n, ...at.slice(1)]);

  function write(css, words) {
    for (const each of find(css)) if (each.textContent !== words) each.textContent = words;
  }

  function show() {
    const at = position();
    for (const key of data.fields) write(`[data-at="${key}"]`, told(at, key));
    data.axes.forEach((axis, n) => {
      write(`[data-readout="${n}"]`, text(axis.readouts[at[n]]));
      write(`[data-moved="${n}"]`, text(axis.moved[at[n]]));
      write(`[data-by="${n}"]`, text(axis.by[at[n]]));
      sliders[n].setAttribute("aria-valuetext", `${text(axis.readouts[at[n]])}, ${text(axis.moved[at[n]])}`);
    });
    const main = document.querySelector("main");
    main.dataset.tone = told(at, "tone");
    const designed = at.every((value, n) => value === own[n]);
    main.classList.toggle("changed", !designed);
    byId("back").disabled = designed;
    draw();
  }

  function shape(name, attributes, words) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (words !== undefined) made.textContent = words;
    return made;
  }

  // Runs of positions that have a cost, each as its points: a line has a gap where nothing can be planned.
  function runs(points) {
    const found = [[]];
    for (const point of points) {
      if (point) found.at(-1).push(point);
      else found.push([]);
    }
    return found.filter((run) => run.length);
  }

  function draw(width = Math.max(LEAST, byId("chart").clientWidth)) {
    const svg = byId("chart");
    const high = Math.max(240, Math.min(330, width * 0.6));
    const [left, right, top, bottom] = [72, 22, 28, 52];
    const count = data.axes[0].readouts.length;
    const step = count > 1 ? (width - left - right) / (count - 1) : 0;
    const x = (n) => left + (count > 1 ? n * step : (width - left - right) / 2);
    const [most] = data.marks.at(-1);
    const y = (cost) => top + (high - top - bottom) * (1 - cost / most);
    const at = position();
    const points = (from) => along(from).map((each, n) => {
      const [cost, ...range] = data.costs[place(each)];
      return range.length ? { x: x(n), y: y(cost), low: y(range[0]), high: y(range[1]) } : null;
    });
    const path = (run) => run.map((point) => `${point.x},${point.y}`).join(" ");
    svg.setAttribute("viewBox", `0 0 ${width} ${high}`);
    svg.replaceChildren();
    const add = (...made) => svg.append(shape(...made));

    for (const [cost, words] of data.marks) {
      add("line", { class: "grid", x1: left - 8, x2: width - right + 8, y1: y(cost), y2: y(cost) });
      add("text", { class: "soft", x: left - 14, y: y(cost) + 4, "text-anchor": "end" }, text(words));
    }
    const here = points(at);
    for (const run of runs(here)) {
      const band = [...run.map((p) => `${p.x},${p.high}`), ...run.reverse().map((p) => `${p.x},${p.low}`)];
      add("polygon", { class: "range", points: band.join(" ") });
    }
    for (const run of runs(points(own))) add("polyline", { class: "design", points: path(run) });
    for (const run of runs(points(at))) add("polyline", { class: "here", points: path(run) });
    add("text", { class: "soft", x: 0, y: high - bottom + 20 }, text(data.unit));
    add("text", { class: "soft", x: 0, y: high - bottom + 40 }, text(data.hosts));
    add("text", { class: "soft", x: x(own[0]), y: 10, "text-anchor": "middle" }, text(data.design));
    add("line", { class: "own", x1: x(own[0]), x2: x(own[0]), y1: top - 12, y2: high - bottom + 6 });
    along(at).forEach((each, n) => {
      const chosen = n === at[0];
      const anchor = { x: x(n), "text-anchor": "middle" };
      add("text", { ...anchor, class: chosen ? "now" : "", y: high - bottom + 20 }, text(data.axes[0].ticks[n]));
      add("text", { ...anchor, class: chosen ? "now" : "soft", y: high - bottom + 40 }, told(each, "hosts"));
      if (here[n]) add("circle", { class: chosen ? "chosen" : "dot", cx: x(n), cy: here[n].y, r: chosen ? 7 : 3.5 });
      else add("text", { ...anchor, class: "refused", y: y(0) - 6 }, "\u00d7");
      const column = shape("rect", { class: "column", x: x(n) - step / 2, y: 0, width: step, height: high });
      column.addEventListener("click", () => {
        sliders[0].value = n;
        show();
      });
      svg.append(column);
    });
    const now = here[at[0]];
    if (now) {
      const side = at[0] > count / 2 ? "end" : "start";
      const beside = side === "end" ? 10 : -10;
      add("text", { class: "now", x: now.x + beside, y: Math.max(14, now.high - 8), "text-anchor": side }, told(at, "cost"));
    }
    byId("chart-words").textContent = along(at)
      .map((each, n) => `${text(data.axes[0].readouts[n])}: ${told(each, "cost")}`).join("; ");
  }

  for (const slider of sliders) slider.addEventListener("input", show);
  byId("back").addEventListener("click", () => {
    sliders.forEach((slider, n) => {
      slider.value = own[n];
    });
    sliders[0].focus();
    show();
  });
  byId("print").addEventListener("click", () => window.print());
  byId("print").hidden = false;
  window.addEventListener("resize", () => draw());
  window.addEventListener("beforeprint", () => draw(PAPER));
  window.addEventListener("afterprint", () => draw());
  show();
})();
