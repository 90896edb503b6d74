"""The table of inputs: every row is allowed, required, and the default of a record."""

from __future__ import annotations

import dataclasses

import pytest

from gpuplan import Scenario
from gpuplan.facts import BASES
from gpuplan.scenario import FIELDS, GROUP_FIELDS, PRICE, Group, field_of, parse_value, table_path
from gpuplan.scenario.inputs import INPUTS, TABLE, defaults
from gpuplan.scenario.kinds import KINDS


def test_every_default_is_allowed() -> None:
    for spec in (*FIELDS, *GROUP_FIELDS):
        assert parse_value(spec, spec.default, spec.path) == spec.default
        assert spec.allowed()
        assert spec.label


def test_records_have_the_defaults_of_the_table() -> None:
    names = {f.path: f.default for f in GROUP_FIELDS}
    assert {name: getattr(Group("a"), name) for name in names} == names
    assert {f.path: Scenario().get(f.path) for f in FIELDS} == {f.path: f.default for f in FIELDS}
    assert [f.name for f in dataclasses.fields(Group)] == ["id", *names]


def test_every_input_has_its_row_at_the_path_of_the_table() -> None:
    paths = [spec.path for spec in FIELDS] + [f"groups.any.{spec.path}" for spec in GROUP_FIELDS]
    assert {INPUTS[table_path(path)] for path in paths} == {field_of(path) for path in paths}
    assert table_path("prices.gpus/any") == "prices.gpus/any"


def test_an_attribute_without_a_row_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"demand\.nothing"):

        @defaults("demand.")
        class _Demand:
            nothing: int = TABLE


def test_a_default_has_a_basis_and_what_may_be_empty_has_none() -> None:
    for path, spec in INPUTS.items():
        assert spec.kind in KINDS, path
        assert (spec.default in (None, "")) == (spec.basis == ""), path
        assert spec.basis in ("", *BASES), path
        assert spec.default is None or not spec.optional, path


def test_groups_prices_and_ranges_have_a_field_at_any_path() -> None:
    assert field_of("groups.a.people").label == "Users"
    assert field_of("prices.gpus/t4-16gb") is PRICE
    assert field_of("ranges.groups.a.people").kind == "range"
