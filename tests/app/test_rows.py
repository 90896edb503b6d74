"""Inputs that hold rows, edited cell by cell."""

from __future__ import annotations

from gpuplan.app.rows import Cell, cell_at, rows_of, with_cell
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario


def test_a_path_names_a_cell() -> None:
    assert cell_at("hardware.existing.2.hosts") == Cell("hardware.existing", 2, "hosts")
    for path in (
        "hardware.existing",
        "hardware.existing.a.hosts",
        "hardware.existing.1.gpus",
        "hardware.gpu",
        "groups.a.people",
    ):
        assert cell_at(path) is None


def test_rows_come_and_go_with_their_number() -> None:
    scenario = load_scenario("starter").with_value("hardware.existing", "old: 3 x 2")
    assert rows_of(scenario, "hardware.existing") == [{"name": "old", "hosts": 3, "gpus_per_host": 2}]
    more = with_cell(scenario, Cell("hardware.existing", 2, "gpus_per_host"), "4")
    assert more[1] == {"hosts": 1, "gpus_per_host": "4"}
    assert with_cell(scenario, Cell("hardware.existing", 1, "hosts"), "") == []
    assert with_cell(scenario, Cell("hardware.existing", 2, "hosts"), "") == [more[0]]


def test_cells_are_typed_refused_and_undone(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.edit("hardware.existing.1.hosts", "3")
    book.edit("hardware.existing.1.gpus_per_host", "2")
    assert book.scenario.hardware.existing == "3 x 2"
    book.edit("hardware.existing.1.hosts", "many")
    assert book.stale
    assert book.problem_of("hardware.existing.1.hosts")
    book.undo()
    assert not book.stale
    book.undo()
    assert book.scenario.hardware.existing == "3 hosts"
    book.edit("hardware.existing.1.hosts", "")
    assert book.scenario.hardware.existing is None
