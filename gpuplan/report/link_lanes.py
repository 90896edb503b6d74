"""Link speeds side by side: a lane for each thing that crosses the network, in segments of speeds that do it alike."""

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from gpuplan.analysis.link_speeds import Speed, Use
from gpuplan.plan.link_verdicts import VMOTION_GBIT_S
from gpuplan.wording import amount, kept_range, kept_share, rough, rough_range, said

FIRST_AT, SCALE_FROM, SCALE_TO = 0.03, 0.13, 0.95
"""Places of 1 Gbit/s and of the ends of the logarithmic scale, as shares of its width: 1 is left of it."""
ENDS_GBIT_S = 10, 400
SHARES = ("remote", "training", "example")
"""Kinds of uses whose value is a share of a speed."""


class Segment(NamedTuple):
    """Link speeds with one verdict on one thing."""

    start: float
    width: float
    verdict: str
    """As of a `Use`; ``wasted`` where a faster link changes nothing."""
    text: str
    title: str


def speed_at(gbit_s: int) -> float:
    """Return the place of a link speed on the scale, a share of its width."""
    first, last = map(math.log, ENDS_GBIT_S)
    if gbit_s < ENDS_GBIT_S[0]:
        return FIRST_AT
    return SCALE_FROM + (SCALE_TO - SCALE_FROM) * (math.log(gbit_s) - first) / (last - first)


def lane(speeds: Sequence[Speed], use: Use) -> list[Segment]:
    """Return the lane of one thing in segments; each speed reaches half way to the next ones."""
    uses = [next((one for one in speed.uses if _same(one, use)), None) for speed in speeds]
    at = [speed_at(speed.gbit_s) for speed in speeds]
    edges = [0.0, *((one + other) / 2 for one, other in pairwise(at)), 1.0]
    texts = [meaning(one) + one.verdict if one else "" for one in uses]
    settled = next(n for n in range(len(texts)) if len(set(texts[n:])) == 1)

    def verdict(n: int) -> str:
        one = uses[n]
        return (
            ""
            if one is None
            else "wasted"
            if n > settled and one.verdict in ("good", "none")
            else one.verdict
        )

    segments = []
    for kind, numbers in groupby(range(len(uses)), verdict):
        first, *_, last = (*numbers,) * 2
        shown = [
            (speed, one) for speed, one in zip(speeds[first : last + 1], uses[first:], strict=False) if one
        ]
        if not shown:
            continue
        text = _span(shown[0][1], shown[-1][1])
        if settled <= first < last == len(uses) - 1 and kind in ("fair", "bad", "over"):
            text = said("link.any speed", value=text)
        title = "; ".join(said("link.at", speed=speed.gbit_s, meaning=meaning(one)) for speed, one in shown)
        segments.append(Segment(edges[first], edges[last + 1] - edges[first], kind, text, title))
    return segments


def _same(one: Use, other: Use) -> bool:
    return (one.kind, one.name, one.groups) == (other.kind, other.name, other.groups)


def _span(first: Use, last: Use) -> str:
    """Return the values at the ends of a segment in few characters; nothing where none is known."""
    if first.value is None or last.value is None:
        return ""
    if first.kind in SHARES:
        ends = kept_share(first.value), kept_share(last.value)
        return ends[0] if ends[0] == ends[1] else kept_range(first.value, last.value)
    if first.kind == "ports":
        return (
            amount(first.value, "port")
            if first.value == last.value
            else said("link.ports", first=first, last=last)
        )
    ends = rough(first.value), rough(last.value)
    return said("link.time" if ends[0] == ends[1] else "link.times", first=ends[0], last=ends[1])


def meaning(use: Use) -> str:
    """Return what a link makes of a thing, with its range."""
    if use.value is None:
        return said(
            "network.vmotion wants" if use.verdict == "bad" else "link.stun not known", speed=VMOTION_GBIT_S
        )
    ends = ""
    if use.low is not None and use.high is not None:
        ends = kept_range(use.low, use.high) if use.kind in SHARES else rough_range(use.low, use.high)
    return said(f"link.means {use.kind}", use=use, ends=ends, value=rough(use.value))


def about(use: Use) -> str:
    """Return what a thing moves over the network, or how."""
    return said(f"link.about {use.kind}", use=use, place=amount(use.size, use.about))
