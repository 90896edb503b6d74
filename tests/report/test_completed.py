"""What Tab offers inside the quotes of a call."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.completed import offered


@pytest.fixture(scope="module")
def names(catalog: Catalog) -> dict[str, object]:
    plan = make_plan(load_scenario("enterprise"), catalog)
    design = SimpleNamespace(plan=plan, scenario=plan.scenario)
    return {"d": design, "p": plan, "s": plan.scenario, "x": 3, "gp": SimpleNamespace()}


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ('d.set("groups.researchers.peo', "groups.researchers.people"),
        ("slider = d.slider('hardware.gpus", "hardware.gpus_per_host"),
        ('s.with_value("cost.ye', "cost.years"),
        ('gp.sweep(d, "cost.ye', "cost.years"),
        ('sweep("starter", "cost.ye', "cost.years"),
        ('gp.explain(d.plan, "totals.h', "totals.hosts"),
        ('plan_table(p, "post', "postures"),
        ('d.chart("c', "cost"),
        ('d.widget("work', "workloads"),
        ('d.table("cost_by_y', "cost_by_year"),
        ("p.plot.", "cost"),
        ('p.group("res', "researchers"),
        ('gp.grid(d, {"cost.years": [3], "groups.developers.peo', "groups.developers.people"),
        ('gp.load_scenario("st', "starter"),
        ('gp.Hardware(gpus_per_host=4, gpu="h100-n', "h100-nvl-94gb"),
        ('gp.Scenario(groups=[gp.Group("a", use_case="llm', "llm-serving"),
        ('d.set("network.transport", "', "tcp"),
        ("d.choice('hardware.gpu', 'l40s", "l40s-48gb"),
        ("d.plan.plot.wa", "waiting"),
    ],
)
def test_what_may_stand_there(names: dict[str, object], line: str, first: str) -> None:
    assert offered(line, names)[0] == first


@pytest.mark.parametrize(
    "line",
    [
        'x.set("gr',
        'open("',
        'Frame(gpu="',
        'gp.Hardware(wheels="',
        "p.",
        'd.set(PATH, "',
        'nothing.set("',
        'd.set("groups")',
        "x.plot.",
        'gp.explain(x, "',
    ],
)
def test_nothing_of_ours_is_offered_elsewhere(names: dict[str, object], line: str) -> None:
    assert offered(line, names) == []


def test_tab_of_ipython_asks_here() -> None:
    code = """if True:
        from IPython.core.completer import provisionalcompleter
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("import gpuplan; s = gpuplan.load_scenario('starter'); p = gpuplan.make_plan(s)")
        with provisionalcompleter():
            for line in ('s.with_value("cost.ye', "p.plot.fr"):
                found = [line[:each.start] + each.text for each in shell.Completer.completions(line, len(line))]
                print(found)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["""['s.with_value("cost.years']""", "['p.plot.frontier']"]


def test_tab_on_a_plan_offers_chapters_and_figures_without_plumbing(names: dict[str, object]) -> None:
    plan = names["p"]
    assert all(hasattr(plan, name) for name in dir(plan))
    assert {"totals", "groups", "costs", "plot", "verdict"} <= set(dir(plan))
    assert not {"but", "once", "read", "relinked", "readdressed", "check"} & set(dir(plan))
