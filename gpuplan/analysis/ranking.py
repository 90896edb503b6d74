"""Ranking: the cheapest valid design first, and why each other one is not the winner."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from gpuplan.analysis.candidates import SHARING, Candidate, asked, kind_of, too_little
from gpuplan.analysis.option import Option
from gpuplan.catalog import Catalog
from gpuplan.locales import per_cent, written
from gpuplan.plan.hardware import takers
from gpuplan.scenario import RISKS, Scenario, views
from gpuplan.showing import Study
from gpuplan.wording import NAMES, amount, counted, hours, money, said, whole_percent

WINNER_LEAVES_OUT = said("ranking.winner leaves out")
"""Opening words of a reason why a design loses."""
MEASURED: Mapping[str, tuple[str, float]] = {
    "hosts": ("host", 1),
    "short_h": ("h", 0.1),
    "waiting_pct": ("percentage point", 0.1),
    "peak_w": ("W", 100),
    "racks": ("rack", 1),
}
"""Figures that are to be small, by which options are compared: unit, and the least difference that is worth saying."""
ALIKE = attrgetter("gpu", "gpus_per_host", "sharing", "link_gbit_s", "host_failures")
WORSE, BETTER = NAMES["worse than the winner"], NAMES["better than the winner"]


@dataclass(frozen=True, slots=True)
class Exploration(Study):
    """All candidates, sorted out."""

    scenario: Scenario
    """As it was explored."""

    ranked: tuple[Option, ...]
    """Valid and priced: those that tolerate the failures required, then those that tolerate more, last those that
    tolerate fewer; among them those whose board is surely still sold, the cheapest by net present cost first."""
    unpriced: tuple[Option, ...]
    rejected: tuple[Option, ...]
    frontier: tuple[Option, ...]
    """Ranked options unbeaten in cost, capacity shortfall and waiting together; of chassis with the same cost, one."""
    winner: Option | None
    """The cheapest that tolerates the failures required, or more if none does."""
    asked: Option
    currency: str
    notes: tuple[str, ...]

    @property
    def best(self) -> tuple[Option, ...]:
        """The first of the ranking on each hardware (boards, server and number of them a host), each once of those that cost the same."""
        first: dict[tuple[str, ...], Option] = {}
        for option in self.ranked:
            chosen = option.candidate
            first.setdefault((kind_of(chosen), chosen.gpu, chosen.server, f"{chosen.gpus_per_host}"), option)
        return _once(first.values())


def sorted_out(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], beyond: Sequence[str] = ()
) -> Exploration:
    """Return ranking, frontier and winner of planned options; ``beyond`` are suitable boards that were not tried."""
    current = asked(scenario)
    options = _distinct(options)
    inside = [o for o in options if not o.reasons and o.net_present is not None]
    inside.sort(key=partial(_rank, current))
    ranked = [option for option in inside if not option.unpriced]
    winner = next((o for o in ranked if o.candidate.host_failures >= current.host_failures), None)
    return Exploration(
        scenario=scenario,
        ranked=tuple(ranked),
        unpriced=tuple(option for option in inside if option.unpriced),
        rejected=tuple(option for option in options if option.reasons or option.net_present is None),
        frontier=_once(frontier(ranked)),
        winner=winner,
        asked=next(o for o in options if o.candidate == current),
        currency=scenario.cost.currency,
        notes=(
            *[said("ranking.kinds")] * bool(views(scenario)[1:]),
            *_notes_on_boards(scenario, catalog, *map(_of_first_kind, (options, ranked))),
            *_notes_on_missing(scenario, catalog, _of_first_kind(options), beyond),
            *_notes_on_costs(scenario, ranked, winner),
            *[said("ranking.by formula")] * (scenario.demand.rule in RISKS),
        ),
    )


def _rank(current: Candidate, option: Option) -> tuple[Any, ...]:
    design, wanted = option.candidate, current.host_failures
    failures = 2 if design.host_failures < wanted else int(design.host_failures > wanted)
    cost = (option.maybe_ended, option.net_present, design != current, len(option.confirm), option.hosts)
    return (failures, *cost, design.link_gbit_s != current.link_gbit_s, option.label)


def _distinct(options: Sequence[Option]) -> list[Option]:
    """Return the options, each design once: a mode that the rules choose themselves is not another design."""
    unique: dict[Option, Option] = {}
    for option in sorted(options, key=lambda o: SHARING.index(o.candidate.sharing)):
        alike = replace(option, candidate=replace(option.candidate, sharing=""), label="")
        unique.setdefault(alike if option.modes else option, option)
    kept = set(unique.values())
    return [option for option in options if option in kept]


def _once(options: Iterable[Option]) -> tuple[Option, ...]:
    """The first of those that differ in the chassis and not in the cost."""
    unique: dict[tuple[Any, ...], Option] = {}
    for option in options:
        unique.setdefault((kind_of(option.candidate), ALIKE(option.candidate), option.net_present), option)
    return tuple(unique.values())


def frontier(options: Sequence[Option]) -> tuple[Option, ...]:
    """Return options unbeaten in net present cost, capacity shortfall and waiting together, in the same order."""
    kept: list[tuple[float, ...]] = []
    for aims in sorted({_aims(option) for option in options}):
        if not any(all(a <= b for a, b in zip(other, aims, strict=True)) for other in kept):
            kept.append(aims)
    best = set(kept)
    return tuple(option for option in options if _aims(option) in best)


def _aims(option: Option) -> tuple[float, ...]:
    """Return the figures to minimise; unknown ones count as large."""
    aims = (option.net_present, option.short_h, option.waiting_pct)
    return tuple(float("inf") if aim is None else aim for aim in aims)


def _notes_on_costs(scenario: Scenario, ranked: Sequence[Option], winner: Option | None) -> Iterator[str]:
    if left_out := dict.fromkeys(name for option in ranked for name in option.excludes):
        yield said("ranking.some exclude", names="; ".join(left_out))
    if winner and winner.excludes and winner.net_present:
        yield _note_on_winner(scenario, ranked, winner, winner.net_present)
    speeds = {o.candidate.link_gbit_s for o in ranked}
    costs = {(o.candidate.link_gbit_s, o.net_present) for o in ranked}
    if len(speeds) > 1 and len({c for _, c in costs}) * len(speeds) == len(costs):
        yield said("ranking.links cost the same")


def _of_first_kind(options: Sequence[Option]) -> list[Option]:
    return [option for option in options if not kind_of(option.candidate)]


def _notes_on_boards(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], ranked: Sequence[Option]
) -> Iterator[str]:
    board = scenario.hardware.gpu
    if any(option.candidate.gpu != board for option in ranked):
        yield said("ranking.same work", gpu=catalog.gpus[board].name)
    if ended := dict.fromkeys(option.candidate.gpu for option in ranked if option.maybe_ended):
        yield said("ranking.maybe ended", names=_names(ended, catalog))
    if scenario.hardware.existing and any(option.candidate.gpu != board for option in options):
        yield said("ranking.existing hosts")


def _notes_on_missing(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], beyond: Sequence[str]
) -> Iterator[str]:
    board = scenario.hardware.gpu
    boards = dict.fromkeys(option.candidate.gpu for option in options if option.candidate.gpu != board)
    homeless = [gpu for gpu in boards if not takers(gpu, catalog) and not too_little(gpu, scenario, catalog)]
    if homeless:
        yield said("ranking.no chassis", names=_names(homeless, catalog))
    if beyond:
        yield said("ranking.not tried", names=_names(beyond, catalog))


def _names(gpus: Iterable[str], catalog: Catalog) -> str:
    return ", ".join(catalog.gpus[gpu].name for gpu in gpus)


def _note_on_winner(scenario: Scenario, ranked: Sequence[Option], winner: Option, cost: float) -> str:
    """Say what the winner's cost leaves out, and whether that could change the order."""
    wanted, names = scenario.availability.host_failures, "; ".join(winner.excludes)
    for best in ranked:
        if best.candidate.host_failures >= wanted and not set(best.excludes) & set(winner.excludes):
            apart = money((best.net_present or 0.0) - cost, scenario.cost.currency)
            return said("ranking.stays below", names=names, best=best.label, apart=apart)
    return said("ranking.all leave out", names=names)


def why_not(option: Option, winner: Option | None, scenario: Scenario) -> tuple[str, ...]:
    """Say why an option is not the winner: its drawbacks, its advantages last; none for the winner itself."""
    if option.reasons:
        return option.reasons
    reasons = [said("ranking.no price", name=name) for name in option.unpriced]
    if winner is None or option.candidate == winner.candidate:
        return tuple(reasons)
    wanted, failures = scenario.availability.host_failures, option.candidate.host_failures
    if failures < wanted:
        reasons.append(said("ranking.tolerates", failures=counted(failures, "host failure"), wanted=wanted))
    reasons += _cost_apart(option, winner)
    against, pro = _measured_apart(option, winner)
    ask = [said("ranking.confirm", text=text) for text in option.confirm if text not in winner.confirm]
    return (*reasons, *against, *ask, *(said("ranking.in its favour", text=text) for text in pro))


def _cost_apart(option: Option, winner: Option) -> Iterator[str]:
    if not option.unpriced and option.net_present is not None and winner.net_present:
        dearer = option.net_present / winner.net_present - 1
        more = "ranking.costs more" if dearer > 0 else "ranking.costs less"
        yield said(more if abs(dearer) >= 0.0005 else "ranking.costs the same", share=_share(abs(dearer)))
    if less := [name for name in winner.excludes if name not in option.excludes]:
        yield f"{WINNER_LEAVES_OUT} ({'; '.join(less)})"
    if more_names := [name for name in option.excludes if name not in winner.excludes]:
        yield said("ranking.leaves out", names="; ".join(more_names))


def _measured_apart(option: Option, winner: Option) -> tuple[list[str], list[str]]:
    worse: list[str] = []
    better: list[str] = []
    for name, (unit, least) in MEASURED.items():
        value, best = getattr(option, name), getattr(winner, name)
        if value is None or best is None or abs(value - best) < least:
            continue
        if unit == "W" and option.powerless != winner.powerless:
            continue
        apart = float(f"{abs(value - best):.2g}")
        size = hours(apart) if unit == "h" else amount(apart, unit)
        if value > best:
            worse.append(WORSE[name].format(size))
        else:
            better.append(BETTER[name].format(size))
    return worse, better


def _share(value: float) -> str:
    """A share in per cent that may be more than all."""
    return per_cent(f"{written(100 * value, '.2g')} %") if value < 0.1 else whole_percent(value)
