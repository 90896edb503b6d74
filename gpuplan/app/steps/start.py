"""Start: an example, a blank design, a file, and what the steps answer."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import Card, Page, Tab, box
from gpuplan.app.state import STEPS, Workbook
from gpuplan.plan import make_plan
from gpuplan.report import amount
from gpuplan.report.headlines import Headline
from gpuplan.scenario import load_scenario
from gpuplan.wording import NAMES, whole

EXAMPLES = NAMES["example"]
"""Scenarios to begin with, and their titles."""


def start_data(workbook: Workbook) -> dict[str, Any]:
    """The ways to begin, each example with its answer."""
    answers = NAMES["what a step answers"]
    if workbook.examples is None:
        workbook.examples = [_example(workbook, key) for key in EXAMPLES]
    return {
        "examples": workbook.examples,
        "started": workbook.started,
        "name": workbook.scenario.name,
        "journey": [{"id": step, "title": title, "text": answers[step]} for step, title in STEPS[1:]],
        "customer": workbook.customer,
    }


def _example(workbook: Workbook, key: str) -> dict[str, str]:
    plan = make_plan(load_scenario(key), workbook.catalog)
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu].name
    totals = plan.totals
    return {
        "id": key,
        "title": EXAMPLES[key],
        "text": NAMES["what an example shows"][key],
        "answer": f"{amount(whole(totals.gpus_demanded), 'GPU')} demanded \u2192 {amount(totals.hosts, 'host')}, "
        f"{amount(totals.gpus, 'GPU')} ({totals.gpus_after_failure} after a failure)",
        "hardware": f"{gpu}, {plan.scenario.hardware.gpus_per_host} per host, "
        f"{plan.catalog.vsphere[plan.scenario.platform.vsphere].name}",
    }


PAGE = Page(lambda _workbook: Headline(""), (Tab("start", "", box("gp-page", Card("start", start_data))),))
