"""The JSON Schema of a scenario file, made from the table of inputs that validates it."""

from typing import Any

from gpuplan.facts import BASES
from gpuplan.scenario.checking import MAX_GROUPS
from gpuplan.scenario.inputs import FIELDS, GROUP_FIELDS, MAP_FIELDS
from gpuplan.scenario.kinds import field_schema
from gpuplan.scenario.scenario import UNASSIGNED
from gpuplan.scenario.sections import Note, Origin
from gpuplan.scenario.versions import SCHEMA_VERSION


def json_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file, made from the same field table that validates it."""
    properties: dict[str, Any] = {"schema": {"const": SCHEMA_VERSION}}
    for spec in FIELDS:
        head, _, tail = spec.path.partition(".")
        if tail:
            properties.setdefault(head, _mapping({}))["properties"][tail] = field_schema(spec)
        else:
            properties[head] = field_schema(spec)
    group: dict[str, Any] = {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$", "not": {"const": UNASSIGNED}}
    }
    group |= {spec.path: field_schema(spec) for spec in GROUP_FIELDS}
    text = {"type": "string", "maxLength": 500}
    origin = dict.fromkeys(Origin.__slots__, text) | {"basis": {"enum": list(BASES)}}
    note = dict.fromkeys(Note.__slots__, text)
    for spec in MAP_FIELDS:
        properties[spec.path] = {"type": "object", "additionalProperties": field_schema(spec)}
    properties["groups"] = {"type": "array", "maxItems": MAX_GROUPS, "items": _mapping(group, "id")}
    properties["notes"] = {"type": "array", "items": _mapping(note, "text", "source")}
    properties["origins"] = {"type": "object", "additionalProperties": _mapping(origin, "basis", "source")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gpuplan scenario",
        **_mapping(properties),
    }


def _mapping(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, "properties": properties}
