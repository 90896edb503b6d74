"""Start: three questions, an example as it looks when it is planned, examples, templates, a blank design, a file."""

from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from gpuplan.app.cards import Card, figures
from gpuplan.app.groups import count_of
from gpuplan.app.plan_view import PlanView
from gpuplan.app.state import Workbook
from gpuplan.app.steps.host_picture import Picture
from gpuplan.app.steps.hosts import legend
from gpuplan.catalog import load_catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.report.figures import Figures
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import load_scenario
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, capital, said

SHOWN, GROUP = "assistant", "assistant"
"""Example whose hosts are the picture of the start page, and its workload whose speed is named."""


class Shipped(NamedTuple):
    """What the start page shows of the examples."""

    cards: dict[str, list[contract.Example]]
    """Those to buy today, and those of older hardware, by key."""
    picture: dict[str, Any]
    head: contract.Panel
    figures: list[contract.Figure]


@lru_cache(maxsize=2)  # planning them takes 0.5 s, 3 s at first; a forked session has it from its parent
def _shipped(*own_rows: Path) -> Shipped:
    catalog = load_catalog(*own_rows)
    plans = {
        kind: {key: make_plan(load_scenario(key), catalog, check=False) for key in NAMES[kind]}
        for kind in ("example", "reference design")
    }
    cards = {kind: [_example(kind, key, plan) for key, plan in of.items()] for kind, of in plans.items()}
    plan = plans["example"][SHOWN]
    act = contract.Button(
        text=said("screen.start.open"), event="example", rest={"name": SHOWN}, key="open-shown"
    )
    sentence: contract.Piece = {"text": HEADLINES["hosts"](plan).sentence, "strong": True}
    head = contract.Panel(
        shown=True, stale=False, title=NAMES["example"][SHOWN], text=[[sentence]], acts=[act]
    )
    return Shipped(cards, _picture(plan), head, _figures(plan))


def _example(kind: str, key: str, plan: Plan) -> contract.Example:
    shown = Figures(plan)
    price = shown.cost.price if shown.cost else ""
    return {
        "id": key,
        "title": NAMES[kind][key],
        "text": NAMES["what an example shows"][key],
        "answer": said("screen.start.answer", totals=plan.totals, board=shown.board, price=price),
    }


def _picture(plan: Plan) -> dict[str, Any]:
    """Return the hosts of a plan that cannot be clicked."""
    (pool,), view = plan.pools, PlanView(plan)
    picture = Picture(view, pool, pool.hosts)
    one: dict[str, Any] = {"id": SHOWN, "name": pool.name, "about": "", "zoom": picture.zoom, "wide": False}
    one |= {"hosts": [picture.host(index) for index in range(pool.hosts)], "legend": legend(view, pool)}
    one |= {
        "worst": {"beside": "", "buttons": []},
        "verdict": None,
        "power_on": "",
        "watch": False,
        "more": 0,
    }
    return {
        "clusters": [],
        "pools": [one],
        "click": "fail",
        "any_down": False,
        "stale": False,
        "watched": True,
    }


def _figures(plan: Plan) -> list[contract.Figure]:
    speed, wait = (
        plan.lines[f"groups.{GROUP}.llm_{name}"].value for name in ("tokens_per_s", "first_token_s")
    )
    names = ("start_hosts", "start_cost", "start_speed", "start_wait")
    return figures(names, totals=plan.totals, cost=Figures(plan).cost, speed=round(speed), wait=f"{wait:.1f}")


def _of(workbook: Workbook) -> Shipped:
    return _shipped(*workbook.catalog.folders[1:2])


shown_head = Card("panel", lambda workbook: _of(workbook).head)
shown_picture = Card("hosts", lambda workbook: _of(workbook).picture)
shown_figures = Card("panel", lambda book: {"shown": True, "stale": False, "figures": _of(book).figures})


@partial(Card, "start")
def start_data(workbook: Workbook) -> contract.Start:
    about, cards = NAMES["what an industry runs"], _of(workbook).cards
    return {
        "examples": cards["example"],
        "references": cards["reference design"],
        "templates": [{"id": id, "title": name, "text": about[id]} for id, name in NAMES["industry"].items()],
        "customer": workbook.customer,
    }


@partial(Card, "guide")
def guide_data(workbook: Workbook) -> contract.Guide:
    problems = {problem.path: f"{capital(problem.message)}." for problem in workbook.unread}
    return {
        "started": workbook.started,
        "name": workbook.scenario.name,
        "kinds": [_kind(workbook, use_case, name, problems) for use_case, name in KIND_NAMES.items()],
        "where": [
            {
                "path": path,
                "label": NAMES["where a design is to run"][path],
                "options": [["", said("screen.start.suggest")], *options],
                "problem": problems.get(path, ""),
            }
            for path, options in (
                ("hardware.gpu", [[row.id, row.name] for row in workbook.catalog.gpus.values()]),
                ("hardware.server", [[row.id, row.name] for row in workbook.catalog.servers.values()]),
                ("availability.host_failures", list(map(list, NAMES["hosts that may fail"].items()))),
            )
        ],
    }


def _kind(workbook: Workbook, use_case: str, name: str, problems: dict[str, str]) -> contract.GuideKind:
    path, planned = count_of(workbook.catalog, use_case)
    counted = "screen.start.one at a time" if planned is None else "screen.prices.assumed"
    return {
        "id": use_case,
        "name": name,
        "about": str(workbook.catalog.row("use_cases", use_case)["example"]),
        "label": NAMES["what is counted"][path.rpartition(".")[2]],
        "planned": said(counted, count=planned),
        "problem": problems.get(path, ""),
    }
