"""Editing of one design: its scenario, the last good plan, what was typed and refused, undo and redo. No widgets."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.analysis.customer import customer_scenario
from gpuplan.analysis.mending import MISSES
from gpuplan.analysis.variants import has_input
from gpuplan.app import groups
from gpuplan.app.groups import Cell, cell_at
from gpuplan.app.history import MOST, Link, input_name, link_of, new_design, scenario_of
from gpuplan.app.number_input import NUMERIC, is_half_typed
from gpuplan.app.plan_view import PlanView
from gpuplan.catalog import Catalog
from gpuplan.locales import locale_of
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.over_time.recommended import set_up_as
from gpuplan.plan.over_time.rules import OPEN
from gpuplan.plan.prices import is_sold
from gpuplan.plan.simulated import RESULTS, NotSimulatedError, Results, known_results
from gpuplan.scenario import Problem, Scenario, ScenarioError, field_of, from_dict, show
from gpuplan.wording import said

HELD_BACK = ("internal", "prices", "ranges")
"""Sections of a scenario that the customer's version lacks, or changes."""
UNSOLD = ("server-limit-unknown", "modules-in-part")
"""Codes of the messages on hosts that may not be sold."""
MOST_PLANS = 8
"""Most plans remembered, of a third of a megabyte each."""


class Draft(NamedTuple):
    """Text typed into a field that does not accept it, or into a cell whose row needs others first."""

    text: str
    problem: Problem | None
    """None in a row that is not complete yet."""
    at: str
    """Id of the design in which it was typed."""


def simulated_results(plan: Plan) -> Results:
    """Return the results of the simulations that a design takes where its rule by risk is checked."""
    make_plan(plan.scenario, plan.catalog).read()
    return RESULTS


class Editing(PlanView):
    """One design that is edited. A change makes a new scenario and, if it can be planned, a new plan."""

    def __init__(self, catalog: Catalog, scenario: Scenario | None = None, customer: bool = False) -> None:
        self.catalog = catalog
        self.customer = customer
        """True in the customer view: then everything on the screen comes from the customer's version."""
        self.scenario = scenario or from_dict({})
        """The internal version: it is edited, undone, and carried by the address of the page."""
        self.seen: Scenario = self._seen(self.scenario)
        self._plans: tuple[Plan, ...] = ()
        super().__init__(self._made(self.seen))
        self.planned = self.scenario
        """The internal version of the design of ``plan``."""
        self.messages: tuple[Message, ...] = check_plan(self.plan)
        self.before: Plan | None = None
        """The plan before the last change; None where a design was opened."""
        self.messages_before: tuple[Message, ...] = ()
        self.turn = 0
        self.past: list[Link] = []
        self.future: list[Link] = []
        """Designs before and after the current one; on each side the last is the first to return to."""
        self.design = new_design()
        """Identity of the design that is worked on."""
        self.customer_of_design = self.scenario.customer
        self._linked: tuple[Scenario, Link | None] = (self.scenario, None)
        self._check()

    def _begin(self) -> None:
        super()._begin()
        self.customer_of_design = ""
        self.drafts: dict[str, Draft] = {}
        """Texts typed into fields that do not accept them, by path, the latest last."""
        self.refused: tuple[Problem, ...] = ()
        """Values of the current scenario that the catalog or the hardware does not allow."""
        self.cause = ""
        """Path of the input whose change caused it; the refused input may be another one that conflicts with it."""
        self.notice: tuple[str, str] = ("", "")
        self.typing = ""
        """Path of the field that is being typed into: all its text is undone at once."""
        self._settled: tuple[Plan, tuple[Message, ...]] | None = None
        """Plan and messages before the field was typed into; None while no field is."""

    @property
    def stale(self) -> bool:
        return bool(self.wrong or self.refused)

    def name_of(self, path: str) -> str:
        cell = cell_at(path)
        return input_name(self.scenario, cell.path if cell else path)

    def text_of(self, path: str) -> Any:
        """Return the text of the field at ``path``: the typed text if it was refused, else the value."""
        return self.drafts[path].text if path in self.drafts else self.holding(path).get(path)

    def holding(self, path: str) -> Scenario:
        """The version on the screen, with the recommended value if the design decides the input at ``path``."""
        return set_up_as(self.seen, self.plan.set_up) if path in OPEN else self.seen

    def problem_of(self, path: str) -> str:
        if (draft := self.drafts.get(path)) and draft.problem:
            return draft.problem.words
        blamed = [problem for problem in self.refused if problem.path]
        if path == self.cause and blamed and path not in {problem.path for problem in blamed}:
            return f"{self.name_of(blamed[0].path)}: {blamed[0].words}"
        return next((problem.words for problem in blamed if problem.path == path), "")

    def doubt_of(self, path: str) -> str:
        """Say what the plan misses, or does not know, of the value at ``path``; empty where nothing is in doubt."""
        doubts = (
            m for m in self.messages if m.path == path and m.code in (*UNSOLD, *MISSES) and not self.stale
        )
        return next((m.text if m.code in MISSES else f"{m.text} {m.change}" for m in doubts), "")

    @property
    def wrong(self) -> tuple[str, ...]:
        """Paths of the inputs with a problem, the first to correct first."""
        blamed = [problem.path for problem in self.refused if problem.path]
        drafts = [path for path, draft in self.drafts.items() if draft.problem]
        return tuple(dict.fromkeys(filter(None, (*drafts, *blamed, self.cause * bool(blamed)))))

    def needed(self, path: str, row: int) -> list[str]:
        """Return the keys of the cells for which others of their row wait."""
        waiting = self._waiting(cell := Cell(path, row, ""))
        return groups.still_needed(self.scenario, cell, waiting) if waiting else []

    def _waiting(self, cell: Cell) -> dict[str, str]:
        """Return the texts of a row that wait for its other cells, by their keys."""
        row = f"{cell.path}.{cell.row}."
        drafts = {path: draft.text for path, draft in self.drafts.items() if draft.problem is None}
        return {path.removeprefix(row): text for path, text in drafts.items() if path.startswith(row)}

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

    def edit(self, path: str, given: Any, live: bool = False) -> None:
        """Set one input from a value of a form; one that cannot be read stays in the field with its problem.

        ``live`` marks a value that is still being typed: undone at once, and left alone while it cannot be read.
        """
        if why := self.locked(path):
            self.say("warn", why)
            return
        cell = cell_at(path)
        number = cell is not None or field_of(path).kind in NUMERIC
        if not has_input(self.scenario, path):
            return  # typed into a row that has been deleted since
        if live and number and is_half_typed(str(given), locale_of(self.scenario)):
            return
        beside = self._beside_it(cell, given)
        if beside is None:
            self._wait(path, str(given), live)
            return
        try:
            scenario = groups.edited(self.scenario, self.catalog, path, given, beside)
        except ScenarioError as error:
            self._refused(path, given, error, live, number)
            return
        drafted = self.drafts.pop(path, None)
        if cell and not live:
            self._leave_rows(cell, beside, scenario)
        self._drop_preset(path)
        if scenario != self.scenario or drafted or live:
            self._take(scenario, path, live)
        elif self.typing:  # a field is left as it was typed
            self._settle(path)
            self._changed()

    def _drop_preset(self, path: str) -> None:
        """Drop what was refused of the inputs that a kind of workload sets."""
        if path.endswith(".use_case"):
            for name in groups.PRESET:
                self.drafts.pop(path.replace(".use_case", f".{name}"), None)

    def _beside_it(self, cell: Cell | None, given: Any) -> dict[str, str] | None:
        """Return the waiting cells with which a typed one makes a complete row, none where it needs none; None if there is no such row."""
        if cell is None:
            return {}
        there = len(groups.rows_of(self.scenario, cell.path))
        if cell.row <= there and not str(given).strip():
            return {}
        for beside in (self._waiting(cell), {}):
            if not groups.still_needed(self.scenario, cell, {**beside, cell.key: given}):
                return beside
        return None

    def _wait(self, path: str, text: str, live: bool) -> None:
        """Keep the text of a cell until its row is complete; it is no error."""
        if not live:
            self.drafts.pop(path, None)
            if text.strip():
                self.drafts[path] = Draft(text, None, self.link.id)
            self._changed()

    def _leave_rows(self, cell: Cell, taken: Mapping[str, str], now: Scenario) -> None:
        """Forget the texts that a row has taken, and all of a row that is removed; those of rows below it move up."""
        before, after = (len(groups.rows_of(scenario, cell.path)) for scenario in (self.scenario, now))
        drafts, self.drafts = self.drafts, {}
        for path, draft in drafts.items():
            other = cell_at(path)
            if other and other.path == cell.path and after < before and other.row > cell.row:
                path = f"{other.path}.{other.row - 1}.{other.key}"
            elif other and other[:2] == cell[:2] and (after < before or other.key in taken):
                continue
            self.drafts[path] = draft

    def _refused(self, path: str, given: Any, error: ScenarioError, live: bool, number: bool) -> None:
        """Keep the typed text beside its field with its problem, unless typing goes on; no half-typed number counts."""
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
        if path == self.typing and self.past:
            self._end_typing()
            self._plan(scenario_of(self.past.pop().fragment), news=False)

    def say(self, level: str, text: str) -> None:
        self.notice = (level, text)
        self._changed()

    @property
    def link(self) -> Link:
        scenario, link = self._linked
        if link is None or scenario is not self.scenario or link.design != self.design:
            link = link_of(self.scenario, self.design)
            self._linked = (self.scenario, link)
        return link

    def _leave(self, design: str = "") -> None:
        """Work on another design, by its identity if it had been left before; what belongs to this one ends with it."""
        self.design = design or new_design()
        self._begin()

    def _take(
        self,
        scenario: Scenario,
        path: str = "",
        live: bool = False,
        *,
        left: Link | None = None,
        news: bool = True,
    ) -> None:
        """Work on a changed design, or on another than the one ``left``; typing into one field and its final value are one change."""
        goes_on = bool(path) and path == self.typing
        changed = scenario != self.scenario or left is not None
        if changed and not goes_on:
            self.past, self.future = [*self.past[-MOST:], left or self.link], []
        if not goes_on:
            self._settled = (self.plan, self.messages) if live and changed else None
        self.typing = path if live and (changed or goes_on) else ""
        self.notice = ("", "")
        if not self.refused:
            self.cause = path
        self._plan(scenario, news)
        if goes_on and not live:
            self._settle(path)

    def _settle(self, path: str) -> None:
        """Enter the typed text; one that changes nothing is no change."""
        if self.past and self.past[-1].id == self.link.id:
            self.past.pop()
        self._end_typing()
        self._name_customer()

    def _end_typing(self) -> None:
        """End the typing: text from now on is another change."""
        self.typing, self._settled = "", None

    def _name_customer(self) -> None:
        """Make it another design once another customer is named: what belongs to that of the last one ends."""
        now = self.scenario.customer
        if self.typing or not now:
            return
        shorter, longer = sorted((self.customer_of_design.casefold(), now.casefold()), key=len)
        if not longer.startswith(shorter):
            self._leave()
            self.notice = ("note", said("screen.open.another customer"))
        self.customer_of_design = now

    def _made(self, scenario: Scenario) -> Plan:
        """Return the plan with all its chapters, so that a model that cannot answer says so here."""
        result = next((plan for plan in self._plans if plan.scenario == scenario), None)
        if result is None:
            named = (plan.readdressed(scenario) for plan in self._plans)
            try:
                with known_results():
                    result = next(filter(None, named), None) or make_plan(scenario, self.catalog)
                    result.read()
            except NotSimulatedError:
                result = make_plan(scenario, self.catalog, check=False)
                result.read()
            self._plans = (result, *self._plans[: MOST_PLANS - 1])
        return result

    def _changed(self) -> None:
        self._check()
        super()._changed()

    def _check(self) -> None:
        """Simulate a rule by risk beside the page; once that is done, show the plan with the hosts that it takes."""
        if self.plan.checked or self.plan.check:
            return
        if (results := self.later("plan: checked", simulated_results)) is None:
            return
        RESULTS.update(results)
        plan = make_plan(self.plan.scenario, self.catalog)
        plan.read()
        self._plans = (plan, *(other for other in self._plans if other.scenario != plan.scenario))
        self.messages = check_plan(plan)
        self.show(plan)
        self.forget_lost_hosts()

    def _plan(self, scenario: Scenario, news: bool = True) -> None:
        """Plan a design and show it; ``news`` shows its differences from the plan before."""
        self.scenario, self.seen = scenario, self._seen(scenario)
        self._name_customer()
        self.drafts = {path: draft for path, draft in self.drafts.items() if has_input(scenario, path)}
        try:
            plan = self._made(self.seen)
        except ScenarioError as error:
            self.refused = error.problems
            if self._settled is not None and self._settled[0] is not self.plan:
                # a half-typed number must not replace the whole one
                self._show(self._settled[0], scenario_of(self.past[-1].fragment))
        except ValueError as error:  # a model that cannot answer; which input is to blame is not known
            self.refused = (Problem("", "", str(error)),)
            self.notice = ("stop", said("screen.open.last plan", why=error))
        else:
            if any(not problem.path for problem in self.refused):
                self.notice = ("", "")  # it said why there was no plan
            self.refused = ()
            self._show(plan, scenario)
        if not news:
            # before it is drawn, or its figures and messages would be marked as moved
            self.before, self.messages_before = None, self.messages
        self.forget_lost_hosts()
        self._changed()

    def _show(self, plan: Plan, own: Scenario) -> None:
        self.before, self.messages_before = self._settled or (self.plan, self.messages)
        self.turn += 1
        self.planned, self.messages = own, check_plan(plan)
        self.show(plan)

    def _seen(self, scenario: Scenario) -> Scenario:
        return customer_scenario(scenario, self.catalog, whole_catalog=True) if self.customer else scenario
