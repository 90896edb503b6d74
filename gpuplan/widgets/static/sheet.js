// A table with an input in some of its cells, folded or not; it takes a file with them, where there is one. Rows are kept by their id, so that typing is never interrupted.
export default {
  render({ model, el }) {
    const send = sender(model);
    const rows = new Map();
    const { fold } = model.get("data");
    const title = h(fold ? "b" : "h2", { tabindex: -1 });
    const hint = h("small");
    const said = h("div");
    const head = h("tr");
    const reveal = ({ target }) => model.reveal?.([...table.querySelectorAll("tbody")].indexOf(target.closest("tbody")));
    const table = h("table", { class: "gp-table gp-sheet", onreveal: reveal }, h("thead", {}, head));
    const tools = h("div");
    const more = h("p", { class: "gp-small" });
    const inside = [said, h("section", { class: "gp-tables" }, tools, table, more)];
    const details = fold ? h("details", { class: "gp-fold" }, h("summary", {}, title, hint), inside) : null;
    const all = takesDrops(h("div", {}, details ?? [title, inside]));

    function makeRow() {
      const line = h("tr"), problems = h("td"), cells = [];
      const node = h("tbody", {}, line, h("tr", { class: "gp-problems" }, problems));
      function cellOf(c, at, name) { // a column, or an input in one, may come and go
        const cell = cells[at] ?? (cells[at] = { field: null, rest: h("span"), place: h("td") });
        if (!cell.place.parentNode || !c.input !== !cell.field) {
          cell.field = c.input ? control(c.input, send, name) : null;
          cell.place.replaceChildren(cell.field?.node ?? "", cell.rest);
          if (cell.place.parentNode !== line) line.append(cell.place);
          problems.replaceChildren(...cells.map((one) => one.field?.problem ?? ""));
        }
        return cell;
      }
      return { node, update(next) {
        next.cells.forEach((c, at) => {
          const { field, rest, place } = cellOf(c, at, next.name);
          field?.update(c.input);
          place.className = cellStyle(c);
          place.title = c.title ?? "";
          redraw(rest, cellContent(c, next.cells, send));
        });
        for (const { place } of cells.splice(next.cells.length)) place.remove();
        problems.colSpan = cells.length;
      } };
    }
    function draw() {
      const data = model.get("data");
      if (!data.shown) return el.replaceChildren();
      if (all.parentNode !== el) el.replaceChildren(all);
      table.classList.toggle("gp-stale", data.stale);
      title.textContent = data.title;
      hint.textContent = data.hint;
      if (!details) title.append(hint);
      redraw(said, data.text.map((text) => h("p", { class: "gp-said" }, text)));
      const words = (row) => [row.name, ...row.cells.map((c) => cellWords(c)), ...row.cells.map((c) => c.input?.value)].join(" ");
      const many = long(model, "sheet", data.title, data.rows, words, { value: (row, n) => sortedBy(row.cells[n]), still: [...rows.values()].some((row) => row.node.contains(document.activeElement)) });
      model.reveal = many.reveal;
      redraw(tools, [many.tools, data.file ? fileButton(data.file, send) : null]);
      redraw(head, headCells(data.heads, many.head));
      table.hidden = !data.rows.length;
      more.textContent = data.more;
      const lost = table.contains(document.activeElement) ? document.activeElement : null;
      const alive = new Set(data.rows.map((row) => row.id));
      for (const [id, row] of rows) if (!alive.has(id)) { row.node.remove(); rows.delete(id); }
      let before = head.parentNode;
      for (const { row, off } of many.rows) {
        if (!rows.has(row.id)) rows.set(row.id, makeRow());
        const { node, update } = rows.get(row.id);
        update(row);
        node.className = off;
        if (before.nextSibling !== node) before.after(node);
        before = node;
      }
      if (details && data.rows.some((row) => row.cells.some((c) => c.input?.problem))) details.open = true;
      if (lost && document.activeElement !== lost && document.activeElement === document.body) {
        (lost.isConnected ? lost : title).focus({ preventScroll: true });
      }
    }
    model.draw = draw;
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
