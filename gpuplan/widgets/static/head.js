// The head of a step: its message in one sentence, and its tabs. Arrow keys go from tab to tab.
export default drawn((data, send) => {
  if (!data.tabs) return null;
  const open = (tab) => send("tab", { step: data.step, tab });
  return [
    h("div", { class: "gp-head", "data-step": data.step }, h("h1", {}, data.sentence), data.about ? h("p", {}, data.about) : null),
    data.tabs.length > 1 ? h("div", { class: "gp-tabs", role: "tablist", "aria-label": `Parts of ${data.title}` },
      data.tabs.map((t) => h("button", { type: "button", role: "tab", "data-at": `tab-${t.name}`, "aria-selected": String(t.name === data.tab), onclick: () => open(t.name) },
        t.title, t.wrong ? h("span", { class: "gp-tab-badge gp-bad" }, "error") : t.badge ? h("span", { class: "gp-tab-badge" }, t.badge) : null))) : null,
  ];
}, (el) => roving(el.querySelector(".gp-tabs"), true));
