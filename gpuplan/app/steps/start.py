"""Start: three questions, an example, a blank design, a file, and the questions that the steps answer."""

from functools import partial

from gpuplan.app.cards import Card
from gpuplan.app.groups import count_of
from gpuplan.app.state import STEPS, Workbook
from gpuplan.plan import make_plan
from gpuplan.report.figures import Figures
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import load_scenario
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, capital, said

EXAMPLES = NAMES["example"]


@partial(Card, "start")
def start_data(workbook: Workbook) -> contract.Start:
    answers = NAMES["what a step answers"]
    if workbook.examples is None:
        workbook.examples = [_example(workbook, key) for key in EXAMPLES]
    return {
        "examples": workbook.examples,
        "started": workbook.started,
        "name": workbook.scenario.name,
        "journey": [{"title": title, "text": answers[step]} for step, title in STEPS[1:]],
        "customer": workbook.customer,
    }


def _example(workbook: Workbook, key: str) -> contract.Example:
    plan = make_plan(load_scenario(key), workbook.catalog, check=False)
    gpu, each = plan.catalog.gpus[plan.scenario.hardware.gpu].name, plan.scenario.hardware.gpus_per_host
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere].name
    return {
        "id": key,
        "title": EXAMPLES[key],
        "text": NAMES["what an example shows"][key],
        "answer": said("screen.start.answer", needed=Figures(plan).demand, totals=plan.totals),
        "hardware": said("screen.start.hardware", gpu=gpu, each=each, version=version),
    }


@partial(Card, "guide")
def guide_data(workbook: Workbook) -> contract.Guide:
    problems = {problem.path: f"{capital(problem.message)}." for problem in workbook.unread}
    return {
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
