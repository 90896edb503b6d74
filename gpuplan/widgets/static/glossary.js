// Terms of the field. Each is marked where it stands first in the texts of a tab, and under the pointer it says what it means. The marks are
// painted over the page's own elements, which stay as they are: nothing moves, and the Tab key finds nothing new. The drawer lists all terms.
const ROOTS = [".gp-work", ".gp-drawer"];  // each has its own first places
const NO_TEXT = new Set(["BUTTON", "SELECT", "TEXTAREA", "LABEL", "A", "svg", "CITE"]);
const NO_PART = ["gp-off", "gp-hosts", "gp-tabs", "gp-hint", "gp-tag", "gp-chart", "gp-problem", "gp-formula", "gp-function", "gp-terms"];
const SOON = 200, STAY = 120;  // ms until a meaning appears, and until it goes while the pointer may be on its way to it

// What finds terms in a text. A spelling with a capital letter is meant as it is written; of two that begin alike, the longer one counts.
function finder(terms) {
  const spelt = new Map(terms.flatMap((term) => term.names.map((each) => [each.toLowerCase(), { term, exact: each !== each.toLowerCase() && each }])));
  const longest = [...spelt.keys()].sort((one, other) => other.length - one.length).map((each) => RegExp.escape?.(each) ?? each.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  const any = new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${longest.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return (text) => [...text.matchAll(any)].flatMap(({ 0: word, index }) => {
    const { term, exact } = spelt.get(word.toLowerCase());
    return exact && exact !== word ? [] : [{ term, from: index, to: index + word.length }];
  });
}

// Looks through what can be read on the screen, in its order.
function read(node, look) {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.TEXT_NODE) look(child);
    else if (child.nodeType === Node.ELEMENT_NODE && !child.hidden && !NO_PART.some((each) => child.classList.contains(each))
      && (!NO_TEXT.has(child.nodeName) || child.classList.contains("gp-sort")) && !(node.nodeName === "DETAILS" && !node.open && child.nodeName !== "SUMMARY")) read(child, look);
  }
}

export default {
  render({ model, el }) {
    const terms = globalThis.gpuplanTerms = model.get("data").terms;  // the drawer lists them
    const tip = h("div", { class: "gp-tip", role: "tooltip", hidden: true });
    el.append(tip);
    if (!globalThis.CSS?.highlights) return undefined;  // an older browser has the list
    const find = finder(terms), known = new WeakMap(), painted = new Highlight();
    CSS.highlights.set("gp-term", painted);
    let marks = [], waiting = 0, shown = null, under = null, timer = 0;

    function mark() {
      waiting = 0;
      const now = [];
      for (const root of ROOTS.flatMap((each) => [...document.querySelectorAll(each)])) {
        const seen = new Set();
        read(root, (node) => {
          let found = known.get(node);
          if (found?.text !== node.data) known.set(node, found = { text: node.data, terms: find(node.data) });
          for (const each of found.terms) if (!seen.has(each.term) && node.parentNode.checkVisibility()) { seen.add(each.term); now.push({ ...each, node }); }
        });
      }
      if (now.length === marks.length && now.every((each, at) => ["node", "from", "to"].every((name) => each[name] === marks[at][name]))) return;
      marks = now;
      painted.clear();
      for (const { node, from, to } of marks) painted.add(new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to }));
      hide();
    }
    const places = ({ node, from, to }) => {
      const range = document.createRange();
      range.setStart(node, Math.min(from, node.length));
      range.setEnd(node, Math.min(to, node.length));
      return [...range.getClientRects()];
    };
    function hide() {
      clearTimeout(timer);
      tip.hidden = true;
      shown = under = null;
    }
    function show(mark, x) {
      const rects = places(mark), at = rects.find(({ left, right }) => left <= x && x <= right) ?? rects[0];
      if (!at) return hide();
      shown = mark;
      tip.replaceChildren(h("b", {}, mark.term.term), h("span", {}, mark.term.meaning));
      tip.hidden = false;
      const zoom = tip.currentCSSZoom ?? 1, { width, height } = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8)) / zoom}px`;
      tip.style.top = `${(at.bottom + height + 8 > innerHeight ? at.top - height - 2 : at.bottom + 2) / zoom}px`;
    }
    // The pointer may go on to the meaning.
    function over({ target, clientX: x, clientY: y }) {
      const inside = ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom;
      const now = tip.contains(target) ? shown : marks.find((each) => each.node.parentNode === target && places(each).some(inside)) ?? null;
      if (now === under) return;
      under = now;
      clearTimeout(timer);
      if (now !== shown) timer = setTimeout(now ? () => show(now, x) : hide, now ? SOON : STAY);
    }
    const escape = (event) => { if (event.key === "Escape" && shown) { hide(); event.stopImmediatePropagation(); } };
    const changed = new MutationObserver(() => { waiting ||= requestAnimationFrame(mark); });
    changed.observe(document.body, { childList: true, characterData: true, subtree: true, attributeFilter: ["class", "hidden", "open"] });
    const listened = [["mousemove", over], ["scroll", hide], ["pointerdown", hide], ["keydown", escape]];
    for (const [type, act] of listened) document.addEventListener(type, act, { capture: true, passive: true });
    mark();
    return () => {
      changed.disconnect();
      cancelAnimationFrame(waiting);
      clearTimeout(timer);
      CSS.highlights.delete("gp-term");
      for (const [type, act] of listened) document.removeEventListener(type, act, true);
    };
  },
};
