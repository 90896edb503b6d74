// A grid of real inputs with a row for each group, or for each entry of a list, under a title or folded. Rows are kept, so that
// typing is never interrupted.
export default {
  render({ model, el }) {
    const send = sender(model);
    const { fold, title, heads, head: first = "Workload", file } = model.get("data");
    const span = heads.length;
    const rows = new Map();
    const head = h("tr", {}, h("th", {}, h("span", { class: "gp-hidden" }, "Letter")), h("th", {}, first),
      ...heads.map((c) => h("th", { title: c.question, class: `gp-col-${c.name}` }, h("abbr", { title: `${c.full}. ${c.question}` }, c.text))));
    const table = h("table", { class: "gp-grid" }, h("thead", {}, head));
    const hint = h("small");
    const details = fold ? h("details", { class: "gp-fold" }, h("summary", {}, h("b", {}, fold), hint), table, file ? fileButton(file, send) : null) : null;
    el.append(h("div", { class: "gp-card gp-wide" }, details ?? [h("h2", {}, title, hint), table]));

    function makeRow(row) {
      const cells = row.cells.map((field) => control(field, send, row.name));
      const named = (field) => field.problem ? { ...field, problem: `${field.label}: ${field.problem}` } : field;
      const mark = h("td", { class: "gp-mark" });
      const name = h("td", { class: "gp-row-name" });
      const node = h("tbody", { "data-group": row.id }, h("tr", {}, mark, name, cells.map((c, n) => h("td", { "data-label": heads[n].text }, c.node))),
        h("tr", { class: "gp-problems" }, h("td"), h("td", { colspan: span + 1 }, cells.map((c) => c.problem))));
      return { node, update(next) {
        mark.replaceChildren(next.letter ? chip(next.letter, next.colour) : "");
        cells.forEach((cell, i) => {
          cell.update(named(next.cells[i]));
          cell.input.setAttribute("aria-label", `${next.cells[i].label}, ${next.name}`);
          cell.input.title = next.cells[i].question;
        });
        name.replaceChildren(...[breakable(next.name)].flat());
      } };
    }
    function draw() {
      const data = model.get("data");
      if (!data.rows) return;
      const alive = new Set(data.rows.map((r) => r.id));
      for (const [id, row] of rows) if (!alive.has(id)) { row.node.remove(); rows.delete(id); }
      let before = head.parentNode;
      data.rows.forEach((row) => {
        if (!rows.has(row.id)) rows.set(row.id, makeRow(row));
        const { node, update } = rows.get(row.id);
        update(row);
        if (before.nextSibling !== node) {
          const active = node.contains(document.activeElement) ? document.activeElement : null;
          before.after(node);
          active?.focus();
        }
        before = node;
      });
      el.hidden = !data.rows.length;
      hint.textContent = data.hint;
      if (fold && data.rows.some((r) => r.cells.some((c) => c.problem))) details.open = true;
      table.classList.toggle("gp-old", data.stale);
    }
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
