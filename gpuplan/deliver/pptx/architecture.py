"""The logical architecture as a picture: users, workload domain with clusters, management domain, network."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.deliver.pptx.hosts import key_swatch
from gpuplan.deliver.pptx.measure import LINE_HEIGHT, SMALL, Box, text_lines
from gpuplan.deliver.pptx.sketch import Sketch
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.diagrams import group_symbols
from gpuplan.report.tables.network import network_name
from gpuplan.report.tables.plan import clusters_alike, equipment
from gpuplan.wording import MODE_NAMES, amount, said

LINE = SMALL * LINE_HEIGHT
PAD, GAP = 12.0, 26.0
BOTTOM, LINK = 66.0, 30.0
"""Height of the network, and of the links to it."""
MOST_CLUSTERS = 3
EDGE = "8B94A3"
ICONS = ((62.0, 34.0), (44.0, 26.0), (30.0, 18.0), (20.0, 12.0))
"""Sizes of a host; the largest with room for all is taken."""


def architecture_sketch(plan: Plan, sketch: Sketch) -> Sketch:
    """Users at the left, the GPU workload domain in the middle, management at the right, the network below all."""
    box = sketch.box
    high = box.height - BOTTOM - LINK
    users, rest = Box(0, 0, box.width, high).sides(box.width * 0.28, GAP)
    domain, management = rest.sides(rest.width * 0.64, GAP)
    _users(sketch, plan, users)
    _domain(sketch, plan, domain)
    _management(sketch, plan, management)
    network = Box(0, high + LINK, box.width, BOTTOM)
    for part in (users, domain, management):
        middle = part.left + part.width / 2
        sketch.arrow(middle, high, high + LINK, EDGE, 1.5)
    _network(sketch, plan, network)
    return sketch


def _panel(
    sketch: Sketch, area: Box, title: str, lines: Sequence[tuple[str, str]], *, fill: str, edge: str
) -> float:
    """A box with its title, and lines in a colour each, as many as fit; where they end."""
    sketch.rect(area, fill=fill, line=edge, width=1, round_by=5, name=title)
    inside = Box(area.left + PAD, area.top + PAD, area.width - 2 * PAD, LINE)
    sketch.text(inside, title, bold=True)
    y = inside.top + LINE + 4
    for text, colour in lines:
        if y + LINE > area.top + area.height - 4:
            break
        sketch.text(inside._replace(top=y), text, colour=colour)
        y += LINE + 2
    return y


def _users(sketch: Sketch, plan: Plan, area: Box) -> None:
    """Draw the workloads, and the hosts of those with remote GPUs."""
    compute = plan.cabling.compute_hosts if plan.cabling else 0
    remote = any(each.mode == "bitfusion" for each in plan.groups)
    low = 3 * LINE + 2 * PAD if compute or remote else 0
    upper = area.above(area.height - (low + 12 if low else 0))
    sketch.rect(upper, fill="FFFFFF", line=EDGE, width=1, round_by=5, name="Users")
    inside = Box(upper.left + PAD, upper.top + PAD, upper.width - 2 * PAD, LINE)
    sketch.text(inside, said("deck.architecture.users"), bold=True)
    symbols, step = group_symbols(plan), LINE + 8
    room = int((upper.height - 2 * PAD - LINE - 4) / step)
    shown = plan.groups if len(plan.groups) <= room else plan.groups[: room - 1]
    y = inside.top + LINE + 8
    for group in shown:
        symbol = symbols[group.id]
        key_swatch(sketch, Box(inside.left, y, 24, LINE + 2), symbol)
        sketch.text(Box(inside.left + 32, y, inside.width - 32, LINE + 2), group.name)
        y += step
    if left := len(plan.groups) - len(shown):
        sketch.text(inside._replace(top=y), said("deck.hosts.other groups", count=left), colour="tx2")
    if not plan.groups:
        total = said("deck.architecture.total", gpus=plan.totals.gpus_demanded)
        sketch.text(inside._replace(top=y), total, colour="tx2")
    if low:
        words = (
            said("deck.architecture.compute", hosts=compute)
            if compute
            else said("deck.architecture.compute stated")
        )
        title, lower = said("deck.architecture.compute head"), area.below(area.height - low)
        _panel(
            sketch,
            lower,
            title,
            [(each, "tx2") for each in _wrapped(sketch, words, lower)],
            fill="FFFFFF",
            edge=EDGE,
        )


def _domain(sketch: Sketch, plan: Plan, area: Box) -> None:
    """Draw the workload domain with its clusters and their contents."""
    sketch.rect(area, fill="bg2", line="accent1", width=1.5, round_by=5, name="GPU workload domain")
    sketch.text(
        Box(area.left + PAD, area.top + PAD, area.width - 2 * PAD, LINE),
        said("deck.architecture.domain"),
        bold=True,
        colour="accent1",
    )
    clusters = clusters_alike(plan)
    shown = clusters if len(clusters) <= MOST_CLUSTERS else clusters[: MOST_CLUSTERS - 1]
    rows = len(shown) + (len(clusters) > len(shown))
    top = area.top + PAD + LINE + 8
    room = area.height - (top - area.top) - PAD - LINE - 6
    each = (room - (rows - 1) * 10) / max(1, rows)
    for at, pool in enumerate(shown):
        place = Box(area.left + PAD, top + at * (each + 10), area.width - 2 * PAD, each)
        modes = dict.fromkeys(MODE_NAMES[g.mode] for g in plan.groups if g.pool == pool.kind)
        spare = "deck.architecture.spare" if pool.hosts_for_failures else "deck.architecture.no spare"
        lines = [
            equipment(plan, pool),
            said("deck.architecture.cluster", hosts=pool.hosts, gpus=pool.gpus),
            said(spare, hosts=pool.hosts_for_failures),
            ", ".join(modes),
        ]
        y = _panel(
            sketch, place, pool.name, [(line, "tx2") for line in lines if line], fill="FFFFFF", edge=EDGE
        )
        _hosts(sketch, pool, Box(place.left + PAD, y + 6, place.width - 2 * PAD, place.top + each - y - 14))
    if left := clusters[len(shown) :]:
        place = Box(area.left + PAD, top + len(shown) * (each + 10), area.width - 2 * PAD, each)
        total = said(
            "deck.architecture.cluster", hosts=sum(p.hosts for p in left), gpus=sum(p.gpus for p in left)
        )
        title = said("deck.architecture.more clusters", count=len(left))
        _panel(sketch, place, title, [(total, "tx2")], fill="FFFFFF", edge=EDGE)
    foot = Box(area.left + PAD, area.top + area.height - PAD - LINE + 4, area.width - 2 * PAD, LINE)
    sketch.text(foot, said("deck.architecture.services"), colour="tx2")


def _hosts(sketch: Sketch, pool: Pool, area: Box) -> None:
    """Every host of a cluster as a small box, those for failures dashed; none where there is no room for all."""
    gap = 6.0
    for wide, high in ICONS:
        across, rows = int((area.width + gap) / (wide + gap)), int((area.height + gap) / (high + gap))
        if pool.hosts <= across * rows:
            break
    else:
        return
    for at in range(pool.hosts):
        row, column = divmod(at, across)
        spare = at >= pool.hosts - pool.hosts_for_failures
        place = Box(area.left + column * (wide + gap), area.top + row * (high + gap), wide, high)
        sketch.rect(
            place, fill="" if spare else "accent1", line="accent1", dashed=spare, round_by=2, name="Host"
        )


def _management(sketch: Sketch, plan: Plan, area: Box) -> None:
    domain = plan.management
    words = [said("deck.architecture.vcenter"), said("deck.architecture.sddc manager")]
    if domain:
        words.append(said("deck.architecture.management", hosts=domain.hosts))
        words.append(
            said("deck.architecture.sizes", vcpus=round(domain.vcpus), memory=round(domain.memory_gb))
        )
    storage = plan.scenario.hardware.storage or "external"
    lines = [line for text in words for line in _wrapped(sketch, text, area)]
    low = 4 * LINE + 2 * PAD
    upper, lower = area.above(area.height - low - 12), area.below(area.height - low)
    title = said("deck.architecture.management head")
    _panel(sketch, upper, title, [(line, "tx2") for line in lines], fill="FFFFFF", edge=EDGE)
    kept = _wrapped(sketch, said(f"deck.architecture.storage {storage}"), lower)
    title = said("deck.architecture.storage head")
    _panel(sketch, lower, title, [(line, "tx2") for line in kept], fill="FFFFFF", edge=EDGE)


def _network(sketch: Sketch, plan: Plan, area: Box) -> None:
    """The network, which carries everything between the parts."""
    given, fabric = plan.scenario.network, plan.cabling
    name = network_name(given.link_gbit_s, given.transport)
    words = said("deck.architecture.no switches")
    if fabric and fabric.switches:
        shape = fabric.switches.shape
        key = "deck.architecture.leaves and spines" if shape.spines else "deck.architecture.leaves"
        words = said(
            key,
            leaves=shape.leaves,
            leaf=fabric.switches.leaf_name,
            spines=shape.spines,
            ports=amount(fabric.ports.total, "port"),
        )
    _panel(
        sketch, area, said("deck.architecture.network", link=name), [(words, "tx2")], fill="FFFFFF", edge=EDGE
    )


def _wrapped(sketch: Sketch, text: str, area: Box) -> list[str]:
    """A text in the lines that it takes in a panel."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_lines(longer, SMALL, (area.width - 2 * PAD) / sketch.loose) == 1:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
