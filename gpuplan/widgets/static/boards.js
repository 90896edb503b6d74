// Boards for the same work, a card each: what its design takes, what one GPU does, and what sets it apart. A board that cannot is grey, with its reason.
const bar = (b) => h("div", { class: `gp-board-bar${b.basis ? " gp-board-assumed" : ""}`, title: b.title },
  h("span", {}, b.label), h("span", { class: "gp-board-text" }, b.text, b.basis ? [" ", h("i", { class: "gp-dot", role: "img", "aria-label": b.basis, title: b.basis })] : null),
  h("i", { class: "gp-board-track" }, h("i", { style: `width: ${Math.max(1, 100 * b.share)}%` })));

export default drawn((data, send) => {
  if (!data.shown) return null;
  const card = (c) => h("li", { class: `gp-board${c.bars.length ? "" : " gp-cannot"}${c.now ? " on" : ""}`, "data-at": `board-${c.gpu}` },
    h("h3", {}, c.name, c.best ? [" ", h("b", { class: "gp-tag" }, c.best)] : null),
    h("p", { class: "gp-board-hosts" }, h("b", {}, c.hosts)),
    c.design ? h("p", { class: "gp-small" }, c.design) : null,
    c.bars.map(bar),
    c.works.length ? [h("h4", {}, "Work of one GPU"), c.works.map(bar)] : null,
    c.told.map((text) => h("p", { class: "gp-small gp-board-told" }, text)),
    c.use ? h("button", { type: "button", class: "gp-act", "data-at": `use-board-${c.gpu}`, "aria-label": `${c.use} ${c.name}`, onclick: () => send("use-board", { gpu: c.gpu }) }, c.use) : null);
  return h("ul", { class: `gp-boards${data.old ? " gp-stale" : ""}` }, data.cards.map(card));
});
