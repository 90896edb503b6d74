// The fabric as a drawing: spines above, pairs of leaves below them, the hosts under their pair. Widths of lines follow
// the number of links; what is too many to draw is said in words.
const LEFT = 158, WIDTH = 1000, BOX = 34;

const words = (x, y, text, kind = "", anchor = "middle") => svg("text", { x, y, "text-anchor": anchor, class: kind }, text);
const line = (x1, y1, x2, y2, links, kind) => svg("line", { x1, y1, x2, y2, "stroke-width": Math.min(7, 1 + Math.log2(Math.max(1, links))), class: kind });
const box = (x, y, width, height, kind) => svg("rect", { x: x - width / 2, y, width, height, rx: 5, class: kind });

// Places of so many things side by side.
const spread = (count, from, to) => Array.from({ length: count }, (_, at) => from + ((to - from) * (at + 0.5)) / count);

// The name of a row at the left, in lines.
const rowName = (y, count, ...rest) => [words(0, y, count, "gp-f-strong", "start"),
  rest.filter(Boolean).map((text, at) => words(0, y + 16 * (at + 1), text, "gp-f-soft", "start"))];

function fabric(data) {
  const { spines, leaves, peer, hosts } = data;
  const top = spines.count ? 8 : -104;
  const leafY = top + 116, hostY = leafY + 118, names = [...hosts.text, ...hosts.ports];
  const end = hostY + Math.max(hosts.rdma || hosts.apart ? 92 : 66, 14 + 16 * names.length);
  const pairs = Math.ceil(leaves.drawn / 2);
  const right = leaves.count > leaves.drawn || spines.count > spines.drawn ? WIDTH - 84 : WIDTH;
  const spineX = spread(spines.drawn, LEFT, right);
  const pairX = spread(pairs, LEFT, right);
  const cell = (right - LEFT) / Math.max(1, pairs);
  const gap = Math.min(170, cell / 4), leafBox = Math.min(150, cell / 2 - 10);
  const leafX = pairX.flatMap((x) => [x - gap, x + gap]);
  const lines = [], boxes = [], labels = [];

  for (const leaf of leafX) for (const spine of spineX) lines.push(line(spine, top + BOX, leaf, leafY, spines.links, "gp-f-up"));
  spineX.forEach((x, at) => boxes.push(box(x, top, Math.min(130, (right - LEFT) / spines.drawn - 8), BOX, "gp-f-spine"), words(x, top + 22, `Spine ${at + 1}`)));
  leafX.forEach((x, at) => {
    const side = at % 2 ? "B" : "A";
    boxes.push(box(x, leafY, leafBox, BOX, "gp-f-leaf"), words(x, leafY + 22, pairs > 1 ? `Leaf ${Math.floor(at / 2) + 1}${side}` : `Leaf ${side}`));
  });
  if (spines.count) {
    labels.push(rowName(top + 14, `${spines.count} ${spines.count === 1 ? "spine" : "spines"}`, spines.name, spines.count > spines.drawn ? `${spines.drawn} drawn` : null),
      words(0, top + 74, spines.text, "gp-f-strong", "start"), words(0, top + 90, "each leaf to each spine", "gp-f-soft", "start"));
  }
  labels.push(rowName(leafY + 14, `${leaves.count} leaves`, leaves.name, leaves.count > leaves.drawn ? `${leaves.drawn} drawn` : null));
  pairX.forEach((x) => {
    if (peer.links) {
      lines.push(line(x - gap, leafY + BOX / 2, x + gap, leafY + BOX / 2, peer.links, "gp-f-up"));
      labels.push(words(x, leafY + 10, peer.text, "gp-f-strong"));
    }
    // One RDMA port of a host is on the first leaf of its pair.
    for (const [side, at] of [[-1, x - gap], [1, x + gap]]) {
      lines.push(line(x + side * (hosts.rdma ? 34 : 20), hostY, at, leafY + BOX, hosts.links, "gp-f-down"));
      if (hosts.rdma > 1 || (hosts.rdma && side < 0)) lines.push(line(x + side * 10, hostY, at - side * 24, leafY + BOX, 1, "gp-f-rdma"));
    }
    const width = Math.min(cell - 12, 360);
    boxes.push(box(x, hostY + 8, width - 8, 46, "gp-f-behind"), box(x, hostY + 4, width - 4, 46, "gp-f-behind"), box(x, hostY, width, 46, "gp-f-host"), words(x, hostY + 28, hosts.pair));
  });
  labels.push(rowName(hostY + 14, ...names));
  if (right < WIDTH) {
    if (leaves.count > leaves.drawn) labels.push(words(WIDTH, leafY + 22, `${leaves.count - leaves.drawn} more`, "gp-f-soft", "end"));
    if (spines.count > spines.drawn) labels.push(words(WIDTH, top + 22, `${spines.count - spines.drawn} more`, "gp-f-soft", "end"));
  }
  if (hosts.rdma) {
    const y = hostY + 76;
    labels.push(line(LEFT, y - 4, LEFT + 34, y - 4, 2, "gp-f-down"), words(LEFT + 42, y, "shared ports, teamed", "gp-f-soft", "start"),
      line(LEFT + 210, y - 4, LEFT + 244, y - 4, 2, "gp-f-rdma"), words(LEFT + 252, y, "RDMA ports, each on its own distributed switch", "gp-f-soft", "start"));
  }
  if (hosts.apart) labels.push(words(LEFT, hostY + 80, hosts.apart, "gp-f-soft", "start"));
  return svg("svg", { class: "gp-fabric", viewBox: `0 0 ${WIDTH} ${end}`, role: "img", "aria-label": data.about }, lines, boxes, labels);
}

export default drawn((data) => data.shown ? h("div", { class: `gp-fabric-box${data.stale ? " gp-stale" : ""}` },
  data.fabrics.map((each) => [each.name ? h("h3", {}, each.name) : null, fabric(each)])) : null);
