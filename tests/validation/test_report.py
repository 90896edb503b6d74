"""The calibration as plain data and as text: the same numbers as the fit's, all finite."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved

from gpuplan.catalog import Catalog
from validation.calibration import COLD, COLLECTIVE, ITEMS, SERVERS, TRAINING
from validation.llm_training_calibration import MEMORY, STEPS, TUNING
from validation.report import (
    calibration_text,
    ranges_text,
    same_to_three_digits,
    worst_text,
)
from validation.tables import STUN, TARGETS, error_words


@pytest.fixture(scope="module")
def found(calibration: dict[str, Any]) -> dict[str, Any]:
    return calibration


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_published_row_is_in_the_calibration(found: dict[str, Any], catalog: Catalog) -> None:
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    wanted = {
        row.id for name in ("training_times", "collective_times", "stun_times") for row in catalog.rows(name)
    }
    wanted |= {row.id for row in catalog.rows("remote_times") if row["phase"] == "cold inference"}
    wanted |= {row.id for row in catalog.rows("llm_training") if row["tokens_per_gpu"] is not None}
    wanted |= {f"{row.id}-memory" for row in catalog.rows("llm_training") if row["memory_gb"] is not None}
    assert {row["id"] for row in found["rows"]} == wanted
    shown = [row for row in found["rows"] if not row["fitted"] and not row["held"]]
    assert shown
    assert all(row["note"] for row in shown), "a row that is not fitted on says why"


def test_the_targets_are_met(found: dict[str, Any]) -> None:
    assert {t["area"] for t in found["targets"]} == set(TARGETS)
    for target in found["targets"]:
        rows = [r for r in found["rows"] if r["area"] == target["area"] and r["fitted"]]
        off = [abs(r["error"]) for r in rows]
        assert target["rows"] == len(rows) > 0
        assert target["mean"] == pytest.approx(sum(off) / len(off))
        assert target["worst"] == max(off) <= target["worst_at_most"]
        assert target["mean_at_most"] is None or target["mean"] <= target["mean_at_most"]
        assert target["met"]


def test_errors_are_relative_but_for_efficiency_and_seconds(found: dict[str, Any]) -> None:
    for row in found["rows"]:
        off = row["predicted"] - row["measured"]
        if row["area"] in (TRAINING, COLLECTIVE, COLD, STEPS, TUNING, MEMORY):
            off /= row["measured"]
        assert row["error"] == pytest.approx(off)
    assert error_words(TRAINING, 0.0512) == "5.1 %"
    assert error_words(SERVERS, -0.05, sign=True) == "-0.050"
    assert error_words(STUN, 0.26, sign=True) == "+0.3 s"
    assert error_words(STUN, -0.04, sign=True) == "0.0 s"


def test_a_stun_by_hand(found: dict[str, Any], catalog: Catalog) -> None:
    rows = {row["id"]: row for row in found["rows"]}
    line = catalog.assumptions["vmotion-stun-10g"]
    by_hand = line.fact("fixed_s").value + 32 / line.fact("copy_rate_gb_s").value
    assert rows["v100-7.0-32gb"]["predicted"] == pytest.approx(by_hand)
    assert rows["v100-7.0-32gb"]["measured"] == 39
    assert rows["v100-6.7u3-32gb"]["predicted"] > by_hand + 5  # vSphere 6.7 copied more slowly
    assert rows["worst-case-7.0-32gb-32gb"]["predicted"] == pytest.approx(99, abs=2)


def test_each_source_is_predicted_from_the_others_too(found: dict[str, Any]) -> None:
    left_out = [e for e in found["left_out"] if e["series"]]
    assert {e["area"] for e in left_out} == {*ITEMS, STEPS}
    for area in ITEMS:
        in_sample = next(e for e in found["errors"] if e["area"] == area and not e["series"])
        out = next(e for e in found["left_out"] if e["area"] == area and not e["series"])
        each = [e for e in left_out if e["area"] == area]
        held = sum(row["held"] for row in found["rows"] if row["area"] == area)
        assert out["rows"] == in_sample["rows"] + held == sum(e["rows"] for e in each)
        assert out["mean"] == pytest.approx(sum(e["mean"] * e["rows"] for e in each) / out["rows"])
        assert out["worst"] == max(e["worst"] for e in each)
        assert out["mean"] >= in_sample["mean"]


def test_ranges_say_how_many_unseen_rows_they_hold(found: dict[str, Any]) -> None:
    assert {each["area"] for each in found["ranges"]} == {TRAINING, SERVERS, STEPS}
    for each in found["ranges"]:
        if each["area"] == STEPS:
            assert each["inside"] >= 0.8 * each["rows"] and each["mean_width"] < 0.35
            continue
        out = next(e for e in found["left_out"] if e["area"] == each["area"] and not e["series"])
        assert out["rows"] == each["rows"]
        assert 0.8 * each["rows"] <= each["inside"] <= each["rows"]
        assert 0.1 < each["mean_width"] < 0.2
        said = f"{each['inside']} of {each['rows']} ({each['area']})"
        assert said in one_line(ranges_text(found)) and said in one_line(calibration_text(found))


def test_rounding_to_three_digits() -> None:
    assert same_to_three_digits(0.138, 0.1375)
    assert same_to_three_digits(15.6, 15.66)
    assert not same_to_three_digits(15.6, 15.71)
    assert not same_to_three_digits(0.138, 0.1369)
    assert same_to_three_digits(100, 100.9)


def test_the_calibration_as_text(found: dict[str, Any]) -> None:
    text = calibration_text(found)
    for heading in ("Fitted parameters", "Targets", "Errors", "Rows with the largest errors"):
        assert f"{heading}\n{'-' * len(heading)}\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert "None" not in text
    assert "NOT MET" not in text
    for parameter in found["parameters"]:
        assert parameter["parameter"] in text
    moved = {**found, "moved": True, "parameters": [{**found["parameters"][0], "moved": True}]}
    assert has_approved(one_line(calibration_text(moved)), "tcp_gbit_s")
    missed = {**found, "targets": [{**found["targets"][0], "met": False}]}
    assert "NOT MET" in calibration_text(missed)


def test_the_worst_rows_come_first_and_say_if_nothing_was_fitted_on_them(found: dict[str, Any]) -> None:
    worst = max(
        (r for r in found["rows"] if r["area"] in (*ITEMS, STEPS, TUNING)), key=lambda r: abs(r["error"])
    )
    first = worst_text(found).splitlines()[1]
    assert first.startswith(worst["id"])
    assert first.endswith("" if worst["fitted"] else " held" if worst["held"] else " shown")
    only = [r for r in found["rows"] if not r["fitted"] and not r["held"]]
    notes = {r["note"] for r in only if r["id"] in worst_text(found)}
    assert all(note in one_line(worst_text(found)) for note in notes)
