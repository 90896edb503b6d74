"""Things of the lower floors are shown by the upper ones, which the package names and no lower floor does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpuplan.facts import Brief, Named, Several
from gpuplan.plan import Plan
from gpuplan.report.plot import Plot
from gpuplan.report.shown import html
from gpuplan.showing import WAYS, Carded


@pytest.fixture(scope="module")
def plan(plans: dict[str, Plan]) -> Plan:
    return plans["enterprise"]


def test_every_carded_thing_has_the_card_of_the_report(plan: Plan) -> None:
    for thing in (
        plan,
        plan.lines,
        plan.lines["totals.hosts"],
        plan.catalog,
        Several(plan.groups),
        Named({"a": plan}),
    ):
        assert isinstance(thing, Carded) and thing._repr_html_() == html(thing)
    assert issubclass(Brief, Carded)


def test_the_ways_are_registered_with_the_package_and_load_what_they_need_on_use() -> None:
    code = """if True:
        import sys
        from gpuplan.showing import WAYS
        from gpuplan.plan import make_plan
        from gpuplan.scenario import load_scenario
        from gpuplan.catalog import load_catalog
        plan = make_plan(load_scenario("starter"), load_catalog())
        print(*sorted(WAYS), "gpuplan.report" in sys.modules)
        print(type(plan.plot).__name__, "<table" in plan._repr_html_())
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "card",
        "frame",
        "plot",
        "progress",
        "report",
        "standing",
        "study",
        "False",
        "Plot",
        "True",
    ]


def test_a_plot_is_of_the_plan(plan: Plan) -> None:
    assert isinstance(plan.plot, Plot) and repr(plan.plot) == repr(WAYS["plot"](plan))
