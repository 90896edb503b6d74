"""What changed from one design to the next, in words."""

from __future__ import annotations

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.changes import change_words
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario


def done(catalog: Catalog, *changes: tuple[str, object]) -> str:
    book = Workbook(catalog, load_scenario("enterprise"))
    before = book.scenario
    for act, given in changes:
        if act in ("delete_group", "add_group", "duplicate_group"):
            getattr(book, act)(given)
        else:
            book.edit(act, given)
    return change_words(before, book.scenario, catalog)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("groups.data-scientists.people", "40"), "of Data scientists: 32 \u2192 40"),
        (("groups.data-scientists.active_share", "60"), "of Data scientists: 50 % \u2192 60 %"),
        (("groups.data-scientists.isolation", True), "of Data scientists: no \u2192 yes"),
        (("groups.data-scientists.use_case", "training"), "Workload of Data scientists: "),
        (
            ("groups.data-scientists.name", "Analysts"),
            "of Analysts: \u201cData scientists\u201d \u2192 \u201cAnalysts\u201d",
        ),
        (("demand.rule", "wait"), "Sum of the peaks \u2192 Waiting limit"),
        (("groups.developers.use_case", "hpc"), " \u2192 HPC"),
        (("demand.stated_gpus", "40"), "Stated total: 28 GPUs \u2192 40 GPUs"),
        (("demand.stated_gpus", ""), "Stated total: 28 GPUs \u2192 empty"),
        (("hardware.gpu", "l40s-48gb"), "GPU model: "),
        (("prices.v100-pcie-32gb", "2500"), ": empty \u2192 USD 2\u202f500"),
        (
            ("ranges.cost.hardware_discount", "20 to 60"),
            "Range of Hardware discount: empty \u2192 20 % to 60 %",
        ),
        (("format.locale", "en-IN"), "Numbers and dates: International \u2192 English (India)"),
        (("delete_group", "developers"), "Group Developers deleted"),
        (("duplicate_group", "developers"), "Group Developers (copy) added"),
    ],
)
def test_one_change_is_named(catalog: Catalog, change: tuple[str, object], words: str) -> None:
    assert words in done(catalog, change)


def test_groups_that_moved_another_design_and_many_inputs(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.move_group("developers", -1)
    assert (
        change_words(load_scenario("enterprise"), book.scenario, catalog)
        == "Groups HPC users and Developers swapped"
    )
    book.open_example("starter")
    assert book.undo_words == f"{book.scenario.name} opened"
    assert done(catalog, ("cost.years", "4"), ("cost.pue", "1.3")) == "Analysis period and PUE changed"
    book.confirm("cost.years", True)
    assert book.undo_words.endswith(": confirmed")
