// How many host failures to tolerate, and whether a failure during maintenance is accepted.
export default drawn((data, send) => {
  if (!data.options) return null;
  const path = data.maintenance.path;
  return h("div", { class: "gp-head" },
    h("div", {}, h("h1", {}, "Hosts and availability"), h("p", {}, "Which hosts, who is on which GPU, and what keeps running when a host is lost.")),
    h("div", { class: "gp-posture-row" },
      h("label", { class: "gp-inline", title: data.maintenance.question },
        h("input", { type: "checkbox", checked: data.maintenance.value, "data-at": path, onchange: (e) => send("set", { path, value: e.target.checked, live: false }) }),
        data.maintenance.label),
      h("div", { class: "gp-segments", role: "radiogroup", "aria-label": "Host failures to tolerate", title: data.question },
        data.options.map((o) => h("button", {
          type: "button", role: "radio", "aria-checked": String(o.value === data.value), class: o.value === data.value ? "on" : "",
          "data-at": `n${o.value}`, onclick: () => send("set", { path: data.path, value: String(o.value), live: false }),
        }, o.text)))));
});
