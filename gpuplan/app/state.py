"""The state of one open workbook: scenario, last good plan, problems, history. No widgets.

Views watch ``revision``: it counts every change that may be seen.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from traitlets import HasTraits, Int, Unicode

from gpuplan.app.auditing import Auditing
from gpuplan.app.background import Exploring, Simulating
from gpuplan.app.delivering import Delivering
from gpuplan.app.fragments import Link, link_of, scenario_of
from gpuplan.catalog import Catalog, Row
from gpuplan.models.availability.failover import Loss, Outcome
from gpuplan.plan import Plan, fail_hosts, make_plan, worst_failures
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.customer import customer_scenario
from gpuplan.plan.prices import is_sold
from gpuplan.scenario import (
    GROUP_FIELD_BY_NAME,
    MAX_GROUPS,
    Group,
    Internal,
    Origin,
    Problem,
    Scenario,
    ScenarioError,
    decode_scenario,
    field_of,
    from_dict,
    load_scenario,
    parse_value,
    shown_name,
)

STEPS = (
    ("start", "Start"),
    ("usecases", "Use cases"),
    ("demand", "Demand"),
    ("hosts", "Hosts and availability"),
    ("network", "Network"),
    ("cost", "Cost"),
    ("compare", "Compare"),
    ("design", "Design"),
    ("deliver", "Deliver"),
)
HISTORY = 200
MOST_KEPT = 3
"""Designs that are kept beside the one that is worked on."""
SPACED = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
"""A space before thousands, as numbers are shown and so are typed."""

T = TypeVar("T")


@dataclass(frozen=True)
class Kept:
    """A design that was put aside to be compared, with its plan."""

    name: str
    """Its own among those kept."""
    plan: Plan
    """As it is seen now."""
    scenario: Scenario
    """Our own version of it."""
    link: Link
    """The same as text."""


class Workbook(HasTraits):
    """One open workbook. A change makes a new scenario and, if it can be planned, a new plan."""

    revision = Int(0)
    step = Unicode("start")
    drawer = Unicode("")
    """Key of the explained number, ``messages``, or empty."""

    def __init__(self, catalog: Catalog, scenario: Scenario | None = None, customer: bool = False) -> None:
        super().__init__()
        self.catalog = catalog
        self.customer = customer
        """Whether the customer looks on: then everything on the screen comes from the customer's version."""
        self.scenario = scenario or from_dict({})
        """Our own version: what is edited, undone, and carried by the address of the page."""
        self.seen: Scenario = self._seen(self.scenario)
        """The version that is on the screen."""
        self.plan: Plan = self._made(self.seen)
        self.planned = self.scenario
        """Our own version of the design that ``plan`` is of."""
        self.messages: tuple[Message, ...] = check_plan(self.plan)
        self.drafts: dict[str, tuple[str, Problem]] = {}
        """What was typed into a field that does not accept it: path -> (text, problem)."""
        self.refused: tuple[Problem, ...] = ()
        """What the catalog or the hardware does not allow in the current scenario."""
        self.notice: tuple[str, str] = ("", "")
        """(level, text) of the last thing worth saying that belongs to no field."""
        self.failed: dict[str, tuple[int, ...]] = {}
        """Failed hosts by pool, in the order of the clicks."""
        self.maintenance: dict[str, tuple[int, ...]] = {}
        """Hosts in maintenance by pool; none of them is a failed one."""
        self.click = "fail"
        """What a click on a host does: ``fail`` or ``maintain``."""
        self.opened: frozenset[str] = frozenset()
        """Details that are open, of those that are worked out only then."""
        self.looked: dict[str, str] = {}
        """What is chosen to look at, such as the clock of a chart; it changes no plan."""
        self.simulating = Simulating(self._changed)
        self.auditing = Auditing(self._changed)
        self.exploring = Exploring("explore", "exploration", self._changed)
        self.sensitivity = Exploring("sensitivity", "sensitivity", self._changed)
        self.delivering = Delivering(self._changed)
        self.aside: tuple[Kept, ...] = ()
        """All designs that are kept, also those that the customer does not see."""
        self.started = scenario is not None
        self.examples: list[dict[str, str]] | None = None
        """What the start page says about the examples; worked out once."""
        self.typing = ""
        """Path of the field that is being typed into: all of it is undone at once."""
        self.past: list[Link] = []
        """Designs that undo returns to, the last one first."""
        self.future: list[Link] = []
        """Designs that redo returns to, the last one first."""
        self._linked: tuple[Scenario, Link] | None = None
        self._worked: dict[str, Any] = {}

    @property
    def stale(self) -> bool:
        """Whether the plan on the screen is older than the inputs."""
        return bool(self.drafts or self.refused)

    @property
    def kept(self) -> tuple[Kept, ...]:
        """Designs to compare with; they are no part of the history, so undo leaves them alone.

        The customer sees those with the margin of the design on the screen: others would show what it is.
        """
        return tuple(
            each
            for each in self.aside
            if not self.customer
            or (each.scenario.internal.margin or 0) == (self.scenario.internal.margin or 0)
        )

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self.past or self.drafts)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to bring back."""
        return bool(self.future)

    def text_of(self, path: str) -> Any:
        """What the field at ``path`` shows: what was typed if it was refused, else the value."""
        return self.drafts[path][0] if path in self.drafts else self.seen.get(path)

    def problem_of(self, path: str) -> str:
        """What is wrong with the field at ``path``, in words, or nothing."""
        if path in self.drafts:
            return _words(self.drafts[path][1])
        return next((_words(p) for p in self.refused if p.path == path), "")

    def locked(self, path: str) -> str:
        """Why the field at ``path`` cannot be changed in the customer view, or nothing."""
        if not self.customer:
            return ""
        if path.startswith("internal."):
            return "Leave the customer view to change it."
        price = path.removeprefix("ranges.").removeprefix("prices.")
        if "prices." in path and self.scenario.internal.margin and is_sold(price):
            return "This is a price of this offer: leave the customer view to change it."
        return ""

    def look_as(self, customer: bool) -> None:
        """Show the customer's version, or our own."""
        self.customer = customer
        self.notice = ("", "")
        if customer:
            self.delivering.cancel_internal()
        self.drafts = {path: draft for path, draft in self.drafts.items() if not self.locked(path)}
        changed = self._seen(self.scenario) != self.seen or any(
            each.scenario.internal != Internal() for each in self.aside
        )
        for background in (self.exploring, self.sensitivity):
            # what was found before the margin was taken away still rests on it
            if changed or (background.plan and background.plan.scenario.internal != Internal()):
                background.forget()
        if changed:
            self.aside = tuple(
                replace(each, plan=self._made(self._seen(each.scenario))) for each in self.aside
            )
        if self.refused:  # the plan before it stays on the screen, and may not be seen as it is
            self._show(self._made(self._seen(self.planned)), self.planned)
        self._plan(self.scenario)

    def for_customer(self) -> Scenario:
        """What the customer may have of this design, as a file or a link."""
        return customer_scenario(self.scenario, self.catalog)

    def go(self, step: str) -> None:
        """Enter a step; nothing is lost by leaving the one before."""
        if step in dict(STEPS):
            self.started = self.started or step != "start"
            self.step = step

    def edit(self, path: str, given: Any, live: bool = False) -> None:
        """Set one input from what a form gives; what cannot be read stays in the field with its problem.

        ``live`` marks a value that is still being typed: a run of them on one field is undone at once,
        and one that cannot be read yet is left alone.
        """
        if why := self.locked(path):
            self.say("warn", why)
            return
        spec = field_of(path)
        if spec.kind in ("int", "number", "range") and isinstance(given, str):
            given = SPACED.sub("", given)
        if path.startswith("groups.") and path.split(".")[1] not in {g.id for g in self.scenario.groups}:
            return  # typed into a row that has been deleted since
        try:
            value = parse_value(spec, given, path)
        except ScenarioError as error:
            if not live:
                self.drafts[path] = (str(given), error.problems[0])
                self._changed()
            return
        drafted = self.drafts.pop(path, None)
        scenario = self.scenario.with_value(path, value)
        if scenario == self.scenario and drafted is None and not live:
            self.typing = ""
            return  # a field is left as it was typed
        if path.endswith(".use_case") and value in self._presets():
            scenario = self._apply_preset(scenario, path.split(".")[1], value)
        self._take(scenario, typing=path if live else "")

    def add_group(self, use_case: str) -> None:
        """Add a group with the GPU configuration of a use case."""
        if self._full():
            return
        preset = self._presets()[use_case]
        group = Group(
            id=self.scenario.new_group_id(str(preset["name"])), name=str(preset["name"]), use_case=use_case
        )
        scenario = self.scenario.with_groups((*self.scenario.groups, group))
        scenario = self._apply_preset(scenario, group.id, use_case)
        self._take(scenario.with_origin(f"groups.{group.id}", _preset_origin(preset)))

    def duplicate_group(self, group_id: str) -> None:
        """Add a copy of a group below it; what is assumed of a group is assumed of its copy."""
        if self._full():
            return
        groups = list(self.scenario.groups)
        at = self._index(group_id)
        name = f"{groups[at].name[:53]} (copy)"
        copy = replace(groups[at], id=self.scenario.new_group_id(name), name=name)
        groups.insert(at + 1, copy)
        old, new = f"groups.{group_id}", f"groups.{copy.id}"
        scenario = self.scenario.with_groups(groups)
        for path, origin in sorted(self.scenario.origins, key=lambda known: known[0]):
            if path == old or path.startswith(old + "."):
                scenario = scenario.with_origin(new + path.removeprefix(old), origin)
        self._take(scenario)

    def delete_group(self, group_id: str) -> None:
        """Remove a group; undo brings it back."""
        self.drafts = {p: d for p, d in self.drafts.items() if not p.startswith(f"groups.{group_id}.")}
        self._take(self.scenario.with_groups(g for g in self.scenario.groups if g.id != group_id))

    def move_group(self, group_id: str, by: int) -> None:
        """Move a group up (-1) or down (+1) in the table."""
        groups = list(self.scenario.groups)
        at = self._index(group_id)
        to = min(max(at + by, 0), len(groups) - 1)
        groups.insert(to, groups.pop(at))
        self._take(self.scenario.with_groups(groups))

    def open_example(self, name: str) -> None:
        """Start from an example, or from nothing with ``blank``."""
        self.start(from_dict({}) if name == "blank" else load_scenario(name))

    def open_file(self, name: str, content: bytes) -> None:
        """Start from a file; a file that cannot be used leaves everything as it is."""
        try:
            scenario = decode_scenario(content)
            self._made(scenario)
        except ScenarioError as error:
            more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
            self.say("stop", f"{shown_name(name)} was not opened. {self._first(error)}{more}")
            return
        except ValueError as error:  # a model that cannot answer
            self.say("stop", f"{shown_name(name)} was not opened. It cannot be planned: {error}")
            return
        self.start(scenario)
        self.say("note", f"{shown_name(name)} is open.")

    def start(self, scenario: Scenario) -> None:
        """Work on another scenario; undo returns to the one before."""
        self.drafts = {}
        self.failed = self.maintenance = {}
        self.started = True
        self.drawer = ""
        self.notice = ("", "")
        self._take(scenario)
        self.step = "usecases"

    def undo(self) -> None:
        """Take the last change back; first of all what was typed and refused."""
        self.typing = ""
        if self.drafts:
            self.drafts = {}
            self._plan(self.scenario)
        else:
            self._return(self.past, self.future)

    def redo(self) -> None:
        """Bring back the change that was taken back last."""
        self._return(self.future, self.past)

    def toggle_host(self, pool: str, host: int) -> None:
        """Fail a host of a pool, or put it in maintenance, as a click does now; or bring it back."""
        if host not in range(1, {p.id: p.hosts for p in self.plan.pools}.get(pool, 0) + 1):
            return  # a click on a picture that has changed since
        failed, maintenance = self.failed.get(pool, ()), self.maintenance.get(pool, ())
        down = failed if self.click == "fail" else maintenance
        added = () if host in down else (host,)
        failed, maintenance = (tuple(h for h in hosts if h != host) for hosts in (failed, maintenance))
        if self.click == "fail":
            failed += added
        else:
            maintenance += added
        self.put_down(pool, failed, maintenance)

    def fail_worst(self, pool: str, lost: int) -> None:
        """Fail the host of a pool whose loss is the worst, or with ``lost=2`` the worst pair.

        Hosts in maintenance stay in it, and the worst failure beside them is taken; all others run.
        """
        maintenance = self.maintenance.get(pool, ())
        hosts = {p.id: p.hosts for p in self.plan.pools}.get(pool, 0)
        if lost in (1, 2) and hosts - len(maintenance) >= lost:
            worst = self.worst(pool, lost, maintenance)[0]
            self.put_down(pool, tuple(index + 1 for index in worst.hosts), maintenance)

    def bring_back(self, pool: str, host: int) -> None:
        """Bring one host of a pool back, whatever it is down for."""
        failed, maintenance = (
            tuple(h for h in down.get(pool, ()) if h != host) for down in (self.failed, self.maintenance)
        )
        self.put_down(pool, failed, maintenance)

    def restore_hosts(self) -> None:
        """Bring all hosts back."""
        self.failed = self.maintenance = {}
        self._changed()

    def outcome(self, pool: str) -> Outcome | None:
        """What the hosts that are down do to a pool; None if all of them run."""
        failed, maintenance = self.failed.get(pool, ()), self.maintenance.get(pool, ())
        if not failed and not maintenance:
            return None
        key = f"outcome of {pool}: {sorted(failed)}, {sorted(maintenance)}"
        return self.once(key, lambda: fail_hosts(self.plan, pool, failed, maintenance))

    def worst(self, pool: str, lost: int, maintenance: Sequence[int] = ()) -> tuple[Loss, ...]:
        """The worst losses of so many hosts of a pool beside those in maintenance, the worst first."""
        down = sorted(maintenance)
        key = f"worst {lost} of {pool} beside {down}"
        return self.once(key, lambda: worst_failures(self.plan, pool, lost, down))

    def once(self, key: str, work: Callable[[], T]) -> T:
        """What ``work`` gives for the plan on the screen, worked out when it is first asked for."""
        if key not in self._worked:
            self._worked[key] = work()
        found: T = self._worked[key]
        return found

    def set_click(self, what: str) -> None:
        """Choose what a click on a host does: ``fail`` or ``maintain``."""
        if what in ("fail", "maintain"):
            self.click = what
            self._changed()

    def fold(self, key: str, opened: bool) -> None:
        """Open or close details."""
        self.opened = self.opened | {key} if opened else self.opened - {key}
        self._changed()

    def look(self, what: str, value: str) -> None:
        """Choose what to look at, such as the clock of a chart."""
        self.looked = self.looked | {what: value}
        self._changed()

    def use_audit(self) -> None:
        """Put the groups and the burstiness that an audit found in place of those of the design; undo brings them back."""
        scenario = self.auditing.suggested(self.scenario)
        if scenario is not None:
            self.drafts = {}
            self._take(scenario)
            self.say(
                "note", f"The design has the {len(scenario.groups)} groups of {self.auditing.name[:60]}."
            )

    def use(self, scenario: Scenario, words: str) -> None:
        """Put another design, made from the one on the screen, in its place; undo brings it back."""
        self.drafts = {}
        self._take(self._own(scenario))
        self.say("note", words)

    def keep(self) -> None:
        """Put the design on the screen aside, under a name of its own, to compare others with it."""
        if self.stale or len(self.aside) >= MOST_KEPT:
            if len(self.kept) < len(self.aside):
                self.say("warn", f"{MOST_KEPT} designs are kept, of which this view does not show all.")
            return
        name, count = self.plan.scenario.name, 1
        while name in {kept.name for kept in self.aside}:
            count += 1
            name = f"{self.plan.scenario.name} ({count})"
        self.aside = (*self.aside, Kept(name, self.plan, self.scenario, self.link))
        self._changed()

    def keep_again(self, name: str, link: Link) -> bool:
        """Put a design aside again that was kept before the page was loaded again; False if it is damaged."""
        if len(self.aside) < MOST_KEPT and name not in {kept.name for kept in self.aside}:
            try:
                scenario = scenario_of(link.fragment)
                plan = self._made(self._seen(scenario))
            except ValueError:
                return False
            self.aside = (*self.aside, Kept(name, plan, scenario, link))
        return True

    def open_kept(self, name: str) -> None:
        """Work on a design that was kept; undo returns to the one before."""
        for kept in self.kept:
            if kept.name == name:
                self.drafts = {}
                self._take(kept.scenario)
                self.say("note", f"{name} is open.")

    def forget_kept(self, name: str) -> None:
        """Give up a design that was kept."""
        self.aside = tuple(kept for kept in self.aside if kept.name != name)
        self._changed()

    def say(self, level: str, text: str) -> None:
        """Show a message that belongs to no field."""
        self.notice = (level, text)
        self._changed()

    @property
    def link(self) -> Link:
        """Our own version as text."""
        if self._linked is None or self._linked[0] is not self.scenario:
            self._linked = (self.scenario, link_of(self.scenario))
        return self._linked[1]

    def fragment(self, customer: bool = False) -> str:
        """Our own version, or the customer's, as text for the fragment of a link."""
        return (link_of(self.for_customer()) if customer else self.link).fragment

    def restore(self, fragment: str) -> bool:
        """Work on the scenario that a link carries; a damaged link leaves everything as it is, and gives False."""
        scenario = self._carried(fragment)
        if scenario is None:
            return False
        self.started = True
        self.drafts = {}
        self.failed = self.maintenance = {}
        self.typing = ""
        self._plan(scenario)
        if self.step == "start":
            self.step = "usecases"
        return True

    def open_recent(self, fragment: str) -> None:
        """Start from a design that the browser has kept; undo returns to the one before."""
        scenario = self._carried(fragment)
        if scenario is not None:
            self.start(scenario)

    def _carried(self, fragment: str, where: str = "this link") -> Scenario | None:
        """The scenario that a link carries, or None and what is wrong with it on the screen."""
        try:
            return scenario_of(fragment)
        except ValueError as error:
            why = self._first(error) if isinstance(error, ScenarioError) else "it is damaged or cut short"
            self.say("stop", f"The design in {where} was not opened: {why}.")
            return None

    def _first(self, error: ScenarioError) -> str:
        """The first thing that is wrong with a file or a link, which the customer does not read if it is internal."""
        first = error.problems[0]
        if self.customer and first.path.startswith("internal."):
            return "Its internal part cannot be used: leave the customer view to see why"
        return str(first)

    def _full(self) -> bool:
        """Whether there is no room for one more group, and say so."""
        full = len(self.scenario.groups) >= MAX_GROUPS
        if full:
            self.say("warn", f"A design has at most {MAX_GROUPS} groups.")
        return full

    def _presets(self) -> dict[str, Row]:
        return {row.id: row for row in self.catalog.rows("use_cases")}

    def _apply_preset(self, scenario: Scenario, group_id: str, use_case: str) -> Scenario:
        preset = self._presets()[use_case]
        origin = _preset_origin(preset)
        for name in ("gpus_each", "vms_each", "remote_allowed", "low_latency"):
            path = f"groups.{group_id}.{name}"
            value = parse_value(GROUP_FIELD_BY_NAME[name], preset[name], path)
            scenario = scenario.with_value(path, value).with_origin(path, origin)
            self.drafts.pop(path, None)
        return scenario

    def _index(self, group_id: str) -> int:
        return next(i for i, g in enumerate(self.scenario.groups) if g.id == group_id)

    def _take(self, scenario: Scenario, typing: str = "") -> None:
        if scenario != self.scenario and not (typing and typing == self.typing):
            self.past = [*self.past[-HISTORY:], self.link]
            self.future = []
        self.typing = typing
        self._plan(scenario)

    def _made(self, scenario: Scenario) -> Plan:
        """The plan with all its chapters, so that a model that cannot answer says so here."""
        plan = make_plan(scenario, self.catalog)
        plan.read()
        return plan

    def _plan(self, scenario: Scenario) -> None:
        self.scenario, self.seen = scenario, self._seen(scenario)
        alive = {g.id for g in scenario.groups}
        self.drafts = {
            p: d for p, d in self.drafts.items() if not p.startswith("groups.") or p.split(".")[1] in alive
        }
        try:
            plan = self._made(self.seen)
        except ScenarioError as error:
            self.refused = error.problems
        except ValueError as error:  # a model that cannot answer; which input is to blame is not known
            self.refused = (Problem("", "", str(error)),)
            self.notice = ("stop", f"This cannot be planned, so the plan before it is shown: {error}")
        else:
            if any(not problem.path for problem in self.refused):
                self.notice = ("", "")  # it said why there was no plan
            self.refused = ()
            self._show(plan, scenario)
        self.failed, self.maintenance = self._still_there(self.failed), self._still_there(self.maintenance)
        self._changed()

    def _show(self, plan: Plan, own: Scenario) -> None:
        """Put a plan on the screen that was made from a scenario, as it is seen."""
        self.plan, self.planned, self.messages = plan, own, check_plan(plan)
        self._worked = {}

    def _return(self, there: list[Link], left: list[Link]) -> None:
        """Return to the last design of one side of the history, and leave that on the screen on the other side."""
        if not there:
            return
        scenario = self._carried(there[-1].fragment, "the history")
        if scenario is None:
            there.pop()
            self._changed()
        elif not self._held_back(scenario):
            there.pop()
            left.append(self.link)
            self._plan(scenario)

    def _held_back(self, scenario: Scenario) -> bool:
        """Whether another design would show the customer prices with another margin, or none; and say so."""
        margin = self.scenario.internal.margin or 0
        if not self.customer or (scenario.internal.margin or 0) == margin:
            return False
        self.say("warn", "That would change prices of this offer: leave the customer view to do it.")
        return True

    def _seen(self, scenario: Scenario) -> Scenario:
        """The version of a scenario that is on the screen."""
        return customer_scenario(scenario, self.catalog, whole_catalog=True) if self.customer else scenario

    def _own(self, scenario: Scenario) -> Scenario:
        """Our own version of a scenario made from the one on the screen: what the view held back, put back."""
        if self.seen == self.scenario:
            return scenario
        held = ("internal", "prices", "ranges")

        def is_held(path: str) -> bool:
            return path.split(".")[0] in held

        kept = [(path, origin) for path, origin in scenario.origins if not is_held(path)]
        back = [(path, origin) for path, origin in self.scenario.origins if is_held(path)]
        own = {name: getattr(self.scenario, name) for name in held}
        return replace(scenario, origins=(*kept, *back), **own)

    def put_down(self, pool: str, failed: tuple[int, ...], maintenance: tuple[int, ...]) -> None:
        """Fail some hosts of a pool and put others in maintenance; all others run."""
        self.failed = self.failed | {pool: failed}
        self.maintenance = self.maintenance | {pool: maintenance}
        self._changed()

    def _still_there(self, down: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Of the hosts that are down, those that the plan on the screen has."""
        hosts = {p.id: p.hosts for p in self.plan.pools}
        return {
            pool: tuple(h for h in numbers if h <= hosts[pool])
            for pool, numbers in down.items()
            if pool in hosts
        }

    def _changed(self) -> None:
        self.revision += 1


def _preset_origin(preset: Row) -> Origin:
    return Origin("assumed", preset.sources[0], preset.locator, "preset, not yet confirmed")


def _words(problem: Problem) -> str:
    return f"{problem.value} is not allowed: {problem.message}"


def guarded(
    workbook: Workbook, log: Callable[[str], None], action: Callable[..., None], arguments: Sequence[Any]
) -> None:
    """Run a callback so that no error is lost, and none shows a traceback to a customer."""
    try:
        action(*arguments)
    except Exception as error:  # the one place that catches everything: it says so and logs it
        reference = secrets.token_hex(4).upper()
        log(f"[{reference}] {type(error).__name__} in {getattr(action, '__name__', action)}: {error}")
        workbook.say(
            "stop",
            f"That did not work, and nothing was changed. The server's log says why, under {reference}.",
        )
