"""What changed from one design to the next, in words."""

from __future__ import annotations

import pytest
from approved import is_approved

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
    ("change", "figures"),
    [
        (("groups.data-scientists.people", "40"), ("Data scientists", "32", "40")),
        (("groups.data-scientists.active_share", "60"), ("Data scientists", "50 %", "60 %")),
        (("groups.data-scientists.isolation", True), ("Data scientists",)),
        (("groups.data-scientists.use_case", "training"), ("Data scientists",)),
        (
            ("groups.data-scientists.name", "Analysts"),
            ("Analysts", "Data scientists", "Analysts"),
        ),
        (("demand.rule", "wait"), ()),
        (("groups.developers.use_case", "hpc"), ("HPC",)),
        (("demand.stated_gpus", "40"), ("28 GPUs", "40 GPUs")),
        (("demand.stated_gpus", ""), ("28 GPUs",)),
        (("hardware.gpu", "l40s-48gb"), ("L40S",)),
        (("prices.v100-pcie-32gb", "2500"), ("USD 2\u202f500",)),
        (
            ("ranges.cost.hardware_discount", "20 to 60"),
            ("20 %", "60 %"),
        ),
        (("format.locale", "en-IN"), ("India",)),
        (("delete_group", "developers"), ("Developers",)),
        (("duplicate_group", "developers"), ("Developers",)),
    ],
)
def test_one_change_is_named(catalog: Catalog, change: tuple[str, object], figures: tuple[str, ...]) -> None:
    assert is_approved(done(catalog, change), *figures)


def test_groups_that_moved_another_design_and_many_inputs(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.move_group("developers", -1)
    assert is_approved(change_words(load_scenario("enterprise"), book.scenario, catalog))
    book.open_example("starter")
    assert book.undo_words == f"{book.scenario.name} opened"
    assert is_approved(done(catalog, ("cost.years", "4"), ("cost.pue", "1.3")))
    book.confirm("cost.years", True)
    assert book.undo_words.endswith(": confirmed")
