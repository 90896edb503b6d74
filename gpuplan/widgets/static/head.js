// The head of a step: its message in one sentence, its tabs, and a hint until it was closed once in this browser. Arrow keys go from tab to tab.
const HINTS = "gpuplan-hints";
const closed = new Set();
const isClosed = (step) => {
  try {
    return closed.has(step) || JSON.parse(localStorage.getItem(HINTS))?.includes?.(step) === true;
  } catch {
    return false;
  }
};
function close(step) {
  closed.add(step);
  try {
    const before = JSON.parse(localStorage.getItem(HINTS));
    localStorage.setItem(HINTS, JSON.stringify([...new Set([...(Array.isArray(before) ? before : []), step])]));
  } catch {
    try { localStorage.setItem(HINTS, JSON.stringify([...closed])); } catch { /* no storage: it stays closed on this page */ }
  }
}

export default drawn((data, send, model) => {
  if (!data.tabs) return null;
  const hint = data.hint && data.tab === data.tabs[0].name && window.gpuplan && !isClosed(data.step) ? h("p", { class: "gp-hint" }, data.hint,
    h("button", { type: "button", class: "gp-icon", "data-at": "close-hint", "aria-label": "Do not show this hint again", onclick: () => {
      close(data.step);
      model.draw();
      document.querySelector(".gp-tabs [aria-selected=true]")?.focus();
    } }, "\u00d7")) : null;
  const open = (tab) => send("tab", { step: data.step, tab });
  return [
    h("div", { class: "gp-head", "data-step": data.step }, h("h1", { class: data.stale ? "gp-stale" : "" }, data.sentence), data.about ? h("p", {}, data.about) : null, hint,
      data.assumed ? h("button", { type: "button", class: "gp-assumed-count", "data-at": "assumed", title: "Show all assumptions", onclick: () => { send("tab", { step: "design", tab: "values" }); send("go", { step: "design" }); } },
        h("i", { class: "gp-dot", "aria-hidden": "true" }), data.assumed) : null),
    data.tabs.length > 1 ? h("div", { class: "gp-tab-row" }, h("div", { class: "gp-tabs", role: "tablist", "aria-label": `Parts of ${data.title}` },
      data.tabs.map((t) => h("button", { type: "button", role: "tab", "data-at": `tab-${t.name}`, "aria-selected": String(t.name === data.tab), onclick: () => open(t.name) },
        t.title, t.badge ? h("span", { class: "gp-tab-badge" }, t.badge) : null, wrongMark(t.error))))) : null,
    data.nothing ? h("p", { class: "gp-card gp-said" }, data.nothing) : null,
  ];
}, (el) => {
  roving(el.querySelector(".gp-tabs"), true);
  const tabs = el.querySelector(".gp-tabs"), chosen = tabs?.querySelector("[aria-selected=true]");
  if (chosen) tabs.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - tabs.offsetLeft - tabs.clientWidth);
});
