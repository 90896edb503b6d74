"""The state of one open workbook: the design that is edited, those beside it, and work in the background. No widgets."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from traitlets import Unicode

from gpuplan.analysis.benchmarks import Result, read_results
from gpuplan.analysis.benchmarks.customer import Calibration, calibrate
from gpuplan.analysis.compare import design_name
from gpuplan.analysis.customer import customer_scenario
from gpuplan.analysis.variants import changed_inputs
from gpuplan.app import groups
from gpuplan.app.background import Exploring, Runner, Simulating, new_reference
from gpuplan.app.delivering import Delivering
from gpuplan.app.editing import HELD_BACK
from gpuplan.app.groups import Answers, first_design
from gpuplan.app.history import PLACE, Link, link_of, scenario_of
from gpuplan.app.idle_work import Later
from gpuplan.app.kept import Kept, KeptDesigns
from gpuplan.app.uploading import Upload
from gpuplan.audit.estate import Estate
from gpuplan.audit.upload import Auditing
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.tables import MAX_BYTES
from gpuplan.plan import Plan
from gpuplan.scenario import (
    MAX_GROUPS,
    Internal,
    Problem,
    Scenario,
    ScenarioError,
    decode_scenario,
    from_dict,
    load_scenario,
    shown_name,
)
from gpuplan.wording import NAMES, said

STEPS = tuple(NAMES["step"].items())
FIRST = STEPS[1][0]
"""The first step of a design, after the start page."""


class Before(NamedTuple):
    """View before presenting."""

    step: str
    tabs: dict[str, str]
    customer: bool


class Workbook(KeptDesigns):
    """One open workbook: a design that is edited, and what is beside it."""

    step = Unicode("start")
    drawer = Unicode("")
    """Key of the explained number, ``messages``, or empty."""
    asked_in = ""
    """Widget that has the drawer, where several show the design; empty: each."""

    def __init__(self, catalog: Catalog, scenario: Scenario | None = None, customer: bool = False) -> None:
        super().__init__(catalog, scenario, customer)
        self.delivering = Delivering(self._changed, *self._own_rows)
        self.started = scenario is not None
        self.before_presenting: Before | None = None

    @property
    def _own_rows(self) -> list[str]:
        """Folder of the user's own catalog rows, for commands that run beside the page; none without it."""
        return [str(folder) for folder in self.catalog.folders[1:2]]

    def _begin(self) -> None:
        super()._begin()
        self.unread: tuple[Problem, ...] = ()
        self.estate: list[dict[str, Any]] | None = None
        """Picture of the inventory from which the existing hosts were taken."""
        self.inventory: Estate | None = None
        """The same, to compare the design with."""
        self.inventory_file: tuple[Link, ...] = ()
        """Its file, packed, from which a page that is loaded again has it, with its name; empty if that is long."""
        self.matched: dict[str, str] = {}
        """Workload, or cluster of the design, by patterns of names in the inventory, as chosen by hand."""
        self.drawer = ""
        self.simulating = Simulating(self._changed, *self._own_rows)
        self.auditing = Auditing(self._changed, *self._own_rows)
        self.validating = Validating(self._changed)
        self.exploring = Exploring("explore", "exploration", self._changed, *self._own_rows)
        self.solving = Exploring("solve", "solution", self._changed, *self._own_rows)
        self.boards = Exploring("boards", "boards", self._changed, *self._own_rows)
        self.sensitivity = Exploring("sensitivity", "sensitivity", self._changed, *self._own_rows)
        self.powering_on = Exploring("power-on", "tried", self._changed, *self._own_rows)

    @property
    def working(self) -> tuple[str, ...]:
        work: dict[str, Runner | Exploring | Later] = {
            "simulate": self.simulating.runner,
            "audit": self.auditing.runner,
            "deliver": self.delivering.runner,
            "preview": self.delivering.previewer,
            "explore": self.exploring,
            "solve": self.solving,
            "boards": self.boards,
            "sensitivity": self.sensitivity,
            "power-on": self.powering_on,
            "later": self._later,
        }
        return tuple(name for name, each in work.items() if each.busy)

    def look_as(self, customer: bool) -> None:
        self.customer = customer
        self.notice = ("", "")
        self._end_typing()
        if customer:
            self.delivering.cancel_internal()
            self.delivering.forget_preview()
        self.drafts = {path: draft for path, draft in self.drafts.items() if not self.locked(path)}
        inside = any(kept.scenario.internal != Internal() for kept in self.aside)
        changed = inside or self._seen(self.scenario) != self.seen
        for background in (self.exploring, self.solving, self.boards, self.sensitivity, self.powering_on):
            # results from before the margin was removed still depend on it
            if changed or (background.plan and background.plan.scenario.internal != Internal()):
                background.forget()
        if changed:
            self.aside = tuple(replace(k, plan=self._made(self._seen(k.scenario))) for k in self.aside)
        if self.refused:  # the plan before it stays on the screen, and may not be seen as it is
            self._show(self._made(self._seen(self.planned)), self.planned)
        self._plan(self.scenario, news=False)  # the difference between the two views is no change

    def for_customer(self) -> Scenario:
        return customer_scenario(self.scenario, self.catalog)

    def go(self, step: str) -> None:
        if step in dict(STEPS):
            self.started = self.started or step != "start"
            self.step = step

    def arrive(self, place: str) -> None:
        """Enter the step and tab of an address, such as ``cost/prices``; instead of an unknown step the first one."""
        step, _, tab = place.partition("/")
        step = step if step in dict(STEPS) else FIRST
        self.open_tab(step, tab)
        self.go(step)

    def explain(self, key: str) -> None:
        """Open the drawer for a number, or close it if that is open; an empty key closes it."""
        self.drawer = "" if self.drawer == key else key

    def dismiss(self, text: str) -> None:
        if text == self.notice[1]:
            self.say("", "")

    def add_group(self, use_case: str) -> None:
        if not self._full():
            scenario = groups.added(self.scenario, self.catalog, use_case)
            self.workload = scenario.groups[-1].id
            self._take(scenario)

    def duplicate_group(self, group_id: str) -> None:
        if not self._full():
            existing = {group.id for group in self.scenario.groups}
            scenario = groups.copied(self.scenario, group_id)
            self.workload = next(group.id for group in scenario.groups if group.id not in existing)
            self._take(scenario)

    def delete_group(self, group_id: str) -> None:
        self._take(self.scenario.with_groups(g for g in self.scenario.groups if g.id != group_id))

    def move_group(self, group_id: str, by: int) -> None:
        self._take(groups.moved(self.scenario, group_id, by))

    def open_example(self, name: str) -> None:
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

    def start(self, scenario: Scenario, design: str = "") -> None:
        """Work on another scenario, by its identity if it has one; undo returns to the one before."""
        self._open(scenario, design)
        self.step = FIRST

    def _open(self, scenario: Scenario, design: str = "") -> None:
        left = self.link
        self._leave(design)
        self._take(scenario, left=left, news=False)

    def _leave(self, design: str = "") -> None:
        tried = (self.exploring, self.solving, self.boards, self.sensitivity, self.powering_on)
        ended = (self.simulating, self.auditing, self.validating, *tried, self.delivering)
        super()._leave(design)
        self.started = True
        for work in ended:
            work.forget()

    def use_audit(self) -> None:
        """Replace the groups and the burstiness of the design by those that an audit found; undo brings them back."""
        scenario = self.auditing.suggested(self.scenario)
        if scenario is not None:
            count, name = len(scenario.groups), self.auditing.name[:60]
            self._put(scenario, said("screen.audit.used", groups=count, name=name))

    def use(self, scenario: Scenario, words: str) -> None:
        self._put(self._own(scenario), words)

    def keep_beside(self, scenario: Scenario) -> None:
        """Put a design that was made from the one on the screen aside, to compare that with it."""
        if not self.full:
            whole, name = self._own(scenario), self._unused(design_name(scenario, self.catalog))
            kept = Kept(name, self._made(self._seen(whole)), whole, link_of(whole, self.design))
            self.aside = (*self.aside, kept)
            self._changed()

    def exchange(self, scenario: Scenario) -> None:
        """Put another version, or a design of another name, in its place; a ScenarioError changes nothing."""
        self._made(scenario)
        if scenario.name == self.scenario.name or [*changed_inputs((self.scenario, scenario))] == ["name"]:
            self._put(scenario, "")
        else:
            self._open(scenario)

    def fragment(self, customer: bool = False) -> str:
        return (link_of(self.for_customer()) if customer else self.link).fragment

    def restore(self, fragment: str) -> bool:
        """Work on the scenario that a link carries; a damaged link leaves everything unchanged, and gives False."""
        scenario = self._carried(lambda: scenario_of(fragment))
        if scenario is None:
            return False
        self._leave()
        self._end_typing()
        self._plan(scenario, news=False)
        if place := fragment.partition(PLACE)[2]:
            self.arrive(place)
        elif self.step == "start":
            self.step = FIRST
        return True

    def open_recent(self, fragment: str, design: str = "") -> None:
        """Start from a design that the browser has kept, by its identity; undo returns to the one before."""
        scenario = self._carried(lambda: scenario_of(fragment))
        if scenario is not None:
            self.start(scenario, design)

    def _full(self) -> bool:
        """True if there is no room for one more group; also says so."""
        full = len(self.scenario.groups) >= MAX_GROUPS
        if full:
            self.say("warn", said("screen.groups.full", most=MAX_GROUPS))
        return full

    def _own(self, scenario: Scenario) -> Scenario:
        """Return the internal version of a scenario made from the one on the screen: hidden values are put back."""
        if self.seen == self.scenario:
            return scenario
        kept = [entry for entry in scenario.origins if entry[0].split(".")[0] not in HELD_BACK]
        back = [entry for entry in self.scenario.origins if entry[0].split(".")[0] in HELD_BACK]
        hidden = {name: getattr(self.scenario, name) for name in HELD_BACK}
        return replace(scenario, origins=(*kept, *back), **hidden)


def guarded(
    workbook: Workbook, log: Callable[[str], None], action: Callable[..., object], arguments: Sequence[Any]
) -> None:
    """Run a callback so that no error is lost, and none shows a traceback to a customer."""
    try:
        action(*arguments)
    except Exception as error:  # the one place that catches everything: it says so and logs it
        reference = new_reference()
        log(f"[{reference}] {type(error).__name__} in {getattr(action, '__name__', action)}: {error}")
        workbook.say("stop", said("screen.did not work", reference=reference))


class Validating(Upload):
    """One file at a time; the results of all of them count until they are forgotten."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        super().__init__(on_change, most_bytes=MAX_BYTES, advice=said("validation.larger files"))
        self.results: tuple[Result, ...] = ()
        self.found: Calibration | None = None

    def compare(self, plan: Plan) -> None:
        """Read the file that has arrived, whose name may say its group, and compare all results with a plan."""
        path = self.path.with_name(re.sub(r"[^\w.-]|^\.+", "_", self.name))
        self.path.replace(path)
        try:
            read = (*self.results, *read_results([path], plan.catalog))
            self.results, self.found = read, calibrate(plan.catalog, read, plan)
        except CatalogError as error:
            self.error = str(error)
        path.unlink()
        self._on_change()

    def forget_all(self) -> None:
        self.results, self.found = (), None
        self.forget()
