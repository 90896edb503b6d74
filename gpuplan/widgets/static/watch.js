// VMs arrive one by one on the picture of the hosts: the controls, and what becomes of the VM that was powered on last.
const PLAY = "M4 2 L14 8 L4 14 Z", PAUSE = "M3 2 H6.5 V14 H3 Z M9.5 2 H13 V14 H9.5 Z";

export default {
  render({ model, el }) {
    const send = sender(model), data = () => model.get("data");
    let timer;             // set while it plays
    let shown = data().shown;
    let asked, wanted;     // the place that is on its way, and the one that is wanted: of those between, none is drawn
    let hand;              // what the slider says of itself, if it was moved there
    const stop = () => { clearTimeout(timer); timer = undefined; };
    const ask = (at, held) => {
      if (at === data().at && asked === undefined) return;
      [wanted, hand] = [at, held];
      if (asked === undefined) send("watch-at", { value: asked = at, ...held });
    };
    const go = (at, held) => { stop(); ask(Math.min(Math.max(at, 0), data().of), held); draw(); };
    const next = () => { timer = setTimeout(() => ask(data().at + 1), data().step_ms); };
    const toggle = () => {
      if (timer !== undefined) stop();
      else if (data().at < data().of) next();
      else { timer = 0; ask(0); }
      draw();
    };
    const change = (what, value, held) => { stop(); send(`watch-${what}`, { value, ...held }); };
    const button = (at, sign, name, act, off) => h("button", { type: "button", "data-at": at, "data-else": "watch-play", "aria-label": name, title: name, disabled: off, onclick: act }, sign);
    const choose = (s) => menu(s, (_, { what, value, ...held }) => change(what, value, held), model, `watch-${s.what}`);
    function view(w) {
      const at = wanted ?? w.at, playing = timer !== undefined;
      return h("div", { class: `gp-card${w.stale ? " gp-stale" : ""}` },
        h("div", { class: "gp-tools gp-player" },
          h("b", {}, w.title), w.selects.map(choose),
          w.another ? h("button", { type: "button", "data-at": "watch-another", onclick: () => change("seed", w.another) }, "Another") : null,
          h("button", { type: "button", class: "gp-restore", "data-at": "watch-leave", onclick: () => { stop(); send("stop-watching", { pool: w.pool }); } }, "Back to the plan")),
        h("div", { class: "gp-tools gp-player" },
          h("div", { class: "gp-segments", role: "group", "aria-label": "Power-on" },
            button("watch-first", "\u00ab", "First", () => go(0), at === 0), button("watch-back", "\u2039", "Back", () => go(at - 1), at === 0),
            button("watch-play", svg("svg", { viewBox: "0 0 16 16", width: 12, height: 12, fill: "currentColor" }, svg("path", { d: playing ? PAUSE : PLAY })), playing ? "Pause" : "Play", toggle, w.of === 0),
            button("watch-on", "\u203a", "Forward", () => go(at + 1), at === w.of), button("watch-last", "\u00bb", "Last", () => go(w.of), at === w.of)),
          h("div", { class: "gp-slide" }, h("span", {}, w.label),
            w.sliders.map((s) => s.input ? slot(model, s, { key: "watch-slider", name: w.title, words: w.label }, go) : null))),
        h("p", { class: `gp-verdict gp-arrival gp-${w.tone}`, role: "status" }, h("b", {}, w.lead), " ", w.text),
        h("p", { class: "gp-small" }, w.result, w.refused.map((r) => [" ", h("button", { type: "button", class: "gp-link", "data-at": `watch-to-${r.at}`, onclick: () => go(r.at) }, r.text)])));
    }
    function draw() {
      redraw(el, data().shown ? view(data()) : []);
    }
    // What was asked for is there: then another place that was wanted meanwhile, or the next one.
    function arrived() {
      const w = data();
      if (!w.shown) { stop(); asked = wanted = undefined; }
      const more = asked !== undefined && wanted !== asked;
      asked = undefined;
      if (more) ask(wanted, hand);
      else {
        wanted = undefined;
        if (timer !== undefined && w.at < w.of) next();
        else stop();
      }
      draw();
      if (w.shown && !shown) {  // what was pressed is gone: the controls are looked at
        el.querySelector('[data-at="watch-play"]').focus({ preventScroll: true });
        el.closest(".gp-main")?.scrollIntoView({ block: "start" });
      }
      shown = w.shown;
    }
    model.on("change:data", arrived);
    draw();
    return () => { stop(); model.off("change:data", arrived); };
  },
};
