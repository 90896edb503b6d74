// The heading of a step.
export default drawn((data) => data.title ? h("div", { class: "gp-head" }, h("div", {}, h("h1", {}, data.title), h("p", {}, data.text))) : null);
