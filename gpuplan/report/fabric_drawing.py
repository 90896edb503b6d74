"""Drawing of the fabric: spines, leaves in pairs and hosts, with the links between them."""

from collections.abc import Iterable

from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.switches import Kind, Switches
from gpuplan.report.drawing import LINE, OKABE_ITO, PALE, SOFT, WIDTH, Area, Drawing, text_width, wrapped
from gpuplan.wording import amount, capital, number, said

MOST_SWITCHES = 6
"""Most spines, and most leaves, that are drawn individually."""
MOST_FABRICS = 4
SIDE = 192


def fabric_svg(plan: Plan) -> str | None:
    """Spines, leaves and hosts with the links between them, fabric by fabric; None where there are no hosts or no switches."""
    cabling = plan.cabling
    if cabling is None or cabling.switches is None:
        return None
    switches, drawing, y = cabling.switches, Drawing(), 0.0
    infiniband = plan.scenario.network.transport == "infiniband"
    kinds = switches.kinds
    for kind in kinds[:MOST_FABRICS]:
        y = _Fabric(drawing, cabling, switches, kind, infiniband=infiniband).drawn(y)
    y = _key(drawing, cabling, y, infiniband=infiniband)
    if left := sum(kind.fabrics for kind in kinds[MOST_FABRICS:]):
        drawing.text(0, y + 14, said("drawing.fabric.more", fabrics=left), fill=SOFT)
        y += LINE
    total, hosts = switches.total, cabling.gpu_hosts
    leaves = said("drawing.fabric.leaves", leaves=total.leaves, where=switches.where)
    key = "drawing.fabric.about" if total.spines else "drawing.fabric.about without spines"
    return drawing.svg(y, said(key, spines=total.spines, leaves=leaves, hosts=hosts))


class _Fabric:
    """A fabric in three rows, each labelled at its left: spines, leaves in pairs, hosts."""

    def __init__(
        self, drawing: Drawing, found: Cabling, switches: Switches, kind: Kind, *, infiniband: bool
    ) -> None:
        self.drawing, self.found, self.switches = drawing, found, switches
        self.kind, self.hosts, self.shape = kind, kind.fabric.hosts, kind.fabric.shape
        self.rdma = 0 if infiniband else found.ports.rdma
        pairs = min(self.shape.leaves, MOST_SWITCHES) // 2
        self.spine_x = _spread(min(self.shape.spines, MOST_SWITCHES - 2))
        self.pair_x = _spread(pairs)
        self.cell = (WIDTH - SIDE) / pairs
        self.gap = min(120.0, self.cell / 4)
        self.one_pair = self.shape.leaves == 2

    def drawn(self, y: float) -> float:
        """Draw the fabric from a height on; return the height at which it ends."""
        shape, hosts = self.shape, amount(self.hosts.gpu_hosts, "GPU host")
        if self.kind.name:
            over = said("drawing.fabric.named", fabric=capital(self.kind.name), shape=shape)
            self.drawing.text(0, y + 14, over, bold=True, room=WIDTH)
            y += LINE + 8
        spine_y = leaf_y = y + 4.0
        if shape.spines:
            head = _head(amount(shape.spines, "spine"), shape.spines - len(self.spine_x))
            leaf_y = max(self._words(spine_y, head, self._spine_words()) + 12, spine_y + 110)
        alone = shape.leaves - 2 * len(self.pair_x)
        head = _head(said("drawing.fabric.leaves", leaves=shape.leaves, where=""), alone)
        host_y = max(self._words(leaf_y, head, self._leaf_words()) + 12, leaf_y + 110)
        self._links(spine_y, leaf_y, host_y)
        self._switches(spine_y, leaf_y)
        for x in self.pair_x:
            self._hosts(x, host_y)
        return max(self._words(host_y, hosts, self._host_words()), host_y + 60) + 8

    def _words(self, y: float, head: str, told: Iterable[str]) -> float:
        """Write the labels at the left of a row, from a height on; return the height at which they end."""
        self.drawing.text(0, y + 14, head, bold=True, room=SIDE - 8)
        lines = [line for text in told for line in wrapped(text, SIDE - 8)]
        for at, line in enumerate(lines, 1):
            self.drawing.text(0, y + 14 + LINE * at, line, room=SIDE - 8, fill=SOFT)
        return y + 14 + LINE * len(lines) + 4

    def _spine_words(self) -> Iterable[str]:
        yield self.switches.spine_name
        yield said("drawing.fabric.spine ports", ports=self.shape.spine_ports_used)
        yield said("drawing.fabric.each leaf")
        yield f"{number(self.shape.links_per_spine)} x {number(self.switches.up_gbit_s)} Gbit/s"

    def _leaf_words(self) -> Iterable[str]:
        yield self.switches.leaf_name
        yield said("drawing.fabric.leaf ports", ports=self.shape.down_ports_used)
        if not self.shape.spines:
            yield said("drawing.fabric.between")
            yield f"{number(self.shape.peer_cables)} x {number(self.switches.up_gbit_s)} Gbit/s"

    def _host_words(self) -> Iterable[str]:
        cabling = self.found
        yield said("drawing.fabric.shared ports", ports=cabling.ports.shared)
        if self.rdma:
            yield said("drawing.fabric.rdma ports", ports=self.rdma)
        yield said("drawing.fabric.speed", speed=self.switches.port_gbit_s)
        if compute := cabling.compute_ports:
            yield said("drawing.fabric.compute hosts", hosts=self.hosts.compute_hosts, ports=compute.total)
        yield said("drawing.fabric.to each leaf", links=self.shape.host_links_per_leaf)

    def _links(self, spine_y: float, leaf_y: float, host_y: float) -> None:
        """Links between switches, and from both leaves of a pair to its hosts; wider the more there are."""
        shape, blue, orange = self.shape, OKABE_ITO[0], OKABE_ITO[5]
        link = self.drawing.line
        for x in self.pair_x:
            left, right = x - self.gap, x + self.gap
            for leaf in (left, right):
                for spine in self.spine_x:
                    link(spine, spine_y + 34, leaf, leaf_y, stroke=SOFT, width=_width(shape.links_per_spine))
            if not shape.spines:
                peer = leaf_y + 17
                link(left, peer, right, peer, stroke=SOFT, width=_width(self.shape.peer_cables))
            for middle, ports in self._host_places(x):
                rdma = ports.rdma if self.rdma else 0
                for side, leaf in ((-1, left), (1, right)):
                    link(middle + side * 30, host_y, leaf, leaf_y + 34, stroke=blue, width=_width(1))
                    if rdma > 1 or (rdma and side < 0):
                        end = leaf - side * 22
                        link(
                            middle + side * 10, host_y, end, leaf_y + 34, stroke=orange, width=2, dashes="6 3"
                        )

    def _switches(self, spine_y: float, leaf_y: float) -> None:
        for at, x in enumerate(self.spine_x, 1):
            wide = min(120, (WIDTH - SIDE) / len(self.spine_x) - 8)
            self._named_box(x, spine_y, wide, said("drawing.fabric.spine", number=at), fill="#e8e4f3")
        for at, x in enumerate(self.pair_x, 1):
            pair = "" if self.one_pair else str(at)
            for twin, leaf in (("A", x - self.gap), ("B", x + self.gap)):
                name = said("drawing.fabric.leaf", letter=f"{pair}{twin}")
                self._named_box(leaf, leaf_y, min(120, self.cell / 2 - 8), name, fill="#dfe9f2")

    def _named_box(self, x: float, y: float, wide: float, text: str, *, fill: str) -> None:
        self.drawing.box(Area(x - wide / 2, y, wide, 34), fill=fill, stroke=SOFT)
        self.drawing.text(x, y + 21.5, text, anchor="middle", room=wide - 4)

    def _host_places(self, x: float) -> list[tuple[float, Ports]]:
        """(middle of the box, ports of a host) for the hosts on a pair of leaves: of a single pair compute hosts are apart."""
        if self.one_pair and self.found.compute_ports:
            quarter = min(self.cell - 10, 400.0) / 4
            return [(x - quarter, self.found.ports), (x + quarter, self.found.compute_ports)]
        return [(x, self.found.ports)]

    def _hosts(self, x: float, y: float) -> None:
        places = self._host_places(x)
        wide = min(self.cell - 10, 400.0) / len(places)
        on_it, per_pair = self.hosts, self.shape.hosts_per_pair
        kinds = ((on_it.gpu_hosts, "GPU host", PALE), (on_it.compute_hosts, "compute host", "#fdf3e1"))
        for (middle, _), (count, what, fill) in zip(places, kinds, strict=False):
            left = middle - wide / 2 + 2
            for behind in (8, 4, 0) if (count if self.one_pair else per_pair) > 1 else (0,):
                area = Area(left + behind / 2, y + behind, wide - behind - 4, 44)
                self.drawing.box(area, fill=fill, stroke=SOFT)
            text = amount(count, what) if self.one_pair else said("drawing.fabric.up to", hosts=per_pair)
            self.drawing.text(middle, y + 26, text, anchor="middle", room=wide - 10, bold=True)


def _key(drawing: Drawing, found: Cabling, y: float, *, infiniband: bool) -> float:
    """Explain the lines and the oversubscription; return the height at which that ends."""
    assert found.switches is not None
    rdma, x = found.ports.rdma, 0.0
    keys = [(OKABE_ITO[0], "", said("drawing.fabric.shared key"))]
    if rdma and not infiniband:
        keys.append((OKABE_ITO[5], "6 3", said("drawing.fabric.rdma key")))
    for stroke, dashes, text in keys:
        drawing.line(x, y + 9, x + 34, y + 9, stroke=stroke, width=2, dashes=dashes)
        drawing.text(x + 42, y + 14, text, fill=SOFT)
        x += 42 + text_width(text) + 24
    notes = [said("drawing.fabric.infiniband", ports=rdma)] if rdma and infiniband else []
    worst = {"shape": found.switches.busiest.shape, "where": found.switches.highest}
    notes.append(said("drawing.fabric.oversubscription", **worst, most=found.max_oversubscription))
    for at, line in enumerate(notes, 1):
        drawing.text(0, y + LINE * at + 14, line, fill=SOFT)
    return y + LINE * (len(notes) + 1) + 4


def _spread(count: int) -> list[float]:
    return [SIDE + (WIDTH - SIDE) * (at + 0.5) / count for at in range(count)]


def _head(text: str, left_out: int) -> str:
    return said("drawing.fabric.not drawn", switches=text, left=left_out) if left_out else text


def _width(links: int) -> float:
    return min(6.0, 1.5 + links.bit_length() / 2)
