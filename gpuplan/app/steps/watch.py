"""Power-on watched: the VMs of a cluster arrive one by one on the picture of the hosts, in an order to choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.power_on import named_order
from gpuplan.analysis.power_on_player import Play
from gpuplan.app.cards import select
from gpuplan.app.plan_view import Watched
from gpuplan.app.state import Workbook
from gpuplan.app.steps.power_on import made_of
from gpuplan.models.power_on import Spot, Step
from gpuplan.plan.hosts import Pool
from gpuplan.plan.power_on import PowerOn
from gpuplan.plan.power_on_rules import Reading
from gpuplan.report import amount, group_names, number
from gpuplan.report.refusals import refusal_words
from gpuplan.wording import NAMES, run_words, verb

LONGEST_MS, STEP_MS = 20_000, (120, 700)
"""How long all VMs take to arrive at most, unless one takes less or more than these."""
SHOWN_REFUSED = 6
LABELS = NAMES["power-on, label"]
RANDOM, SEEDS = "random", 2**32


def watched_clusters(workbook: Workbook) -> tuple[Pool, ...]:
    """The cluster that is watched, if one is."""
    watched = workbook.watched
    return (workbook.plan.pool(watched.pool),) if watched else ()


def play_of(workbook: Workbook, pool: Pool) -> Play | None:
    """How the VMs of a cluster are powered on, as far as it is watched."""
    watched = workbook.watched
    if watched is None or watched.pool != pool.id:
        return None
    tries = made_of(workbook)[pool.id].orders
    key = f"play {watched._replace(at=0)}, {tries} orders tried"
    play = workbook.once(key, lambda: _play(workbook, pool, watched))
    play.go(watched.at)
    return play


def watch_data(workbook: Workbook) -> dict[str, Any]:
    """The controls, and what becomes of the VM that has just been powered on."""
    if not (clusters := watched_clusters(workbook)):
        return {"shown": False}
    (pool,), watched = clusters, workbook.watched
    play = play_of(workbook, pool)
    assert play is not None and watched is not None
    made = made_of(workbook)[pool.id]
    all_vms, refused = len(play.steps), play.refused
    return {
        "shown": True,
        "stale": workbook.stale,
        "pool": pool.id,
        "title": f"Power-on of the {pool.name}" if len(workbook.plan.pools) > 1 else "Power-on",
        "at": play.at,
        "of": all_vms,
        "label": f"VM {number(play.at)} of {number(all_vms)}",
        "step_ms": min(max(LONGEST_MS // max(1, all_vms), STEP_MS[0]), STEP_MS[1]),
        "selects": _selects(made, watched),
        "another": watched.seed + 1 if order_of(made, watched) == RANDOM else 0,
        **_said(workbook, play),
        "refused": [
            {"at": at, "text": _name(workbook, play, play.steps[at - 1])} for at in refused[:SHOWN_REFUSED]
        ],
        "result": _result(len(refused), len(refused) - SHOWN_REFUSED),
    }


def _result(refused: int, more: int) -> str:
    """What comes of the whole order."""
    if not refused:
        return "In this order every VM starts."
    said = f"In this order {amount(refused, 'VM')} {verb(refused, 'do')} not start"
    return f"{said}; the first of them:" if more > 0 else f"{said}:"


def _name(workbook: Workbook, play: Play, step: Step) -> str:
    """A VM as it is called."""
    return f"{group_names(workbook.plan)[play.cluster.requests[step.kind].group]} {number(step.vm)}"


def _said(workbook: Workbook, play: Play) -> dict[str, str]:
    """Where the VM that was powered on last runs, or why it does not."""
    step = play.now
    if step is None:
        hosts = amount(len(play.cluster.rooms), "host")
        return {
            "tone": "",
            "lead": f"{hosts}, no VM started yet.",
            "text": "vSphere places each VM as it starts and moves none later.",
        }
    request = play.cluster.requests[step.kind]
    name, profile = _name(workbook, play, step), f" ({request.profile})" * bool(request.profile)
    if step.spot is None:
        return {
            "tone": "bad",
            "lead": f"{name}{profile} does not start.",
            "text": refusal_words(request, play.refusal(), play.cluster.rules),
        }
    return {"tone": "good", "lead": f"{name}{profile} starts", "text": f"{_spot_words(step.spot, play)}."}


def _spot_words(spot: Spot, play: Play) -> str:
    """Where a VM runs."""
    numbers = sorted({gpu + 1 for gpu in spot.gpus})
    if not numbers:
        return f"on host {spot.host + 1}"
    places = play.places(spot.host, spot.gpus[0]) if len(spot.starts) == 1 else ()
    at = f", at {spot.starts[0]}" if places else ""
    return f"on host {spot.host + 1}, GPU{'s' * (len(numbers) > 1)} {run_words(numbers)}{at}"


def _play(workbook: Workbook, pool: Pool, watched: Watched) -> Play:
    """The VMs of a cluster in the order that is chosen, under the reading that is chosen or the one that belongs to it."""
    made = made_of(workbook)[pool.id]
    reading, kinds = chosen(made, watched)
    return Play(pool.requests, made.rooms, reading.rules, kinds)


def chosen(made: PowerOn, watched: Watched) -> tuple[Reading, tuple[int, ...]]:
    """The reading and the order that are watched."""
    order = order_of(made, watched)
    reading, kinds = named_order(made, str(watched.seed % SEEDS) if order == RANDOM else order)
    return next((each for each in made.readings if each.name == watched.reading), reading), kinds


def order_of(made: PowerOn, watched: Watched) -> str:
    """The order that is watched: the first where the one that was chosen is not there."""
    orders = orders_of(made)
    return watched.order if watched.order in orders else orders[0]


def orders_of(made: PowerOn) -> list[str]:
    """The orders to choose from: first the worst, where one is bad."""
    return [*["worst"] * bool(made.worst), RANDOM, *made.named, "groups"]


def _selects(made: PowerOn, watched: Watched) -> list[dict[str, Any]]:
    """The order, and what vSphere is taken to do where that is not known."""
    orders = {order: LABELS[order] for order in orders_of(made)}
    found = [select("order", "Order", order_of(made, watched), orders)]
    if len(made.readings) > 1:
        words = dict(zip((each.name for each in made.readings), differing(made.readings), strict=True))
        found.append(select("reading", "Rules", chosen(made, watched)[0].name, words))
    return found


def differing(readings: Sequence[Reading]) -> list[str]:
    """What sets each of several readings apart."""
    parts = [reading.words.split("; ") for reading in readings]
    return ["; ".join(part for part in each if any(part not in other for other in parts)) for each in parts]
