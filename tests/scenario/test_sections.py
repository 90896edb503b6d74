"""The parts of a scenario: every input is an attribute of its section, or of a group, with the default of the table."""

from __future__ import annotations

import dataclasses

import pytest

from gpuplan import Scenario
from gpuplan.facts import BASES
from gpuplan.scenario.inputs import FIELD_BY_PATH, GROUP_FIELD_BY_NAME
from gpuplan.scenario.sections import DEFAULTS, FIELDS_OF, SECTIONS, STATED, Group


@pytest.mark.parametrize("head", SECTIONS)
def test_a_section_has_the_inputs_of_the_table_with_their_defaults(head: str) -> None:
    section = SECTIONS[head]()
    names = [field.name for field in dataclasses.fields(section)]
    assert sorted(f"{head}.{name}" for name in names) == sorted(spec.path for spec in FIELDS_OF[head])
    assert all(getattr(section, name) == FIELD_BY_PATH[f"{head}.{name}"].default for name in names)
    assert section == getattr(Scenario(), head)


def test_a_group_has_the_inputs_of_the_table_with_their_defaults() -> None:
    group = Group("a")
    names = {field.name for field in dataclasses.fields(group)} - {"id"}
    assert names == set(GROUP_FIELD_BY_NAME)
    assert all(getattr(group, name) == GROUP_FIELD_BY_NAME[name].default for name in names)


def test_what_is_left_out_is_known_as_well_as_its_default() -> None:
    assert {origin.basis for origin in DEFAULTS.values()} == set(BASES)
    assert STATED not in DEFAULTS.values()
