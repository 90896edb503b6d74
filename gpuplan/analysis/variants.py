"""Variants: a scenario with something changed, the plan that it gives or why it is refused, and the figures by which plans are compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.scenario import FIELD_BY_PATH, GROUP_FIELD_BY_NAME, MAPS, Problem, Scenario, ScenarioError
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
    """Codes of the messages that say stop."""
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
        return plan.once("standing", lambda: standing(plan, _stops(plan)))
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


def _stops(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(message.code for message in check_plan(plan) if message.level == "stop"))


class Outcome(NamedTuple):
    """The plan of a variant; none where it is refused, and then why."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()

    @property
    def standing(self) -> Standing:
        return standing(self.plan) if self.plan else REFUSED

    @property
    def costs(self) -> Costs | None:
        return self.plan.costs if self.plan else None

    @property
    def net_present(self) -> float | None:
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
    """Return a fact of the board; None where a design has several boards."""
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
for _row in own_rows("words/compared"):
    COMPARED.setdefault(_row["of"], {})[_row["figure"]] = _row["unit"]


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
