"""The JSON Schema says what the reader reads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from gpuplan import ScenarioError, load_scenario
from gpuplan.scenario import (
    example_names,
    from_dict,
    json_schema,
)

SCHEMA = jsonschema.Draft202012Validator(json_schema())
"""Made once: whether the schema itself is valid takes longer to check than a scenario."""


def test_the_schema_is_one_and_accepts_the_examples() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for name in example_names():
        SCHEMA.validate(load_scenario(name).to_dict())
    SCHEMA.validate({})
    json.dumps(json_schema(), allow_nan=False)


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"colour": "red"},
        {"schema": 3},
        {"name": ""},
        {"name": []},
        {"hardware": {"gpus_per_host": 17}},
        {"hardware": {"gpus_per_host": 2.5}},
        {"hardware": {"x": 1}},
        {"availability": {"maintenance_failure_accepted": "yes"}},
        {"network": {"link_gbit_s": 26}},
        {"demand": {"stated_gpus": 0}},
        {"groups": {}},
        {"groups": [{}]},
        {"groups": [{"id": "A"}]},
        {"groups": [{"id": "unassigned"}]},
        {"groups": [{"id": "a", "people": -1}]},
        {"groups": [{"id": "a", "active_share": 1.5}]},
        {"groups": [{"id": "a", "gpus_each": 1.5}]},
        {"groups": [{"id": "a", "gpus_each": "x"}]},
        {"groups": [{"id": "a", "access": "magic"}]},
        {"groups": [{"id": f"g{n}"} for n in range(101)]},
        {"notes": [{"text": "x"}]},
        {"origins": {"hardware": {"basis": "sure", "source": "x"}}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(data: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(data)
    with pytest.raises(ScenarioError):
        from_dict(data)
