"""What a plan and its parts look like in a cell of a notebook and in a console."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cached_property
from html import escape
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import check_plan, compare, explain, load_scenario, make_plan
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
    assert "Enterprise example" in shown and plan.verdict.sentence in shown
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
    assert has_approved(shown, "hardware.gpu", "v100-pcie-32gb") and "availability.repair_h" not in shown


def test_long_tables_are_cut_and_say_so(plan: Plan) -> None:
    assert f"and {len(plan.lines) - 40} more rows" in html(plan.lines)
    assert html(tables.plan.pools(plan)).count("<tr>") == 2


def test_costs_and_catalog_are_tables(plan: Plan) -> None:
    assert all(part.name in html(plan.costs) for part in plan.costs.parts)
    assert "5-year cost (NPV)" in html(plan.costs) and "GPU boards" in html(plan.catalog)


def test_what_a_customer_typed_is_text_and_nothing_else(catalog: Catalog) -> None:
    scenario = load_scenario("starter").with_value("name", "<img src=x onerror=alert(1)>")
    for thing in (scenario, make_plan(scenario, catalog)):
        assert "<img" not in html(thing) and "&lt;img" in html(thing)


def test_other_things_are_not_shown(plan: Plan) -> None:
    with pytest.raises(TypeError, match="how to show a int"):
        html(3)


def test_all_of_a_plan_is_short_in_a_console(plan: Plan) -> None:
    assert is_approved(repr(plan), "'Enterprise example'", "8 hosts", "32 GPUs", "28")
    chapters = [name for name, kind in vars(Plan).items() if isinstance(kind, cached_property | property)]
    for name in chapters:
        told = getattr(plan, name)
        for each in told if isinstance(told, tuple) else (told,):
            assert isinstance(each, dict) or len(repr(each)) < 1000, name
    things = (plan.scenario, plan.catalog, plan.lines, plan.pools[0], plan.costs, *plan.scenario.groups)
    for thing in (*things, *looked_at(plan)):
        assert len(repr(thing)) < 500 and repr(thing)


def looked_at(plan: Plan) -> tuple[Any, ...]:
    """Things that a person looks at, each a card of its own."""
    catalog = plan.catalog
    return (
        explain(plan, "totals.hosts"),
        explain(plan, "cost.net_present"),
        compare(plan, "starter"),
        check_plan(plan),
        plan.decisions,
        catalog.gpus,
        catalog.gpus["h100-sxm5-80gb"],
        catalog.rows("profiles"),
        catalog.row("profiles", "a40-48gb/A40-16C"),
        plan.pools[0],
    )


def test_things_show_themselves(plan: Plan) -> None:
    for thing in looked_at(plan):
        assert "<table>" in thing._repr_html_(), type(thing)
    assert plan.decisions[0].decision in html(plan.decisions)
    assert "141" not in html(plan.catalog.gpus["h100-sxm5-80gb"]) and "80 GiB" in html(
        plan.catalog.gpus["h100-sxm5-80gb"]
    )
    assert "none" in html(type(plan.decisions)())


def test_what_is_long_in_an_explanation_is_folded(plan: Plan) -> None:
    """The explanation of the cost was 1,600 px tall, with a column without a word."""
    shown = html(explain(plan, "cost.net_present"))
    assert "<details ><summary>" in shown and "<th>Where</th>" not in shown
    assert "<details open>" in html(explain(plan, "totals.hosts"))


def test_the_card_of_the_catalog_has_every_table(plan: Plan) -> None:
    shown = html(plan.catalog)
    assert "more rows" not in shown and shown.index("Catalog") < shown.index(plan.catalog.digest)
    assert all(title in shown for title in map(escape, plan.catalog.titles.values()))


def test_things_need_no_notebook_to_be_shown() -> None:
    code = """if True:
        import sys, gpuplan
        plan = gpuplan.make_plan(gpuplan.load_scenario("starter"))
        print("gpuplan.report.shown" in sys.modules, "Starter" in plan._repr_html_(), "IPython" in sys.modules)
        print(dir(gpuplan) == sorted(gpuplan.__all__))
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False True False", "True"]
