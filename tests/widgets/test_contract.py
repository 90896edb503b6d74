"""Python and the browser keep one contract: scripts read the keys that it declares, and the workbook sends no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest
from random_cases import of_the_day
from screen_contract import check, faults
from screen_scripts import Scripts

from gpuplan import load_scenario
from gpuplan.app.screen import PAGES, WorkbookApp
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.widgets import contract
from gpuplan.widgets.contract import PARTS, Hidden
from gpuplan.widgets.part import STATIC, Part

NO_PARTS = {"common", "chart", "vega"}
"""Scripts that draw no part."""
UPDATED = {
    "common update.next": contract.Field,
    "grid update.next": contract.GridRow,
    "sheet update.next": contract.SheetRow,
    "workloads update.row": contract.Workload,
}
"""What rows and fields that stay on the page are updated with; the reader does not follow it there."""

OF_WIDGETS = {"RunInput.at", "RunInput.range", "Slide.range", "Slide.what", "Slider.range"}
"""Keys of which ``Part`` makes a slider of ipywidgets."""


def scripts(**changed: tuple[str, str]) -> Scripts:
    """The scripts as they are read, after some text of a script was changed."""
    texts = {name: (STATIC / f"{name}.js").read_text(encoding="utf-8") for name in ("common", *PARTS)}
    for name, (old, new) in changed.items():
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new)
    return Scripts(texts.pop("common"), texts, PARTS, UPDATED)


def declared(kind: Any) -> Iterator[tuple[Any, str]]:
    """The keys of a type, and of all types in it."""
    if is_typeddict(kind) and kind is not Hidden:
        yield from ((kind, key) for key in get_type_hints(kind))
    within = get_type_hints(kind).values() if is_typeddict(kind) else get_args(kind)
    for each in within:
        yield from declared(each)


def unread(read: Scripts) -> set[str]:
    keys = {key for kind in PARTS.values() for key in declared(kind)}
    return {f"{kind.__name__}.{key}" for kind, key in keys - read.read}


def test_every_script_of_a_part_has_its_data_declared() -> None:
    assert set(PARTS) == {path.stem for path in STATIC.glob("*.js")} - NO_PARTS


def test_scripts_read_every_declared_key_and_no_other() -> None:
    read = scripts()
    assert not read.unknown, "read, but not declared"
    assert unread(read) == OF_WIDGETS, "declared, but not read"


def test_a_key_misspelt_in_a_script_is_found() -> None:
    read = scripts(
        hosts=("host.all_down", "host.allDown"),
        strip=("data.wrong.name", "data.wrong.title"),
        bar=("{ customer, internal, share }", "{ customer, intern, share }"),
        common=("c.visit_text", "c.visit_words"),
        watch=("data().step_ms", "data().step"),
        workloads=("p.colour", "p.color"),
    )
    wrong = {
        "Host.allDown",
        "Wrong.title",
        "Bar.intern",
        "Cell.visit_words",
        "Watch.step",
        "MemoryPart.color",
    }
    assert read.unknown == wrong
    assert {"Host.all_down", "Bar.internal", "Cell.visit_text", "Watch.step_ms"} <= unread(read)


def test_a_key_misspelt_in_python_is_found(catalog: Catalog) -> None:
    data = {"page": "<p>", "name": "", "about": "", "older": False}
    assert set(faults(data, PARTS["preview"], "preview")) == {
        "undeclared preview.older",
        "missing preview.old",
    }
    data = {"page": 1, "name": "", "about": "", "old": False}
    assert list(faults(data, PARTS["preview"], "preview")) == ["preview.page is 1"]


@pytest.fixture
def opened(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Workbook]:
    """An example on a screen that refuses data against the contract."""
    monkeypatch.setattr(
        Part, "show", lambda part, data: check(type(part).__name__.removeprefix("Part_"), data)
    )
    book = Workbook(catalog, load_scenario(request.param))
    app = WorkbookApp(book)
    yield book
    app.close()


def walk(book: Workbook) -> None:
    """Enter every tab of every step."""
    for step, page in PAGES.items():
        for tab in page.tabs:
            book.open_tab(step, tab.name)
            book.go(step)


EXAMPLES = pytest.mark.parametrize("opened", of_the_day(["enterprise", "assistant"], few=1), indirect=True)


@EXAMPLES
def test_every_tab_and_drawer_keeps_the_contract(opened: Workbook) -> None:
    walk(opened)
    for key in ("totals.gpus", "cost.net_present", "power.typical", "messages", "glossary", ""):
        opened.explain(key)


@EXAMPLES
def test_it_does_while_hosts_are_down_and_an_input_is_refused(opened: Workbook) -> None:
    group = opened.scenario.groups[0].id
    opened.open_workload(group)
    opened.toggle_host(opened.plan.pools[0].id, 1)
    opened.edit(f"groups.{group}.people", "many")
    opened.edit(f"groups.{group}.hours", "25:00")
    assert opened.stale and opened.wrong
    walk(opened)


@EXAMPLES
def test_it_does_in_the_customer_view_while_power_on_is_watched(opened: Workbook) -> None:
    opened.look_as(True)
    opened.watch(opened.plan.pools[0].id)
    opened.watch_on(at=3)
    walk(opened)


@EXAMPLES
def test_it_does_with_kept_designs_open_details_and_work_in_the_background(opened: Workbook) -> None:
    opened.keep()
    opened.edit("availability.host_failures", "2")
    opened.edit("demand.stated_gpus", "60")
    opened.edit("hardware.existing", [{"hosts": 2, "gpus": 4}])
    for details in (
        "explore-ranked",
        "host-line",
        "management-line",
        "thresholds",
        "cost-alternatives",
        "growth",
    ):
        opened.fold(details, True)
    for work in (opened.exploring, opened.sensitivity, opened.delivering):
        work.runner.state, work.runner.started, work.runner.left_s = "running", True, 60.0
    opened.auditing.name, opened.auditing.size, opened.auditing.got = "use.csv", 100, 50
    walk(opened)
