"""Fields of a record: by their path, as numbers within limits, named when wrong."""

from __future__ import annotations

import pytest

from gpuplan.analysis.benchmarks.record import FIELDS, Record
from gpuplan.catalog import CatalogError
from gpuplan.wording import NAMES

DEEP = Record(
    "f.json", {"a": {"b": [{"c": "1,955.10"}]}, "x.y": 2, "none": None, "n": ["one"], "off": "N/A"}, 3
)


def test_a_field_is_found_by_its_path_and_at_any_level() -> None:
    assert DEEP.value("x.y") == 2 and DEEP.value("a.z.q") is None
    assert DEEP.number("none", "off", "*.c") == 1955.1
    assert DEEP.number("x.y", times=1e3) == 2000
    assert (DEEP.text("n"), DEEP.text("a", "none")) == ("one", "")


@pytest.mark.parametrize(
    "value", ["1,95", "x", "--1", "1e", ".", [], {}, True, -0.1, 1e20, float("inf"), float("nan")]
)
def test_what_is_no_number_is_refused_with_its_field(value: object) -> None:
    with pytest.raises(CatalogError, match=r"f\.json, line 7.*in\.here") as error:
        Record("f.json", {"here": value}, 7, "in").number("here")
    assert error.value.row == 7


def test_lists_and_objects_are_what_they_are_said_to_be() -> None:
    assert [each.at for each in Record("f", {"l": [{}, {}]}).listed("l")] == ["l[0]", "l[1]"]
    for wrong in ({"l": 1}, {"l": [1]}):
        with pytest.raises(CatalogError):
            list(Record("f", wrong).listed("l"))
    with pytest.raises(CatalogError):
        Record("f", {"l": 1}).part("l")


def test_every_tool_has_a_name_and_a_sign() -> None:
    assert all(figures["sign"] for figures in FIELDS.values())
    assert {tool.removesuffix("-lines") for tool in FIELDS} <= NAMES["benchmark tool"].keys()
