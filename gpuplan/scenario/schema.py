"""The JSON Schema of a scenario file, made from the table of inputs that validates it."""

from __future__ import annotations

from typing import Any

from gpuplan.facts import BASES
from gpuplan.scenario.checking import MAX_GROUPS
from gpuplan.scenario.inputs import FIELDS, GROUP_FIELDS, PRICE, RANGE
from gpuplan.scenario.kinds import field_schema
from gpuplan.scenario.scenario import SCHEMA_VERSION, UNASSIGNED, Note, Origin


def json_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file, made from the same field table that validates it."""
    properties: dict[str, Any] = {"schema": {"const": SCHEMA_VERSION}}
    for spec in FIELDS:
        head, _, tail = spec.path.partition(".")
        if tail:
            section = properties.setdefault(
                head, {"type": "object", "additionalProperties": False, "properties": {}}
            )
            section["properties"][tail] = field_schema(spec)
        else:
            properties[head] = field_schema(spec)
    group: dict[str, Any] = {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$", "not": {"const": UNASSIGNED}}
    }
    group |= {spec.path: field_schema(spec) for spec in GROUP_FIELDS}
    text = {"type": "string", "maxLength": 500}
    for spec in (PRICE, RANGE):
        properties[spec.path] = {"type": "object", "additionalProperties": field_schema(spec)}
    properties["groups"] = {
        "type": "array",
        "maxItems": MAX_GROUPS,
        "items": {"type": "object", "additionalProperties": False, "required": ["id"], "properties": group},
    }
    properties["notes"] = {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["text", "source"],
            "properties": dict.fromkeys(Note.__slots__, text),
        },
    }
    properties["origins"] = {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": False,
            "required": ["basis", "source"],
            "properties": {k: ({"enum": list(BASES)} if k == "basis" else text) for k in Origin.__slots__},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gpuplan scenario",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
