// The hosts with who is on which GPU. Click a host to fail it; click again to bring it back.
function gpu(g) {
  const parts = g.parts.map((p) => h("i", { class: `gp-c${p.colour}`, style: `flex:${p.weight}` }, p.letter));
  const crowded = g.parts.length > 5;
  return h("span", { class: `gp-gpu${g.joined ? " joined" : ""}${crowded ? " crowded" : ""}`, title: g.title },
    parts, g.free ? h("i", { class: "gp-free", style: `flex:${g.free}` }) : null);
}

function table(verdict) {
  if (!verdict.groups.length) return null;
  return h("table", { class: "gp-table" },
    h("thead", {}, h("tr", {}, ["Group", "Keeps running", "Restarts", "Must move", "Not placed"].map((t, i) => h("th", { class: i ? "n" : "" }, t)))),
    h("tbody", {}, verdict.groups.map((g) => h("tr", { title: g.how },
      h("td", {}, g.name), h("td", { class: "n" }, g.keeps ?? "\u2013"), h("td", { class: "n" }, g.restarts), h("td", { class: "n" }, g.moves),
      h("td", { class: g.missing ? "n gp-bad" : "n" }, g.missing)))));
}

export default drawn((data, send) => {
  if (!data.pools) return null;
  if (!data.pools.length) {
    return h("div", { class: "gp-card gp-empty" }, h("p", {}, "No hosts yet: nobody asks for a GPU."),
      h("p", {}, h("button", { type: "button", class: "gp-primary", onclick: () => send("go", { step: "usecases" }) }, "Add a group")));
  }
  return h("div", { class: `gp-card${data.stale ? " gp-stale" : ""}` },
    data.pools.map((pool) => h("section", { class: "gp-pool" },
      h("h2", {}, pool.name, h("small", {}, pool.about),
        data.any_failed ? h("button", { type: "button", class: "gp-link", "data-at": "restore", onclick: () => send("restore-hosts") }, "bring all hosts back")
          : h("small", { class: "gp-tip" }, "click a host to fail it")),
      h("div", { class: `gp-hosts gp-per${Math.min(pool.gpus_per_host, 16) > 4 ? 8 : 4}` }, pool.hosts.map((host) => h("button", {
        type: "button", class: `gp-host ${host.state}`, "aria-pressed": String(host.state === "failed"), "data-at": `${pool.id}-${host.number}`,
        "aria-label": `Host ${host.number}, ${host.word}: ${host.gpus.map((g) => g.title).join("; ")}`,
        onclick: () => send("fail", { pool: pool.id, host: host.number }),
      }, h("span", { class: "gp-host-head" }, h("b", {}, `Host ${host.number}`), h("span", {}, host.word)),
        h("span", { class: "gp-gpus" }, host.gpus.map(gpu))))),
      pool.more ? h("p", { class: "gp-small" }, `and ${pool.more} more hosts`) : null,
      h("p", { class: `gp-verdict gp-${pool.verdict.tone}`, role: "status" }, h("b", {}, pool.verdict.lead), " ", pool.verdict.text, " ",
        h("button", { type: "button", class: "gp-link", "data-at": `${pool.id}-why`, onclick: () => send("why", { key: `pools.${pool.id}.hosts_for_demand` }) }, "Proof")),
      table(pool.verdict))),
    h("ul", { class: "gp-legend" }, data.legend.map((g) => h("li", {}, chip(g.letter, g.colour), h("b", {}, g.name), h("em", {}, g.about)))));
});
