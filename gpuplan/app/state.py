"""The state of one open workbook: scenario, last good plan, problems, history. No widgets."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from traitlets import Unicode

from gpuplan.analysis.customer import customer_scenario
from gpuplan.analysis.differences import design_name
from gpuplan.analysis.variants import has_input
from gpuplan.app import groups
from gpuplan.app.background import Exploring, Simulating
from gpuplan.app.delivering import Delivering
from gpuplan.app.groups import Answers, cell_at, first_design, with_cell
from gpuplan.app.history import History, Link, input_name, link_of, scenario_of
from gpuplan.app.number_input import NUMERIC, as_typed, counted_as_typed, is_half_typed
from gpuplan.app.plan_view import PlanView
from gpuplan.audit.upload import Auditing
from gpuplan.catalog import Catalog
from gpuplan.locales import locale_of
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.prices import is_sold
from gpuplan.scenario import (
    MAX_GROUPS,
    Internal,
    Problem,
    Scenario,
    ScenarioError,
    decode_scenario,
    field_of,
    from_dict,
    load_scenario,
    one_line,
    parse_value,
    show,
    shown_name,
)
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, amount, said

STEPS = tuple(NAMES["step"].items())
HELD_BACK = ("internal", "prices", "ranges")
"""Sections of a scenario that the customer's version lacks, or changes."""
MOST_NOTE = 80
"""Most characters of who confirmed an input, and when, and of the name of a design that is kept."""
MOST_PLANS = 8
"""Most plans remembered, of a third of a megabyte each."""
MOST_KEPT = 3
"""Most designs kept beside the current one."""


@dataclass(frozen=True)
class Kept:
    """A design that was put aside to be compared, with its plan."""

    name: str
    """Name of its own among the kept designs."""
    plan: Plan
    """Plan as it is shown now."""
    scenario: Scenario
    """The internal version of it."""
    link: Link
    """The internal version as text."""


class Before(NamedTuple):
    """View before presenting."""

    step: str
    tabs: dict[str, str]
    customer: bool


class Settled(NamedTuple):
    """A plan that was on the screen before something was typed, with its messages."""

    plan: Plan
    messages: tuple[Message, ...]


class Draft(NamedTuple):
    """Text typed into a field that does not accept it."""

    text: str
    problem: Problem
    at: str
    """Id of the design in which it was typed."""


class Workbook(PlanView):
    """One open workbook. A change makes a new scenario and, if it can be planned, a new plan."""

    step = Unicode("start")
    drawer = Unicode("")
    """Key of the explained number, ``messages``, or empty."""

    def __init__(self, catalog: Catalog, scenario: Scenario | None = None, customer: bool = False) -> None:
        self.catalog = catalog
        self.customer = customer
        """True in the customer view: then everything on the screen comes from the customer's version."""
        self.scenario = scenario or from_dict({})
        """The internal version: it is edited, undone, and carried by the address of the page."""
        self.seen: Scenario = self._seen(self.scenario)
        """The version that is on the screen."""
        self._plans: tuple[Plan, ...] = ()
        """Last plans made: undo and redo need them again."""
        super().__init__(self._made(self.seen))
        self.planned = self.scenario
        """The internal version of the design of ``plan``."""
        self.messages: tuple[Message, ...] = check_plan(self.plan)
        self.before: Plan | None = None
        """The plan before the last change; None where a design was opened."""
        self.messages_before: tuple[Message, ...] = ()
        self.turn = 0
        """Number of plans made so far."""
        self.drafts: dict[str, Draft] = {}
        """Texts typed into fields that do not accept them, by path, the latest last."""
        self.refused: tuple[Problem, ...] = ()
        """Values of the current scenario that the catalog or the hardware does not allow."""
        self.cause = ""
        """Path of the input whose change caused it; the refused input may be another one that conflicts with it."""
        self.notice: tuple[str, str] = ("", "")
        """(level, text) of the last message that belongs to no field."""
        # commands that run beside the page want the user's own rows, too
        folders = [str(folder) for folder in catalog.folders[1:2]]
        self.simulating = Simulating(self._changed, *folders)
        self.auditing = Auditing(self._changed, *folders)
        self.exploring = Exploring("explore", "exploration", self._changed, *folders)
        self.sensitivity = Exploring("sensitivity", "sensitivity", self._changed, *folders)
        self.powering_on = Exploring("power-on", "tried", self._changed, *folders)
        self.delivering = Delivering(self._changed, *folders)
        self.aside: tuple[Kept, ...] = ()
        """All designs that are kept, also those that the customer does not see."""
        self.started = scenario is not None
        self.examples: list[contract.Example] | None = None
        """Descriptions of the examples on the start page; worked out once."""
        self.unread: tuple[Problem, ...] = ()
        """Answers on the start page that cannot be read."""
        self.before_presenting: Before | None = None
        """View before presenting; None while not presenting."""
        self.typing = ""
        """Path of the field that is being typed into: all its text is undone at once."""
        self.history = History(catalog)
        self._settled: Settled | None = None
        """Screen before the field was typed into; None while no field is."""
        self._linked: tuple[Scenario, Link] | None = None

    @property
    def working(self) -> tuple[str, ...]:
        """Names of the work in the background that is not done yet."""
        runners = {
            "simulate": self.simulating.runner,
            "audit": self.auditing.runner,
            "deliver": self.delivering.runner,
            "preview": self.delivering.previewer,
        }
        busy = {name: runner.state == "running" for name, runner in runners.items()}
        busy |= {
            "explore": self.exploring.busy,
            "sensitivity": self.sensitivity.busy,
            "power-on": self.powering_on.busy,
            "later": self._later.busy,
        }
        return tuple(name for name, works in busy.items() if works)

    @property
    def stale(self) -> bool:
        """True while the plan on the screen is older than the inputs."""
        return bool(self.drafts or self.refused)

    @property
    def kept(self) -> tuple[Kept, ...]:
        """Designs to compare with; they are no part of the history, so undo leaves them alone.

        The customer sees only designs with the margin of the one on the screen: others would reveal it.
        """
        return tuple(design for design in self.aside if not self._sold_otherwise(design.scenario))

    @property
    def can_undo(self) -> bool:
        """True if there is a change to take back."""
        return bool(self.history.past or self.drafts)

    @property
    def can_redo(self) -> bool:
        """True if there is a change to bring back."""
        return bool(self.history.future)

    @property
    def undo_words(self) -> str:
        """Description of what undo takes back: the last refused text, if nothing changed since, or the last change."""
        if path := self._last_draft():
            text = one_line(self.drafts[path].text)[:MOST_NOTE].strip()
            key = "screen.undo.typed" if text else "screen.undo.left empty"
            return said(key, text=text, name=self.name_of(path))
        return self.history.undo_words(self.scenario, self._unsaid)

    @property
    def redo_words(self) -> str:
        """Description of what redo brings back."""
        return self.history.redo_words(self.scenario, self._unsaid)

    @property
    def _unsaid(self) -> tuple[str, ...]:
        return HELD_BACK if self.customer else ()

    def _last_draft(self) -> str:
        """Path of the last text that was refused, if the design has not changed since, or nothing else can be undone."""
        path = next(reversed(self.drafts), "")
        return path if path and (not self.history.past or self.drafts[path].at == self.link.id) else ""

    def name_of(self, path: str) -> str:
        """Return the name of an input, for a cell the name of its table."""
        cell = cell_at(path)
        return input_name(self.scenario, cell.path if cell else path)

    def text_of(self, path: str) -> Any:
        """Return the text of the field at ``path``: the typed text if it was refused, else the value."""
        return self.drafts[path].text if path in self.drafts else self.seen.get(path)

    def problem_of(self, path: str) -> str:
        """Describe the problem of the field at ``path``; empty if it has none."""
        if path in self.drafts:
            return self.drafts[path].problem.words
        blamed = [problem for problem in self.refused if problem.path]
        if path == self.cause and blamed and path not in {problem.path for problem in blamed}:
            return f"{self.name_of(blamed[0].path)}: {blamed[0].words}"
        return next((problem.words for problem in blamed if problem.path == path), "")

    @property
    def wrong(self) -> tuple[str, ...]:
        """Paths of the inputs with a problem, the first to correct first."""
        blamed = [problem.path for problem in self.refused if problem.path]
        return tuple(dict.fromkeys(filter(None, (*self.drafts, *blamed, self.cause * bool(blamed)))))

    def locked(self, path: str) -> str:
        """Say why the field at ``path`` cannot be changed in the customer view; empty if it can."""
        if not self.customer:
            return ""
        if path.startswith("internal."):
            return said("screen.locked")
        price = path.removeprefix("ranges.").removeprefix("prices.")
        if "prices." in path and self.scenario.internal.margin and is_sold(price):
            return said("screen.price locked")
        return ""

    def look_as(self, customer: bool) -> None:
        """Show the customer's version, or the internal one."""
        self.customer = customer
        self.notice = ("", "")
        self._end_typing()
        if customer:
            self.delivering.cancel_internal()
            self.delivering.forget_preview()
        self.drafts = {path: draft for path, draft in self.drafts.items() if not self.locked(path)}
        inside = any(kept.scenario.internal != Internal() for kept in self.aside)
        changed = inside or self._seen(self.scenario) != self.seen
        for background in (self.exploring, self.sensitivity, self.powering_on):
            # results from before the margin was removed still depend on it
            if changed or (background.plan and background.plan.scenario.internal != Internal()):
                background.forget()
        if changed:
            self.aside = tuple(
                replace(kept, plan=self._made(self._seen(kept.scenario))) for kept in self.aside
            )
        if self.refused:  # the plan before it stays on the screen, and may not be seen as it is
            self._show(self._made(self._seen(self.planned)), self.planned)
        self._plan(self.scenario, news=False)  # the difference between the two views is no change

    def for_customer(self) -> Scenario:
        """Return the version of this design that the customer may have, as a file or a link."""
        return customer_scenario(self.scenario, self.catalog)

    def go(self, step: str) -> None:
        """Enter a step; nothing is lost by leaving the one before."""
        if step in dict(STEPS):
            self.started = self.started or step != "start"
            self.step = step

    def explain(self, key: str) -> None:
        """Open the drawer for a number, or close it if that is open; an empty key closes it."""
        self.drawer = "" if self.drawer == key else key

    def edit(self, path: str, given: Any, live: bool = False) -> None:
        """Set one input from a value of a form; one that cannot be read stays in the field with its problem.

        ``live`` marks a value that is still being typed: several on one field are undone at once, and one
        that cannot be read yet is left alone.
        """
        if why := self.locked(path):
            self.say("warn", why)
            return
        number = cell_at(path) is not None or field_of(path).kind in NUMERIC
        if not has_input(self.scenario, path):
            return  # typed into a row that has been deleted since
        if live and number and is_half_typed(str(given), locale_of(self.scenario)):
            return
        try:
            scenario = self._edited(path, given)
        except ScenarioError as error:
            self._refused(path, given, error, live, number)
            return
        drafted = self.drafts.pop(path, None)
        if scenario != self.scenario or drafted or live:
            self._take(scenario, path, live)
        else:
            self._settle(path)  # a field is left as it was typed

    def _edited(self, path: str, given: Any) -> Scenario:
        """Return the scenario with the typed value of an input, or of one cell of an input that holds rows."""
        here, cell = self.scenario, cell_at(path)
        locale = locale_of(here)
        if cell:
            text = counted_as_typed(given, locale) if isinstance(given, str) else given
            return here.with_value(
                cell.path, parse_value(field_of(cell.path), with_cell(here, cell, text), cell.path)
            )
        typed = as_typed(path, given, locale, here.cost.currency) if isinstance(given, str) else given
        scenario = here.with_value(path, value := parse_value(field_of(path), typed, path))
        if path.endswith(".use_case") and value in groups.presets(self.catalog):
            group = path.split(".")[1]
            scenario = groups.configured(scenario, self.catalog, group, value)
            for name in groups.PRESET:
                self.drafts.pop(f"groups.{group}.{name}", None)
        return scenario

    def _refused(self, path: str, given: Any, error: ScenarioError, live: bool, number: bool) -> None:
        """Keep the typed text beside its field with its problem; while typing goes on, no message appears.

        The design is again the one before the typing: a half-typed number must not replace the whole one.
        """
        if number or not live:
            self.untype(path)
        if not live:
            self.drafts.pop(path, None)
            problem = error.problems[0]
            if str(given).strip():
                problem = replace(problem, value=show(given))  # as it was typed, not as it was read
            self.drafts[path] = Draft(str(given), problem, self.link.id)
            self._changed()

    def untype(self, path: str) -> None:
        """Discard the text being typed into a field: the design is again the one before it, and nothing has moved."""
        if path == self.typing and self.history.past:
            self._end_typing()
            self._plan(self.history.scenario(self.history.past.pop()), news=False)

    def confirm(self, path: str, yes: bool, by: str = "") -> None:
        """Mark the assumption at ``path`` as confirmed by the customer, or undo that; ``by`` says who, and when."""
        if why := self.locked(path):
            self.say("warn", why)
        elif has_input(self.scenario, path):
            here = self.scenario
            self._take(here.confirmed(path, _note(by)) if yes else here.doubted(path))

    def add_group(self, use_case: str) -> None:
        """Add a group with the GPU configuration of a workload kind, and open it."""
        if not self._full():
            scenario = groups.added(self.scenario, self.catalog, use_case)
            self.workload = scenario.groups[-1].id
            self._take(scenario)

    def duplicate_group(self, group_id: str) -> None:
        """Add a copy of a group below it, and open it."""
        if not self._full():
            existing = {group.id for group in self.scenario.groups}
            scenario = groups.copied(self.scenario, group_id)
            self.workload = next(group.id for group in scenario.groups if group.id not in existing)
            self._take(scenario)

    def delete_group(self, group_id: str) -> None:
        """Remove a group; undo brings it back."""
        self._take(self.scenario.with_groups(g for g in self.scenario.groups if g.id != group_id))

    def move_group(self, group_id: str, by: int) -> None:
        """Move a group up (-1) or down (+1) in the table."""
        self._take(groups.moved(self.scenario, group_id, by))

    def open_example(self, name: str) -> None:
        """Start from an example, or from nothing with ``blank``."""
        self.start(from_dict({}) if name == "blank" else load_scenario(name))

    def start_guided(self, answers: Answers) -> None:
        """Start from a first design made of answers; problems are shown beside those that cannot be read."""
        try:
            scenario = first_design(self.catalog, answers)
        except ScenarioError as error:
            self.unread = tuple(error.problems)
            self._changed()
        else:
            self.start(scenario)

    def open_file(self, name: str, content: bytes) -> None:
        """Start from a file; a file that cannot be used leaves everything unchanged."""
        try:
            scenario = decode_scenario(content)
            self._made(scenario)
        except ValueError as error:
            why = said("screen.open.not planned", why=error)  # by a model that cannot answer
            if isinstance(error, ScenarioError):
                left = len(error.problems) - 1
                first = self._first(error)
                why = said("screen.open.more", first=first, left=left) if left else first
            self.say("stop", said("screen.open.refused", name=shown_name(name), why=why))
            return
        self.start(scenario)
        self.say("note", said("screen.open.done", name=shown_name(name)))

    def start(self, scenario: Scenario) -> None:
        """Work on another scenario; undo returns to the one before."""
        self._begin()
        self.drawer = ""
        self.notice = ("", "")
        self._take(scenario, news=False)
        self.step = "usecases"

    def _begin(self) -> None:
        """Discard the texts and clicks of another design."""
        self.started = True
        self.drafts = {}
        self.failed = self.maintenance = {}
        self.watched, self.workload, self.unread = None, "", ()
        self.delivering.forget()

    def undo(self) -> None:
        """Take the last change back, or the last text that was refused if it came after that, and say which."""
        words, path = self.undo_words, self._last_draft()
        self._end_typing()
        if path:
            del self.drafts[path]
            self._plan(self.scenario)
        elif not self._return(self.history.past, self.history.future):
            return
        self.say("note", said("screen.undo.undone", what=words))

    def redo(self) -> None:
        """Bring back the change that was taken back last, and say which."""
        words = self.redo_words
        if self._return(self.history.future, self.history.past):
            self.say("note", said("screen.undo.redone", what=words))

    def use_audit(self) -> None:
        """Replace the groups and the burstiness of the design by those that an audit found; undo brings them back."""
        scenario = self.auditing.suggested(self.scenario)
        if scenario is not None:
            count, name = len(scenario.groups), self.auditing.name[:60]
            self._put(scenario, said("screen.audit.used", groups=count, name=name))

    def use(self, scenario: Scenario, words: str) -> None:
        """Put another design, made from the one on the screen, in its place; undo brings it back."""
        self._put(self._own(scenario), words)

    def exchange(self, scenario: Scenario) -> None:
        """Work on another design; if it cannot be planned, raise ScenarioError and change nothing."""
        self._made(scenario)
        self._put(scenario, "")

    def _put(self, scenario: Scenario, words: str) -> None:
        self.drafts = {}
        self._take(scenario)
        self.say("note", words)

    def keep(self) -> None:
        """Put the design on the screen aside, named by its main features, to compare others with it."""
        if self.stale or len(self.aside) >= MOST_KEPT:
            if len(self.kept) < len(self.aside):
                self.say("warn", said("screen.kept.full", most=MOST_KEPT))
            return
        taken = {kept.name for kept in self.aside}
        name = design_name(self.plan.scenario, self.catalog)
        longer = f"{name}, {amount(self.plan.totals.gpus, 'GPU')}"
        numbered = (f"{longer} ({n})" for n in range(2, MOST_KEPT + 2))
        name = next(title for title in (name, longer, *numbered) if title not in taken)
        self.aside = (*self.aside, Kept(name, self.plan, self.scenario, self.link))
        self._changed()

    def keep_again(self, name: str, link: Link) -> bool:
        """Put a design aside that was kept before the page was reloaded; False if it is damaged."""
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
                self._put(kept.scenario, said("screen.kept.open", name=name))

    def rename_kept(self, name: str, to: str) -> None:
        """Rename a kept design; a name that is empty or taken changes nothing."""
        if (to := _note(to)) and to not in {kept.name for kept in self.aside}:
            self.aside = tuple(replace(kept, name=to) if kept.name == name else kept for kept in self.aside)
        self._changed()

    def forget_kept(self, name: str) -> None:
        """Discard a kept design."""
        self.aside = tuple(kept for kept in self.aside if kept.name != name)
        self._changed()

    def say(self, level: str, text: str) -> None:
        """Show a message that belongs to no field."""
        self.notice = (level, text)
        self._changed()

    def dismiss(self, text: str) -> None:
        """Dismiss a message that was read; a newer one stays."""
        if text == self.notice[1]:
            self.say("", "")

    @property
    def link(self) -> Link:
        """The internal version as text."""
        if self._linked is None or self._linked[0] is not self.scenario:
            self._linked = (self.scenario, link_of(self.scenario))
        return self._linked[1]

    def fragment(self, customer: bool = False) -> str:
        """The internal version, or the customer's, as text for the fragment of a link."""
        return (link_of(self.for_customer()) if customer else self.link).fragment

    def restore(self, fragment: str) -> bool:
        """Work on the scenario that a link carries; a damaged link leaves everything unchanged, and gives False."""
        scenario = self._carried(lambda: scenario_of(fragment))
        if scenario is None:
            return False
        self._begin()
        self._end_typing()
        self._plan(scenario, news=False)
        if self.step == "start":
            self.step = "usecases"
        return True

    def open_recent(self, fragment: str) -> None:
        """Start from a design that the browser has kept; undo returns to the one before."""
        scenario = self._carried(lambda: scenario_of(fragment))
        if scenario is not None:
            self.start(scenario)

    def _carried(self, read: Callable[[], Scenario], where: str = "screen.open.link") -> Scenario | None:
        """Return the scenario that a link carries, or None and show the problem on the screen."""
        try:
            return read()
        except ValueError as error:
            why = self._first(error) if isinstance(error, ScenarioError) else said("screen.open.damaged")
            self.say("stop", said(where, why=why))
            return None

    def _first(self, error: ScenarioError) -> str:
        """Return the first error in a file or a link, hidden from the customer if it is internal."""
        first = error.problems[0]
        if self.customer and first.path.startswith("internal."):
            return said("screen.open.internal")
        return str(first)

    def _full(self) -> bool:
        """True if there is no room for one more group; also says so."""
        full = len(self.scenario.groups) >= MAX_GROUPS
        if full:
            self.say("warn", said("screen.groups.full", most=MAX_GROUPS))
        return full

    def _take(self, scenario: Scenario, path: str = "", live: bool = False, *, news: bool = True) -> None:
        """Work on a changed design; typing into one field, ``live``, and its final value are one change."""
        goes_on = bool(path) and path == self.typing
        changed = scenario != self.scenario
        if changed and not goes_on:
            self.history.took(self.link, self.scenario)
        if not goes_on:
            self._settled = Settled(self.plan, self.messages) if live and changed else None
        self.typing = path if live and (changed or goes_on) else ""
        self.notice = ("", "")
        if not self.refused:
            self.cause = path
        self._plan(scenario, news)
        if goes_on and not live:
            self._settle(path)

    def _settle(self, path: str) -> None:
        """Enter the typed text; one that changes nothing is no change."""
        past = self.history.past
        if past and past[-1].id == self.link.id:
            past.pop()
        self._end_typing()

    def _end_typing(self) -> None:
        """End the typing: text from now on is another change."""
        self.typing, self._settled = "", None

    def _made(self, scenario: Scenario) -> Plan:
        """Return the plan with all its chapters, so that a model that cannot answer says so here."""
        result = next((plan for plan in self._plans if plan.scenario == scenario), None)
        if result is None:
            result = make_plan(scenario, self.catalog)
            result.read()
            self._plans = (result, *self._plans[: MOST_PLANS - 1])
        return result

    def _plan(self, scenario: Scenario, news: bool = True) -> None:
        """Plan a design and show it; ``news`` shows its differences from the plan before."""
        self.scenario, self.seen = scenario, self._seen(scenario)
        self.drafts = {path: draft for path, draft in self.drafts.items() if has_input(scenario, path)}
        try:
            plan = self._made(self.seen)
        except ScenarioError as error:
            self.refused = error.problems
            if self._settled is not None and self._settled.plan is not self.plan:
                # a half-typed number must not replace the whole one
                self._show(self._settled.plan, self.history.scenario(self.history.past[-1]))
        except ValueError as error:  # a model that cannot answer; which input is to blame is not known
            self.refused = (Problem("", "", str(error)),)
            self.notice = ("stop", said("screen.open.last plan", why=error))
        else:
            if any(not problem.path for problem in self.refused):
                self.notice = ("", "")  # it said why there was no plan
            self.refused = ()
            self._show(plan, scenario)
        if not news:
            self.before = None  # before it is drawn, or its figures would be marked as moved
        self.forget_lost_hosts()
        self._changed()

    def _show(self, plan: Plan, own: Scenario) -> None:
        """Show a plan made from a scenario, as seen now; all typing into one field is one change."""
        self.before, self.messages_before = self._settled or (self.plan, self.messages)
        self.turn += 1
        self.planned, self.messages = own, check_plan(plan)
        self.show(plan)

    def _return(self, there: list[Link], left: list[Link]) -> bool:
        """Return to the last design of one side of the history, moving this one to the other; True if it was done."""
        if not there:
            return False
        scenario = self._carried(lambda: self.history.scenario(there[-1]), "screen.open.history")
        if scenario is None:
            there.pop()
            self._changed()
            return False
        if self._sold_otherwise(scenario):
            self.say("warn", said("screen.undo.other margin"))
            return False
        there.pop()
        left.append(self.link)
        self.history.remember(self.link, self.scenario)
        self._plan(scenario)
        return True

    def _sold_otherwise(self, scenario: Scenario) -> bool:
        """True in the customer view if another design is sold with another margin."""
        return self.customer and (scenario.internal.margin or 0) != (self.scenario.internal.margin or 0)

    def _seen(self, scenario: Scenario) -> Scenario:
        return customer_scenario(scenario, self.catalog, whole_catalog=True) if self.customer else scenario

    def _own(self, scenario: Scenario) -> Scenario:
        """Return the internal version of a scenario made from the one on the screen: hidden values are put back."""
        if self.seen == self.scenario:
            return scenario
        kept = [entry for entry in scenario.origins if entry[0].split(".")[0] not in HELD_BACK]
        back = [entry for entry in self.scenario.origins if entry[0].split(".")[0] in HELD_BACK]
        hidden = {name: getattr(self.scenario, name) for name in HELD_BACK}
        return replace(scenario, origins=(*kept, *back), **hidden)


def _note(text: str) -> str:
    """Return a short text as typed, without signs that cannot be printed."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())[:MOST_NOTE]


def guarded(
    workbook: Workbook, log: Callable[[str], None], action: Callable[..., None], arguments: Sequence[Any]
) -> None:
    """Run a callback so that no error is lost, and none shows a traceback to a customer."""
    try:
        action(*arguments)
    except Exception as error:  # the one place that catches everything: it says so and logs it
        reference = secrets.token_hex(4).upper()
        log(f"[{reference}] {type(error).__name__} in {getattr(action, '__name__', action)}: {error}")
        workbook.say("stop", said("screen.did not work", reference=reference))
