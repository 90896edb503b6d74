"""Variants: a scenario with something changed, or with the same work on another board; its plan or why it is refused, and the figures by which plans are compared."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.boards import interactive, memory_of, work_of
from gpuplan.plan.checks import stops as stops_of
from gpuplan.plan.cost import Costs
from gpuplan.plan.llm import uses_model
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import (
    FIELD_BY_PATH,
    GROUP_FIELD_BY_NAME,
    MAPS,
    Group,
    Origin,
    Problem,
    Scenario,
    ScenarioError,
    views,
)
from gpuplan.units import exact
from gpuplan.wording import said

T = TypeVar("T")
Progress = Callable[[int, int], object]


def stepwise(items: Sequence[T], progress: Progress | None) -> Iterator[T]:
    """Yield each of some items, and report the progress when its work is done."""
    for done, item in enumerate(items, 1):
        yield item
        if progress:
            progress(done, len(items))


class Standing(NamedTuple):
    """Whether a design meets the request, for every place that shows its hosts or its money."""

    valid: bool
    """True if it can be planned, every VM has a GPU, and no check says stop."""
    unplaced_vms: int | None
    """VMs without a GPU while all hosts are up; None where it cannot be planned."""
    stops: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    checked: bool = True
    """False if a rule by risk has only its answer by formula, which its hosts may not hold."""

    @property
    def words(self) -> str:
        """What is wrong, in a few words; empty for a valid design."""
        if self.unplaced_vms is None:
            return said("standing.refused")
        parts = [said("standing.unplaced", vms=self.unplaced_vms)] if self.unplaced_vms else []
        parts += [said("standing.stops", stops=len(self.stops))] if self.stops else []
        return ", ".join(parts)


REFUSED, SOUND = Standing(False, None), Standing(True, 0)


def standing(plan: Plan, stops: tuple[str, ...] | None = None) -> Standing:
    """Return whether a plan meets the request; where its ``stops`` are given, its checks are not run."""
    if stops is None:
        return plan.once("standing", lambda: standing(plan, stops_of(plan)))
    low, high = plan.cost_ranges.net_present if plan.cost_ranges else (None, None)
    unplaced = plan.totals.unplaced_vms
    return Standing(not unplaced and not stops, unplaced, stops, low, high, plan.checked)


def together(parts: Iterable[Standing]) -> Standing:
    """Return the standing of designs that are built side by side."""
    every = list(parts)
    stops = tuple(dict.fromkeys(code for part in every for code in part.stops))
    unplaced = sum(part.unplaced_vms or 0 for part in every)
    checked = all(part.checked for part in every)
    return Standing(all(part.valid for part in every), unplaced, stops, checked=checked)


class Outcome(NamedTuple):
    """The plan of a variant; none where it is refused, and then why."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()

    @property
    def standing(self) -> Standing:
        """Return whether the plan meets the request."""
        return standing(self.plan) if self.plan else REFUSED

    @property
    def refused(self) -> str:
        """Return why it is refused, in words; empty with a plan."""
        return str(ScenarioError(self.problems)) if self.problems else ""

    @property
    def costs(self) -> Costs | None:
        """Return the cost of the plan; None without a plan or hosts."""
        return self.plan.costs if self.plan else None

    @property
    def net_present(self) -> float | None:
        """Return the net present cost; None without a plan or hosts."""
        return self.costs.net_present if self.costs else None


class Variant(NamedTuple):
    """A scenario with something changed."""

    key: str
    label: str
    scenario: Scenario
    reason: Callable[[Plan], str | None]
    """Returns the case for or against its plan; None where it does not serve its purpose."""


def outcome(scenario: Scenario, catalog: Catalog, *, check: bool = True) -> Outcome:
    """Return the plan of a scenario, or why it is refused; a rule by risk is checked on its hosts if ``check`` says so."""
    return outcome_of(lambda: make_plan(scenario, catalog, check=check))


def outcome_of(work: Callable[[], Plan]) -> Outcome:
    """Return the plan that a function makes, or why it is refused."""
    try:
        return Outcome(work())
    except ScenarioError as error:
        return Outcome(None, error.problems)


def dearer(plan: Plan, than: Plan) -> float | None:
    """Return how much more net present cost a plan has than another; None where one has no hosts."""
    return plan.costs.net_present - than.costs.net_present if plan.costs and than.costs else None


def figure(plan: Plan, key: str) -> Any:
    """Return a figure of a plan by its key in ``FIGURES`` or by that of a line; None where the plan has none."""
    if key in FIGURES:
        return FIGURES[key](plan)
    return plan.lines[key].value if key in plan.lines else None


def _board(plan: Plan, name: str) -> Any:
    boards = plan.new_boards
    return None if boards[1:] else plan.catalog.gpus[boards[0]].value(name)


def _gpu_price(plan: Plan) -> float | None:
    if plan.new_boards[1:]:
        return None
    key = f"gpus/{plan.scenario.hardware.gpu}"
    prices = plan.costs.prices if plan.costs else ()
    return next((price.value for price in prices if price.key == key), None)


FIGURES: Mapping[str, Callable[[Plan], Any]] = {
    "short_h": lambda plan: next((p.short_h for p in plan.postures if p.chosen), None),
    "kept": lambda plan: min((use.kept for use in plan.network.remote), default=None),
    "placed": lambda plan: f"{plan.verdict.short}, {plan.verdict.note}" if plan.placed.vms else None,
    "memory": lambda plan: _board(plan, "memory_gib"),
    "speed": lambda plan: plan.scenario.hardware.gpu,
    "board_power": lambda plan: _board(plan, "tdp_w"),
    "gpu_price": _gpu_price,
    "cost.excludes": lambda plan: "; ".join(plan.costs.excludes) if plan.costs else None,
    "valid": lambda plan: standing(plan).valid,
    "stops": lambda plan: "; ".join(standing(plan).stops) or None,
    "low": lambda plan: standing(plan).low,
    "high": lambda plan: standing(plan).high,
}


COMPARED: dict[str, dict[str, str]] = {}
"""``result`` or ``difference`` -> the figures by which plans are compared, most asked-for first, with their units."""
RESULT_NAMES: dict[str, str] = {}
"""Key of such a result -> its name as a column of a frame, the same in all studies."""
for _row in own_rows("words/compared"):
    COMPARED.setdefault(_row["of"], {})[_row["figure"]] = _row["unit"]
    if _row["name"]:
        RESULT_NAMES[_row["figure"]] = _row["name"]


def changed_inputs(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield the paths of inputs that differ between the scenarios; a group that not all have counts as one."""
    for path in FIELD_BY_PATH:
        head = path.partition(".")[0]
        heads, values = (getattr(item, head) for item in scenarios), (item.get(path) for item in scenarios)
        if _differ(heads) and _differ(values):
            yield path
    yield from _changed_in_groups(scenarios)
    for head in MAPS:
        stated = [dict(getattr(item, head)) for item in scenarios]
        for key in dict.fromkeys(key for item in stated for key in item):
            if _differ(item.get(key) for item in stated):
                yield f"{head}.{key}"


def _changed_in_groups(scenarios: Sequence[Scenario]) -> Iterator[str]:
    having = [{group.id: group for group in item.groups} for item in scenarios]
    for id in dict.fromkeys(id for groups in having for id in groups):
        groups = [item[id] for item in having if id in item]
        if len(groups) < len(scenarios):
            yield f"groups.{id}"
            continue
        for name in GROUP_FIELD_BY_NAME:
            if _differ(getattr(group, name) for group in groups):
                yield f"groups.{id}.{name}"


def _differ(values: Iterable[object]) -> bool:
    return len(set(values)) > 1


def has_input(scenario: Scenario, path: str) -> bool:
    """True if an input belongs to no group, or to a group of the scenario."""
    head, _, rest = path.removeprefix("ranges.").partition(".")
    return head != "groups" or rest.partition(".")[0] in {group.id for group in scenario.groups}


CONVERTED = said("equivalence.converted")
"""Opening words of the note on a demand that was stated in GPUs of another board."""


def is_converted(scenario: Scenario) -> bool:
    """True if the demand was converted from another board, in GPUs that do the same work."""
    return any(origin.note.startswith(CONVERTED) for _, origin in scenario.origins)


@lru_cache(maxsize=64)  # candidates that differ in server, link or failures ask for the same
def on_board(scenario: Scenario, catalog: Catalog, gpu: str, of: str = "") -> Scenario:
    """Return the scenario with the demand of a kind of hosts in GPUs of another board that do the same work.

    Each VM keeps its memory; without a kind it is the first.
    """
    of = of or scenario.hardware.of
    board, before = next(view for view in views(scenario) if view.hardware.of == of).hardware.gpu, scenario
    for group in before.groups:
        if uses_model(group) or group.profile or (group.hosts or "") != of:
            continue  # the plan works out what it takes of each board; a profile, and other hosts, are one board's
        work = work_of(catalog, group, board, gpu)
        memory = memory_of(catalog, board, gpu)
        for name, value in _changed(before, catalog, group, work.ratio, memory).items():
            path = f"groups.{group.id}.{name}"
            values = {"value": getattr(group, name), "board": catalog.gpus[board].name, "how": work.how}
            note = f"{CONVERTED} {said('equivalence.of board', **values)}"
            scenario = scenario.with_value(path, value)
            scenario = scenario.with_origin(path, Origin("assumed", "gpuplan-method", note=note))
    stated = before.deciding_total_gpus
    if stated is not None:
        rest = (stated - _gpus(before)) / work_of(catalog, Group("all", "All"), board, gpu).ratio
        scenario = scenario.with_value("demand.stated_gpus", max(1, math.ceil(_gpus(scenario) + rest - 1e-9)))
    return scenario


def _gpus(scenario: Scenario) -> float:
    """GPUs of all groups at their peaks."""
    groups = [g for g in scenario.groups if not uses_model(g) and not g.hosts]
    return sum(math.ceil(g.people * g.active_share - 1e-9) * g.vms_each * g.gpus_each for g in groups)


def _changed(given: Scenario, catalog: Catalog, group: Group, ratio: float, memory: float) -> dict[str, Any]:
    """Inputs of a group that change where a GPU does ``ratio`` of the work and ``memory`` of its own fill one of the other.

    Jobs take their time by the ratio; else a faster GPU is divided as memory allows, a slower one makes more VMs.
    """
    changed: dict[str, Any] = {"gpus_each": _each(group, ratio, memory)}
    rest = float(group.gpus_each) / ratio  # GPUs of the other board that do what a VM does
    if interactive(catalog, group):
        pass  # as many VMs as users, however fast they are
    elif group.jobs_per_day is not None:
        hours = float(work_fact(given, catalog, group).value) / ratio
        changed["work_h"] = min(max(hours, _limit("work_h").low), _limit("work_h").high)
        changed["gpus_each"] = _each(group, 1.0, memory)
    elif group.vms_each > 1 and group.gpus_each >= 1:
        changed["vms_each"] = math.ceil(group.vms_each / ratio - 1e-9)
        changed["gpus_each"] = _each(group, 1.0, memory)
    elif ratio < 1 and rest > changed["gpus_each"]:
        people = math.ceil(group.people * rest / changed["gpus_each"] - 1e-9)
        changed["people"] = min(people, int(_limit("people").high))
    return {name: value for name, value in changed.items() if value != getattr(group, name)}


def _limit(name: str) -> Any:
    return GROUP_FIELD_BY_NAME[name]


def _each(group: Group, ratio: float, memory: float) -> float:
    """GPUs of the other board for a VM: enough for its memory, and a part of a GPU where an own GPU may be shared."""
    gpus = exact(group.gpus_each)
    least = max(gpus / exact(max(ratio, 1.0) if gpus >= 1 else ratio), gpus * exact(memory))
    whole = group.isolation or group.access == "passthrough" or group.vgpus_each > 1
    if group.vgpus_each > 1 or (gpus <= 1 and whole):
        least = max(gpus, gpus * exact(memory))
    if least > 1 or gpus > 1:
        return float(min(max(1, math.ceil(least - Fraction(1, 10**9))), 16)) if gpus >= 1 else 1.0
    return float(Fraction(1, int(1 / least + Fraction(1, 10**9))))
