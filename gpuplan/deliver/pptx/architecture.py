"""The logical architecture as a picture: users, workload domain with clusters, management domain, network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuplan.deliver.pptx.hosts import key_swatch
from gpuplan.deliver.pptx.measure import LINE_HEIGHT, SMALL, Box, first_of, text_lines
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


def architecture_sketch(plan: Plan, sketch: Sketch) -> None:
    """Users at the left, the GPU workload domain in the middle, management at the right, the network below all."""
    box = sketch.box
    high = box.height - BOTTOM - LINK
    users, rest = Box(0, 0, box.width, high).sides(box.width * 0.28, GAP)
    domain, management = rest.sides(rest.width * 0.64, GAP)
    _users(sketch, plan, users)
    _domain(sketch, plan, domain)
    _management(sketch, plan, management)
    for part in (users, domain, management):
        sketch.arrow(part.left + part.width / 2, high, high + LINK, EDGE, 1.5)
    link = network_name(plan.scenario.network.link_gbit_s, plan.scenario.network.transport)
    title = said("deck.architecture.network", link=link)
    _panel(sketch, Box(0, high + LINK, box.width, BOTTOM), title, [_switches(plan)])


def _panel(
    sketch: Sketch,
    area: Box,
    title: str,
    lines: Iterable[str] = (),
    *,
    name: str = "",
    fill: str = "FFFFFF",
    edge: str = EDGE,
    width: float = 1,
    pen: str = "tx1",
) -> Box:
    """A box with its title, and lines below it, as many as fit; return the place of the next line."""
    sketch.rect(area, fill=fill, line=edge, width=width, round_by=5, name=name or title)
    place = Box(area.left + PAD, area.top + PAD, area.width - 2 * PAD, LINE)
    sketch.text(place, title, bold=True, colour=pen)
    place = place.down(LINE + 4)
    for text in lines:
        if place.top + LINE > area.top + area.height - 4:
            break
        sketch.text(place, text, colour="tx2")
        place = place.down(LINE + 2)
    return place


def _wrapped(sketch: Sketch, area: Box, *texts: str) -> Iterator[str]:
    """Yield texts in the lines that they take in a panel."""
    for text in texts:
        line, *words = text.split(" ")
        for word in words:
            longer = f"{line} {word}"
            if text_lines(longer, SMALL, (area.width - 2 * PAD) / sketch.loose) > 1:
                yield line
                longer = word
            line = longer
        yield line


def _users(sketch: Sketch, plan: Plan, area: Box) -> None:
    """Draw the workloads, and the hosts of those with remote GPUs."""
    compute = plan.cabling.compute_hosts if plan.cabling else 0
    remote = any(item.mode == "bitfusion" for item in plan.groups)
    low = 3 * LINE + 2 * PAD if compute or remote else 0
    upper = area.above(area.height - (low + 12 if low else 0))
    place = _panel(sketch, upper, said("deck.architecture.users"), name="Users").down(4)
    symbols, step = group_symbols(plan), LINE + 8
    shown, rest = first_of(plan.groups, int((upper.height - 2 * PAD - LINE - 4) / step))
    for group in shown:
        key_swatch(sketch, place._replace(width=24, height=LINE + 2), symbols[group.id])
        sketch.text(place.right(32)._replace(height=LINE + 2), group.name)
        place = place.down(step)
    if rest:
        sketch.text(place, said("deck.hosts.other groups", count=len(rest)), colour="tx2")
    if not plan.groups:
        total = said("deck.architecture.total", gpus=plan.totals.gpus_demanded)
        sketch.text(place, total, colour="tx2")
    if low:
        key = "deck.architecture.compute" if compute else "deck.architecture.compute stated"
        lower = area.below(area.height - low)
        lines = _wrapped(sketch, lower, said(key, hosts=compute))
        _panel(sketch, lower, said("deck.architecture.compute head"), lines)


def _domain(sketch: Sketch, plan: Plan, area: Box) -> None:
    """Draw the workload domain with its clusters and their contents."""
    title, name = said("deck.architecture.domain"), "GPU workload domain"
    look = {"fill": "bg2", "edge": "accent1", "pen": "accent1"}
    place = _panel(sketch, area, title, name=name, width=1.5, **look).down(4)
    shown, rest = first_of(clusters_alike(plan), MOST_CLUSTERS)
    rows = len(shown) + bool(rest)
    room = area.height - (place.top - area.top) - PAD - LINE - 6
    place = place._replace(height=(room - (rows - 1) * 10) / max(1, rows))
    for pool in shown:
        modes = dict.fromkeys(MODE_NAMES[g.mode] for g in plan.groups if g.pool == pool.kind)
        spare = "deck.architecture.spare" if pool.hosts_for_failures else "deck.architecture.no spare"
        lines = (
            equipment(plan, pool),
            said("deck.architecture.cluster", hosts=pool.hosts, gpus=pool.gpus),
            said(spare, hosts=pool.hosts_for_failures),
            ", ".join(modes),
        )
        left = _panel(sketch, place, pool.name, filter(None, lines)).down(6)
        _hosts(sketch, pool, left._replace(height=place.top + place.height - left.top - 8))
        place = place.down(place.height + 10)
    if rest:
        hosts, gpus = sum(pool.hosts for pool in rest), sum(pool.gpus for pool in rest)
        title = said("deck.architecture.more clusters", count=len(rest))
        _panel(sketch, place, title, [said("deck.architecture.cluster", hosts=hosts, gpus=gpus)])
    foot = Box(place.left, area.top + area.height - PAD - LINE + 4, place.width, LINE)
    sketch.text(foot, said("deck.architecture.services"), colour="tx2")


def _hosts(sketch: Sketch, pool: Pool, area: Box) -> None:
    """Every host of a cluster as a small box, those for failures dashed; none where there is no room for all."""
    for wide, high in ICONS:
        across, rows = (
            int((long + 6) / (side + 6)) for long, side in ((area.width, wide), (area.height, high))
        )
        if pool.hosts <= across * rows:
            break
    else:
        return
    for at in range(pool.hosts):
        spare = at >= pool.hosts - pool.hosts_for_failures
        place, fill = area.cell(at, across, wide, high, 6), "" if spare else "accent1"
        sketch.rect(place, fill=fill, line="accent1", dashed=spare, round_by=2, name="Host")


def _management(sketch: Sketch, plan: Plan, area: Box) -> None:
    """Draw the management domain, and the storage."""
    words = [said("deck.architecture.vcenter"), said("deck.architecture.sddc manager")]
    if domain := plan.management:
        vcpus, memory = round(domain.vcpus), round(domain.memory_gb)
        words.append(said("deck.architecture.management", hosts=domain.hosts))
        words.append(said("deck.architecture.sizes", vcpus=vcpus, memory=memory))
    low = 4 * LINE + 2 * PAD
    upper, lower = area.above(area.height - low - 12), area.below(area.height - low)
    _panel(sketch, upper, said("deck.architecture.management head"), _wrapped(sketch, upper, *words))
    storage = said(f"deck.architecture.storage {plan.scenario.hardware.storage or 'external'}")
    _panel(sketch, lower, said("deck.architecture.storage head"), _wrapped(sketch, lower, storage))


def _switches(plan: Plan) -> str:
    """Say which switches carry everything between the parts."""
    fabric = plan.cabling
    if fabric is None or not fabric.switches:
        return said("deck.architecture.no switches")
    shape = fabric.switches.shape
    return said(
        "deck.architecture.leaves and spines" if shape.spines else "deck.architecture.leaves",
        leaves=shape.leaves,
        leaf=fabric.switches.leaf_name,
        spines=shape.spines,
        ports=amount(fabric.ports.total, "port"),
    )
