"""Solve: the best design within the limits, with what proves it and binds it, and what each budget buys."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.solve.quantities import Quantity, offered, quantity_of
from gpuplan.analysis.solve.trial import BOUNDED
from gpuplan.app.cards import (
    IDLE,
    Body,
    Card,
    Contents,
    Picture,
    act,
    background_card,
    card,
    details,
    panel,
    plain,
    select,
    visit,
)
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.report.charts import solve as charts
from gpuplan.report.plan_data import plain as plain_data
from gpuplan.report.solve_report import binds, gap_words, in_short, proof, runner_up, verdict, why_none
from gpuplan.report.table import Cell, Column, screen
from gpuplan.report.tables import solve as tables
from gpuplan.scenario import Scenario, from_dict
from gpuplan.units import exact_number
from gpuplan.widgets import contract
from gpuplan.wording import capital, headline_money, number, said, watts

LIMITS = ("limits.budget", "limits.power_kw", "limits.racks", "limits.delivery_weeks")
"""Limits that stand beside the answer; all are in the form of the first step."""
FOR, BUDGET = "solve-for", "budget"
"""What is looked at: the quantity that is solved for, and the budget under the thumb."""
STEPS = 200
"""Steps of the slider from the least to the most cost of the designs."""

Design = dict[str, Any]


def _quantities(workbook: Workbook) -> dict[str, Quantity]:
    """Return what can be solved for: the least cost first, or, once a limit bounds it, the users of the largest workload."""
    scenario = workbook.plan.scenario
    all_ = {key: quantity_of(scenario, key) for key in offered(scenario)}
    bounded = any(getattr(scenario.limits, key) is not None for key in BOUNDED)

    def first(key: str) -> tuple[bool, float]:
        return all_[key].most is not bounded, -all_[key].asked * (key.partition(":")[0] == "users")

    return {key: all_[key] for key in sorted(all_, key=first)}


def start(workbook: Workbook, path: str = "") -> None:
    """Solve for what is chosen, or for the most at a path, and plan what each budget buys."""
    quantities = _quantities(workbook)
    if moved := next((key for key, each in quantities.items() if path and each.path == path), ""):
        workbook.look(FOR, moved)
    key = workbook.chosen(FOR, quantities)
    workbook.looked = {what: value for what, value in workbook.looked.items() if what != BUDGET}
    sense = "--for" if quantities[key].most else "--least"
    workbook.solving.start(workbook.plan, sense, key, "--frontier")


def _limits_form(workbook: Workbook) -> dict[str, Any]:
    fields = [field_data(workbook, path) for path in LIMITS]
    return {"title": said("screen.solve.limits"), "fields": fields, "text": _others(workbook)}


limits_form = Card("form", _limits_form)


def _others(workbook: Workbook) -> str:
    limits = workbook.plan.scenario.limits
    stated = [name for name in limits.__slots__ if getattr(limits, name) is not None]
    others = sum(f"limits.{name}" not in LIMITS for name in stated)
    return said("screen.solve.other limits", others=others) if others else ""


@panel()
def more_limits_data(_workbook: Workbook) -> Contents:
    return {"text": [[visit(said("screen.solve.more limits"), "limits.budget_start")]]}


@card("run")
def solve_data(workbook: Workbook) -> dict[str, Any]:
    found, runner = workbook.solving.found, workbook.solving.runner
    quantities, empty = _quantities(workbook), not workbook.plan.pools
    names = {
        key: said("screen.solve.most" if each.most else "screen.solve.least", name=each.name)
        for key, each in quantities.items()
    }
    menu = select(FOR, said("screen.solve.for"), workbook.chosen(FOR, quantities), names)
    go = said("screen.solve.again" if found else "screen.solve.go")
    stopped = said("screen.solve.stopped" if found else "screen.stopped")
    text = [stopped] if runner.state == "cancelled" else []
    text += [said("screen.solve.old")] if _old(workbook) else []
    return background_card(workbook, runner, "solve", go, empty=empty) | {
        "inputs": [] if empty else [menu],
        "text": text if found or text else [said("screen.solve.what")],
        "old": _old(workbook),
    }


# ---- the design on the screen, and another in its place


def _frontier(workbook: Workbook) -> Design | None:
    found = workbook.solving.found
    return found["frontier"] if found and found["frontier"] and found["frontier"]["points"] else None


def _designs(workbook: Workbook) -> list[Design]:
    found, frontier = workbook.solving.found, _frontier(workbook)
    if found is None:
        return []
    whole = [found["best"], found["runner_up"], *found["designs"], *(frontier["points"] if frontier else ())]
    return [design for design in whole if design]


def _key(design: Design) -> str:
    return f"{design['label']} {design['value']:.10g}"


def _bare(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in scenario.items() if key not in ("name", "customer", "origins")}


def on_screen(workbook: Workbook) -> str | None:
    """Return the key of the design that is on the screen, empty for the one solved from; None if an input has changed since."""
    plan = workbook.solving.plan
    if workbook.solving.found is None or plan is None:
        return None

    def which() -> str | None:
        now = _bare(plain_data(workbook.plan.scenario.to_dict()))
        if now == _bare(plain_data(plan.scenario.to_dict())):
            return ""
        return next((_key(each) for each in _designs(workbook) if _bare(each["scenario"]) == now), None)

    return workbook.once(f"solve: on the screen, of {hash(plan.scenario)}, {len(_designs(workbook))}", which)


def _old(workbook: Workbook) -> bool:
    return workbook.solving.found is not None and on_screen(workbook) is None


def _scenario(workbook: Workbook, key: str) -> Scenario | None:
    """Return the scenario of a design, under the name of the one on the screen; None where later changes would be lost."""
    design = next((each for each in _designs(workbook) if _key(each) == key), None)
    if design is None or on_screen(workbook) is None:
        return None
    now = workbook.scenario
    return replace(from_dict(design["scenario"]), name=now.name, customer=now.customer)


def use(workbook: Workbook, key: str) -> None:
    """Put a design in place of the one on the screen; undo brings it back."""
    if scenario := _scenario(workbook, key):
        workbook.use(scenario, said("screen.explore.now", label=key.rpartition(" ")[0]))


def keep(workbook: Workbook, key: str) -> None:
    """Keep a design to be compared, and leave the one on the screen."""
    if scenario := _scenario(workbook, key):
        workbook.keep_beside(scenario)


def _use(workbook: Workbook, design: Design) -> list[contract.Act]:
    key = _key(design)
    return (
        [] if on_screen(workbook) in (None, key) else [act("use-solution", said("screen.use"), key, key=key)]
    )


# ---- the answer


@panel()
def answer_data(workbook: Workbook) -> Contents:
    found = workbook.solving.found
    if found is None:
        return None
    best = found["best"]
    body: dict[str, Any] = {"title": verdict(found), "stale": workbook.stale or _old(workbook)}
    if best is None:
        body |= {"text": [plain(text) for text in why_none(found)]}
        relaxed = tables.relaxed(found)
        return body | {"tables": [screen(relaxed, relaxed.title)] if relaxed.rows else []}
    confirm = [said("screen.solve.confirm", text=text) for text in best["conditions"]]
    told = [proof(found), *binds(found), runner_up(found), *confirm, _gave(found)]
    return body | {"figures": _figures(found, best), "list": [text for text in told if text]}


def _gave(found: Design) -> str:
    changes = "; ".join(
        said(
            "screen.solve.set" if row["asked"] is None else "screen.solve.change",
            name=row["label"],
            asked=row["asked_words"],
            now=row["now_words"],
        )
        for row in found["gave"]
    )
    return said("screen.solve.gave", changes=changes) if changes else ""


def _figures(found: Design, best: Design) -> list[contract.Fact]:
    quantity, currency = found["quantity"], found["currency"]
    cost, first = (headline_money(best[key], currency) for key in ("net_present", "first"))
    gap = "\u2013" if found["gap"] is None else gap_words(found["gap"])
    decided = "screen.solve.decided of one kind" if found["mixes_left"] else "screen.solve.decided"
    rows = [
        ("hosts", number(best["hosts"]), said("screen.solve.gpus", gpus=best["gpus"])),
        ("cost", cost, said("screen.solve.first", cost=first)),
        ("power", watts(best["peak_w"]), said("screen.solve.racks", racks=best["racks"])),
        (
            "gap",
            said("screen.solve.proven") if found["proven"] else gap,
            said(decided, **found),
        ),
    ]
    figures = [_fact(said(f"screen.solve.fact.{key}"), value, note) for key, value, note in rows]
    if not quantity["most"]:
        return figures
    asked = said("screen.solve.asked", asked=quantity["asked"])
    return [_fact(capital(quantity["name"]), number(best["value"]), asked), *figures]


def _fact(label: str, value: str, note: str) -> contract.Fact:
    return {"label": label, "value": value, "note": note, "key": ""}


@card("run")
def acts_data(workbook: Workbook) -> dict[str, Any]:
    """Return the buttons for the best design."""
    best = (workbook.solving.found or {}).get("best")
    if best is None or workbook.solving.runner.busy:
        return {"shown": False}
    keep = _button("keep", "best", best, workbook.full or on_screen(workbook) is None)
    return {**IDLE, "title": "", "buttons": [_use_button(workbook, "best", best), keep]}


def _use_button(workbook: Workbook, of: str, design: Design) -> contract.Button:
    off = on_screen(workbook) in (None, _key(design)) or workbook.stale
    return {**_button("use", of, design, off), "primary": True}


def _button(what: str, of: str, design: Design, off: bool) -> contract.Button:
    words, about = said(f"screen.solve.{what}"), {"event": f"{what}-solution", "rest": {"key": _key(design)}}
    return {"text": words, "key": f"{what}-{of}", "off": off, **about}  # type: ignore[typeddict-item]


@details("solve-boards", lambda workbook: (workbook.solving.found or {}).get("designs"), old=_old)
def boards_data(workbook: Workbook, designs: Sequence[Design]) -> Body:
    return {"tables": [_listed(workbook, workbook.solving.found or {}, designs)]}


def _listed(workbook: Workbook, found: Design, designs: Sequence[Design]) -> dict[str, Any]:
    table = tables.designs(found, designs, "").only(
        "label", "value", "hosts", "net_present", "peak_w", "racks"
    )
    acts = [Cell("", tone="do", more={"acts": _use(workbook, design)}) for design in designs]
    table = table.dressed("label", lambda *_: {"tone": "design"})
    return screen(table.beside(Column("acts", ""), acts, after="racks"))


@details("solve-missed", lambda workbook: (workbook.solving.found or {}).get("missed"), old=_old)
def missed_data(workbook: Workbook, _missed: Sequence[Design]) -> Body:
    found = workbook.solving.found or {}
    return {"tables": [screen(tables.missed(found))], "text": list(found.get("scope", ()))}


# ---- what each budget buys


def _budget(workbook: Workbook, frontier: Design) -> float:
    """Return the budget under the thumb: as chosen, else that of the limits, else the cost of the design as it is."""
    costs: list[float] = [point["net_present"] for point in frontier["points"]]
    plan = workbook.solving.plan
    own = float(frontier["budget"] or (plan.costs.net_present if plan and plan.costs else costs[-1]))
    value = exact_number(workbook.looked.get(BUDGET, own), percent=False)
    return min(max(own if value is None else float(value), costs[0]), max(costs[-1], own))


def _curve(workbook: Workbook) -> Any:
    frontier, plan = _frontier(workbook), workbook.solving.plan
    if frontier is None or plan is None:
        return {}
    asked = (frontier["quantity"]["asked"], plan.costs.net_present) if plan.costs else None
    return charts.curve_rows(frontier, _budget(workbook, frontier), asked)


curve_rows = Picture(_curve, charts.curve_chart)


@card("run")
def walk_data(workbook: Workbook) -> dict[str, Any]:
    """Return the slider of the budget, and the best design under its thumb."""
    frontier = _frontier(workbook)
    if frontier is None:
        return {"shown": False}
    costs, budget = [point["net_present"] for point in frontier["points"]], _budget(workbook, frontier)
    low, high = costs[0], max(costs[-1], frontier["budget"] or 0.0)
    design = charts.under(frontier, budget) or frontier["points"][0]
    words = headline_money(budget, frontier["currency"])
    slider = {"what": BUDGET, "label": words, "at": budget, "range": [low, high, (high - low) / STEPS]}
    text = said("screen.solve.buys", label=design["label"], **in_short(frontier, design))
    about = {"inputs": [slider], "after": [text], "stale": workbook.stale, "title": ""}
    return {**IDLE, **about, "buttons": [_use_button(workbook, "point", design)]}


@details("solve-frontier", lambda workbook: (_frontier(workbook) or {}).get("points"), old=_old)
def frontier_data(workbook: Workbook, points: Sequence[Design]) -> Body:
    frontier = _frontier(workbook) or {}
    text = [] if frontier["complete"] else [said("solved.incomplete")]
    return {"tables": [_listed(workbook, frontier, points)], "text": text}
