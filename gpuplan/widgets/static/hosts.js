// The hosts with who is on which GPU: large, small, or one tile for all that are alike. A click takes a host down.
const SIGNS = { failed: "\u2715", maintenance: "\u2016", landing: "+", spare: "\u25cb", stuck: "!" };

// Clusters that are chosen by a button each; more are a list.
const MOST_BUTTONS = 16;

function gpu(g) {
  const parts = g.parts.map((p) => h("i", { class: `gp-${p.gap ?? `c${p.colour}`}${p.new ? " new" : ""}`, style: `flex:${p.weight}` }, p.text));
  return h("span", { class: `gp-gpu${g.new ? " new" : ""}${g.stuck ? " stuck" : ""}`, title: g.title }, parts,
    g.free ? h("i", { class: "gp-free", style: `flex:${g.free}` }) : null, g.rest ? h("i", { class: "gp-rest", style: `flex:${g.rest}` }) : null);
}

function tile(pool, host, send) {
  const kinds = pool.zoom === "kinds";
  const down = host.state === "failed" || host.state === "maintenance";
  const content = [h("span", { class: "gp-host-head" }, h("b", {}, host.head), h("span", {}, pool.zoom === "compact" ? SIGNS[host.state] ?? "" : host.short ?? host.word)),
    h("span", { class: "gp-gpus" }, host.gpus.map(gpu))];
  if (!pool.verdict) return h("div", { class: `gp-host ${host.state}`, role: "img", title: host.title, "aria-label": host.name }, content);  // VMs arrive: nothing to click
  const made = h("button", {
    type: "button", class: `gp-host ${host.state}${kinds && down && !host.all_down ? " some" : ""}`, title: host.title,
    "aria-pressed": kinds ? undefined : String(down), "aria-label": host.name, disabled: !host.number,
    "data-at": `${pool.id}-${host.at}`, onclick: () => send("fail", { pool: pool.id, host: host.number }),
  }, content);
  if (!kinds) return made;
  const at = `${pool.id}-${host.at}`;
  return h("div", { class: "gp-kind" }, made, host.back ? h("button", {
    type: "button", class: "gp-link gp-back", title: `Host ${host.back}`, "aria-label": `bring one back: host ${host.back}`, "data-at": `${at}-back`, "data-else": at,
    onclick: () => send("bring-back", { pool: pool.id, host: host.back }) }, "Bring one back") : null);
}

// Hosts of a row, so that all rows have the same number as far as they can.
const even = (hosts, most) => Math.ceil(hosts / Math.ceil(hosts / most));

const legend = (groups, first) => h("ul", { class: "gp-legend" }, first ? h("li", {}, first) : null, groups.map((g) => h("li", {}, chip(g.letter, g.colour), h("b", {}, g.name), h("em", {}, g.about))));

function section(pool, data, send, model, one) {
  const of = one ? "" : `: ${pool.name}`;
  const worst = ({ lost, text, name }) => h("button", { type: "button", class: "gp-link", "aria-label": name + of, "data-at": `${pool.id}-worst-${lost}`,
    onclick: () => send("worst", { pool: pool.id, lost }) }, text);
  const v = pool.verdict, touched = new Set(v?.rows.map(([{ chip: [letter] }]) => letter)), others = pool.legend.filter((g) => !touched.has(g.letter));
  return h("section", { class: "gp-pool" },
    h("h2", {}, pool.name, h("small", {}, pool.worst.beside ? "" : pool.about), h("span", { class: "gp-worst" }, pool.worst.beside && pool.worst.buttons.length ? h("span", {}, `${pool.worst.beside}:`) : null, pool.worst.buttons.map(worst))),
    h("div", { class: `gp-hosts gp-${pool.zoom}${pool.wide ? " gp-wide8" : ""}`, style: `--short-row: ${even(pool.hosts.length, pool.wide ? 3 : 5)}; --long-row: ${even(pool.hosts.length, 5)}` }, pool.hosts.map((host) => tile(pool, host, send))),
    pool.more ? h("p", { class: "gp-small" }, `and ${pool.more} more kinds of hosts`) : null,
    pool.zoom === "compact" ? h("p", { class: "gp-small gp-signs" }, Object.entries(pool.signs ?? (v ? { failed: "failed", maintenance: "in maintenance", landing: "gets VMs", spare: "failover" } : { landing: "gets a VM", spare: "empty" }))
      .map(([state, word]) => h("span", {}, h("b", { "aria-hidden": "true" }, SIGNS[state]), ` ${word}`))) : null,
    touched.size ? null : legend(others),
    v ? h("p", { class: `gp-verdict gp-${v.tone}`, role: "status" }, h("b", {}, v.lead), " ", v.text, " ",
      h("button", { type: "button", class: "gp-link", "data-at": `${pool.id}-why`, onclick: () => send("why", { key: `pools.${pool.id}.hosts_for_demand` }) }, "Proof")) : null,
    pool.power_on || pool.watch ? h("p", { class: "gp-verdict" }, pool.power_on, " ",
      pool.watch ? h("button", { type: "button", class: "gp-link", "aria-label": `Watch it${of}`, "data-at": `${pool.id}-watch`, onclick: () => send("watch", { pool: pool.id }) }, "Watch") : null) : null,
    v?.rows.length ? tables([{ ...v, key: pool.id }], send, model) : null,
    touched.size ? legend(others, v.rest) : null);
}

export default drawn((data, send, model) => {
  if (!data.pools) return null;
  if (!data.pools.length) {
    return h("div", { class: "gp-card gp-empty" }, h("p", {}, "Hosts appear here once there are workloads."),
      h("p", {}, h("button", { type: "button", class: "gp-primary", onclick: () => send("go", { step: "usecases" }) }, "Add a workload")));
  }
  const mode = (what, text) => h("button", { type: "button", class: data.click === what ? "on" : "", "aria-pressed": String(data.click === what),
    "data-at": `click-${what}`, onclick: () => send("click", { what }) }, text);
  return h("div", { class: `gp-card${data.stale ? " gp-stale" : ""}` },
    data.watched ? null : h("div", { class: "gp-tools" },
      h("span", { class: "gp-small", id: "gp-click" }, "Click a host to:"),
      h("div", { class: "gp-segments", role: "group", "aria-labelledby": "gp-click" }, mode("fail", "Fail"), mode("maintain", "Maintenance")),
      h("button", { type: "button", class: "gp-restore", "data-at": "restore", disabled: !data.any_down, onclick: () => send("restore-hosts") }, "Restore all")),
    data.clusters.length > MOST_BUTTONS ? h("label", { class: "gp-look" }, "Cluster", h("select", { "data-at": "look-cluster",
      onchange: (event) => send("look", { what: "cluster", value: event.target.value }) },
    data.clusters.map((c) => h("option", { value: c.id, selected: c.on }, c.name)))) : null,
    data.clusters.length && data.clusters.length <= MOST_BUTTONS ? h("div", { class: "gp-tools" }, h("span", { class: "gp-small", id: "gp-cluster" }, "Cluster"),
      h("div", { class: "gp-segments gp-clusters", role: "group", "aria-labelledby": "gp-cluster" }, data.clusters.map((c) => h("button", {
        type: "button", class: `${c.on ? "on" : ""} ${c.state}`, "aria-pressed": String(c.on), title: c.name, "aria-label": c.name, "data-at": `cluster-${c.id}`,
        onclick: () => send("look", { what: "cluster", value: c.id }) }, c.text, c.state ? ` ${SIGNS[c.state]}` : "")))) : null,
    data.pools.map((pool) => section(pool, data, send, model, data.pools.length === 1 && !data.clusters.length)));
});
