// What the loss of each single host does.
export default drawn((data, send) => {
  if (!data.rows?.length) return null;
  return h("div", { class: `gp-card${data.stale ? " gp-stale" : ""}` }, h("h2", {}, "Every single failure"),
    h("table", { class: "gp-table" },
      h("thead", {}, h("tr", {}, ["Lost", "Restart", "Move", "Not placed"].map((t, i) => h("th", { class: i ? "n" : "" }, t)))),
      h("tbody", {}, data.rows.map((r) => h("tr", {}, h("td", {}, r.hosts), h("td", { class: "n" }, h("button", { type: "button", class: "gp-link", "data-at": r.key, "aria-label": `Why ${r.restarted} VMs, ${r.hosts}?`, onclick: () => send("why", { key: r.key }) }, r.restarted)), h("td", { class: "n" }, r.moved),
        h("td", { class: r.tone ? "n gp-bad" : "n" }, r.unplaced))))),
    data.more ? h("p", { class: "gp-small" }, `and ${data.more} more rows`) : null);
});
