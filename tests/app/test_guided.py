"""A guided start: a first design from three answers."""

from __future__ import annotations

from typing import Any

import pytest
from approved import is_approved

pytest.importorskip("traitlets")

from gpuplan.app.guided import WHERE, Answers, count_of, first_design
from gpuplan.app.state import Workbook
from gpuplan.app.steps.start import guide_data
from gpuplan.catalog import Catalog
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import STATED, ScenarioError


def basis(scenario: Any, path: str) -> str:
    return str(scenario.origin(path).basis)


def test_all_kinds_without_a_number_make_a_design_of_planning_values(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.start_guided(Answers(dict.fromkeys(KIND_NAMES, ""), {}))
    assert [group.use_case for group in book.scenario.groups] == list(KIND_NAMES)
    assert (book.started, book.step, book.refused) == (True, "usecases", ())
    assert book.plan.totals.unplaced_vms == 0
    assert book.scenario.hardware.server, "a server that holds the board is suggested"
    for use_case in KIND_NAMES:
        path, planned = count_of(catalog, use_case)
        assert book.scenario.get(path) == planned
        assert basis(book.scenario, path) == "assumed"
    assert all(basis(book.scenario, path) == "assumed" for path in WHERE)


def test_what_was_typed_or_chosen_is_never_called_assumed(catalog: Catalog) -> None:
    where = {"hardware.gpu": "h100-nvl-94gb", "availability.host_failures": "0"}
    made = first_design(catalog, Answers({"small-workstation": "1,200", "fine-tuning": "3"}, where))
    notebooks, tuning = made.groups
    assert (notebooks.people, tuning.jobs_per_day) == (1200, 3)
    assert (made.hardware.gpu, made.availability.host_failures) == ("h100-nvl-94gb", 0)
    for path in (*where, "groups.notebooks.people", "groups.fine-tuning.jobs_per_day"):
        assert made.origin(path) == STATED, path
    assert basis(made, "groups.notebooks.gpus_each") == "assumed"
    assert basis(made, "hardware.server") == "assumed"


def test_a_server_that_is_chosen_stays_and_gets_a_board_that_it_takes(catalog: Catalog) -> None:
    made = first_design(catalog, Answers({"hpc": "2"}, {"hardware.server": "dell-c4140"}))
    assert made.hardware.server == "dell-c4140"
    assert made.origin("hardware.server") == STATED
    assert basis(made, "hardware.gpu") == basis(made, "hardware.gpus_per_host") == "assumed"


def test_double_precision_gets_a_board_that_has_it(catalog: Catalog) -> None:
    light, double = (first_design(catalog, Answers({kind: "2"}, {})) for kind in ("dev-test", "hpc"))
    gpus = [catalog.gpus[made.hardware.gpu] for made in (light, double)]
    shares = [float(gpu.value("fp64_tflops") or 0) / float(gpu.value("fp32_tflops")) for gpu in gpus]
    assert shares[0] < 0.1 < shares[1]


def test_what_cannot_be_read_is_said_beside_its_answer_and_changes_nothing(catalog: Catalog) -> None:
    book = Workbook(catalog)
    before = book.scenario
    book.start_guided(Answers({"llm-serving": "lots", "hpc": "-1", "dev-test": "5"}, {}))
    assert (book.scenario, book.started) == (before, False)
    problems = {kind["id"]: kind["problem"] for kind in guide_data(book)["kinds"] if kind["problem"]}
    assert set(problems) == {"llm-serving", "hpc"}
    assert is_approved(problems["hpc"], "0", "100\u202f000")
    book.start_guided(Answers({"llm-serving": "50"}, {}))
    assert book.started and not any(kind["problem"] for kind in guide_data(book)["kinds"])
    book.undo()
    assert book.scenario == before


def test_every_board_that_is_chosen_stays(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        made = first_design(catalog, Answers({"dev-test": "1"}, {"hardware.gpu": gpu}))
        assert (made.hardware.gpu, made.origin("hardware.gpu")) == (gpu, STATED)
    with pytest.raises(ScenarioError):
        first_design(catalog, Answers({"dev-test": "1"}, {"availability.host_failures": "9"}))
