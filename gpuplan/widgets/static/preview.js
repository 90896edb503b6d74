// The first pages of a document in a frame that is shut off: nothing in it runs, opens a window or is asked for; an empty page until it is made.
export default drawn((data) => data.page
  ? h("iframe", { class: data.old ? "gp-preview gp-old" : "gp-preview", title: "First pages of the document", sandbox: true, srcdoc: data.page })
  : h("div", { class: "gp-preview gp-paper" }, h("b", {}, data.name), h("span", {}, data.about)));
