"""What a plan and its parts look like in a cell of a notebook and in a console."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cached_property

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report import tables
from gpuplan.report.shown import html


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("enterprise"), catalog)


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


def test_a_plan_in_a_cell_is_its_answer_and_its_groups(plan: Plan) -> None:
    shown = words(html(plan))
    assert "Enterprise example" in shown and plan.placed.sentence in shown
    assert "Hosts 8" in shown and "GPUs after a failure 28" in shown and "kW" in shown
    assert all(group.name in shown for group in plan.groups)
    assert len(html(plan)) < 6000


def test_a_line_in_a_cell_says_why(plan: Plan) -> None:
    line = plan.line("totals.hosts")
    shown = words(html(line))
    assert line.sentence in shown and all(given.label in shown for given in line.inputs)
    assert line.function in shown


def test_a_scenario_in_a_cell_has_what_was_stated_and_no_default(plan: Plan) -> None:
    shown = words(html(plan.scenario))
    assert "hardware.gpu GPU model v100-pcie-32gb" in shown and "availability.repair_h" not in shown


def test_long_tables_are_cut_and_say_so(plan: Plan) -> None:
    assert f"and {len(plan.lines) - 40} more rows" in html(plan.lines)
    assert html(tables.plan.pools(plan)).count("<tr>") == 2


def test_costs_and_catalog_are_tables(plan: Plan) -> None:
    assert all(part.name in html(plan.costs) for part in plan.costs.parts)
    assert "Net present cost" in html(plan.costs) and "GPU boards" in html(plan.catalog)


def test_what_a_customer_typed_is_text_and_nothing_else(catalog: Catalog) -> None:
    scenario = load_scenario("starter").with_value("name", "<img src=x onerror=alert(1)>")
    for thing in (scenario, make_plan(scenario, catalog)):
        assert "<img" not in html(thing) and "&lt;img" in html(thing)


def test_other_things_are_not_shown(plan: Plan) -> None:
    with pytest.raises(TypeError, match="how to show a int"):
        html(3)


def test_all_of_a_plan_is_short_in_a_console(plan: Plan) -> None:
    assert repr(plan) == "Plan('Enterprise example': 8 hosts, 32 GPUs, 28 after a failure)"
    chapters = [name for name, kind in vars(Plan).items() if isinstance(kind, cached_property | property)]
    for name in chapters:
        told = getattr(plan, name)
        for each in told if isinstance(told, tuple) else (told,):
            assert isinstance(each, dict) or len(repr(each)) < 1000, name
    for thing in (plan.scenario, plan.catalog, plan.lines, plan.pools[0], plan.costs, *plan.scenario.groups):
        assert len(repr(thing)) < 500 and repr(thing)


def test_a_cell_is_asked_how_to_show_things_only_where_there_is_a_notebook() -> None:
    code = """if True:
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        import gpuplan, sys
        assert "gpuplan.report.shown" not in sys.modules
        data, _ = shell.display_formatter.format(gpuplan.make_plan(gpuplan.load_scenario("starter")))
        print(sorted(data), "Starter" in data["text/html"], len(data["text/plain"]) < 500)
        print(dir(gpuplan) == sorted(gpuplan.__all__))
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['text/html', 'text/plain'] True True", "True"]
