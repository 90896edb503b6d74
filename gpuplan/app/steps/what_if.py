"""What if: sliders, and the planned answer at each position beside the design's, which changes only when it is applied."""

from functools import partial
from math import inf, isfinite
from typing import Any

from gpuplan.app.cards import Contents, Picture, panel, plain, select
from gpuplan.app.state import Workbook
from gpuplan.app.steps import solve
from gpuplan.deliver.what_if import texts
from gpuplan.deliver.what_if.answers import (
    Answer,
    Axis,
    Position,
    WhatIf,
    answer_of,
    sizes_of,
    sliders_of,
    some_answers,
)
from gpuplan.report.charts.solve import what_if_chart
from gpuplan.scenario import Scenario
from gpuplan.widgets import contract
from gpuplan.wording import headline_money, said, told, unit_of

OF = "what-if"
"""What is looked at: the workload that is moved."""


class Trial:
    """Sliders of a design with their positions, and the answers so far; it ends with the plan of the design."""

    def __init__(self, workbook: Workbook, size: Axis) -> None:
        self.sliders = [axis for axis in sliders_of(workbook.plan, size) if not workbook.locked(axis.path)]
        self.own = {axis.path: axis.own for axis in self.sliders}
        self.at = self.own.copy()
        axes = tuple(axis for axis in self.sliders if axis.kind != "budget")
        self.answers: dict[Position, Any] = {}
        self.found = WhatIf(workbook.plan, axes, self.answers)

    @property
    def position(self) -> Position:
        """The place of each slider, in the order of the answers."""
        return tuple(self.at[axis.path] for axis in self.found.axes)

    @property
    def shown(self) -> Position:
        """The position, or the nearest one that has an answer."""
        return min(self.answers, key=self.away)

    def away(self, position: Position) -> int:
        """Steps from here to another position."""
        return sum(abs(there - here) for there, here in zip(position, self.position, strict=True))

    def missing(self) -> list[Position]:
        """Positions without an answer that differ in one slider at most: this one and those at other prices, the nearest."""
        here, axes = self.position, enumerate(self.found.axes)
        near = {(*here[:n], at, *here[n + 1 :]) for n, axis in axes for at in range(len(axis.values))}
        return sorted(near - self.answers.keys(), key=lambda at: (at[:-1] != here[:-1], self.away(at), at))

    @property
    def budget(self) -> float:
        """The budget where it was moved to; infinite without one."""
        axes = (axis for axis in self.sliders if axis.kind == "budget")
        return min((axis.values[self.at[axis.path]] for axis in axes), default=inf)

    @property
    def scenario(self) -> Scenario:
        """The design with all that was moved."""
        scenario = self.found.scenario
        for axis in self.sliders:
            scenario = axis.set(scenario, self.at[axis.path])
        return scenario


def _trial(workbook: Workbook) -> Trial:
    """Return the sliders of the plan on the screen; the answers that they need next are planned beside it."""
    axes = {axis.path: axis for axis in sizes_of(workbook.plan)}
    path = workbook.chosen(OF, axes)
    trial = workbook.once(f"what if {path}", lambda: Trial(workbook, axes[path]))
    trial.answers[trial.found.own] = answer_of(workbook.checked)
    if missing := trial.missing():
        work = partial(some_answers, axes=trial.found.axes, positions=missing)
        trial.answers.update(workbook.later(f"what if {path}, {len(trial.answers)}", work) or {})
    return trial


def move(workbook: Workbook, path: str, at: int) -> None:
    """Move a slider to a position; without a path, all of them back to the design."""
    trial = _trial(workbook)
    for axis in trial.sliders:
        if path in ("", axis.path) and at in range(len(axis.values)):
            trial.at[axis.path] = at if path else axis.own
    workbook.say("", "")


def keep(workbook: Workbook, beside: bool) -> None:
    """Change the design to what was moved, which undo takes back as a whole; or put that aside, to be compared."""
    trial = _trial(workbook)
    if not _can_keep(workbook, trial):
        return
    if not beside:
        workbook.use(trial.scenario, said("screen.what if.applied"))
    elif not workbook.full:
        workbook.keep_beside(trial.scenario)
        workbook.say("note", said("screen.what if.pinned"))


def solve_for(workbook: Workbook) -> None:
    """Apply what was moved, the budget among it, and solve for the most of the workload that is moved."""
    path = _trial(workbook).found.axes[0].path
    keep(workbook, beside=False)
    workbook.arrive("compare/solve")
    solve.start(workbook, path)


def _can_keep(workbook: Workbook, trial: Trial) -> bool:
    planned = isinstance(trial.answers.get(trial.position), Answer)
    return trial.at != trial.own and planned and not workbook.stale


@panel(needs="pools")
def headline_data(workbook: Workbook, _pools: object) -> Contents:
    """Say the answer in a sentence, and offer what can be done with it."""
    trial = _trial(workbook)
    teller, shown, can = texts.Teller(trial.found), trial.shown, _can_keep(workbook, trial)
    here = teller.texts(shown)
    over = teller.over_budget(shown, trial.budget)
    priced = any(axis.kind == "price" and trial.at[axis.path] != axis.own for axis in trial.sliders)
    known = said("screen.what if.price known") if priced else ""
    text = [plain(" ".join(filter(None, (here["sentence"], here["left-out"], known, over))))]
    if shown != trial.position:
        text = [[{"text": said("screen.what if.planning"), "waiting": True}]]
    acts = [_act("solve", "what-if-solve", can)] if over else []
    acts += [
        _act("back", "what-if", trial.at != trial.own, path="", at=0),
        _act("pin", "what-if-keep", can and not workbook.full, beside=True),
        _act("apply", "what-if-keep", can, beside=False),
    ]
    return {"title": here["headline"], "text": text, "acts": acts}


def _act(name: str, event: str, can: bool, **rest: object) -> contract.Button:
    what = {"text": said(f"screen.what if.{name}"), "key": f"what-if-{name}", "off": not can}
    return {**what, "event": event, "rest": rest, "primary": name == "apply"}  # type: ignore[typeddict-item]


@panel(needs="pools", draws="sliders")
def sliders_data(workbook: Workbook, _pools: object) -> Contents:
    """Return the sliders, and the menu of workloads."""
    trial, axes = _trial(workbook), sizes_of(workbook.plan)
    size, names = trial.found.axes[0], {axis.path: axis.name for axis in axes}
    menus = [select(OF, said("screen.what if.of"), size.path, names)] if axes[1:] else []
    return {"selects": menus, "sliders": [_slider(axis, trial.at[axis.path]) for axis in trial.sliders]}


def _slider(axis: Axis, at: int) -> dict[str, Any]:
    ticks = [texts.tick(axis, n) for n in range(len(axis.values))]
    value, moved = texts.readout(axis, at), texts.moved(axis, at)
    words = {"label": texts.label(axis), "value": value, "moved": moved, "ticks": ticks}
    return {"what": axis.path, "at": at, "range": [0, len(ticks) - 1, 1], "own": axis.own, **words}


@panel(needs="pools")
def answer_data(workbook: Workbook, _pools: object) -> Contents:
    """Return the figures of the position, each with that of the design."""
    trial = _trial(workbook)
    here = texts.Teller(trial.found).texts(trial.shown)
    values = {"years": workbook.plan.scenario.cost.years}
    figures = []
    for key in ("hosts", "cost", "placed", "power"):
        notes = [here[f"{key}-by"]] * (trial.at != trial.own) + [here[f"{key}-note"]]
        note, label = "; ".join(filter(None, notes)), told(texts.FIGURES[key], values)
        figures.append({"label": label, "value": here[key], "note": note, "key": ""})
    return {"figures": figures}


def _rows(workbook: Workbook) -> dict[str, Any]:
    if not workbook.plan.pools:
        return {}
    trial = _trial(workbook)
    teller, size, costs = texts.Teller(trial.found), trial.found.axes[0], trial.found.scenario.cost
    words = said("screen.what if.budget", budget=headline_money(trial.budget, costs.currency))
    lines = [{"cost": trial.budget, "words": words}] if isfinite(trial.budget) else []
    own = trial.found.own
    marks = [teller.point(at) | {"now": at != own} for at in sorted({own, trial.shown})]
    points = [teller.point((at, *trial.shown[1:])) for at in range(len(size.values))]
    about = {"unit": unit_of(2, size.unit), "name": texts.label(size), "costs": costs}
    return {"points": points, "marks": marks, "lines": lines, **about}


rows = Picture(_rows, what_if_chart, slow=True)
