"""Scenario files: YAML and JSON in, by their name or from their content, and their JSON Schema."""

from pathlib import Path
from typing import Any

from gpuplan.facts import BASES, data_root, did_you_mean_file
from gpuplan.scenario.checking import MAX_GROUPS, from_dict
from gpuplan.scenario.inputs import FIELDS, GROUP_FIELDS, MAP_FIELDS, SITE_FIELDS
from gpuplan.scenario.kinds import field_schema
from gpuplan.scenario.problems import one_line, refusal
from gpuplan.scenario.reading import FileLimits, read_data, read_text
from gpuplan.scenario.scenario import UNASSIGNED, Scenario
from gpuplan.scenario.sections import Note, Origin
from gpuplan.scenario.versions import SCHEMA_VERSION
from gpuplan.wording import said

MAX_FILE_BYTES, MAX_VALUES = 1_000_000, 100_000
"""A scenario of the largest size has 64 000 keys, values, lists and mappings."""


LIMITS = FileLimits("scenario", MAX_FILE_BYTES, MAX_VALUES, depth=20)
BETWEEN = "...\n---\n"
"""Separator of scenarios in one text."""


def parse_scenario(text: str) -> Scenario:
    """A scenario from the text of a YAML or JSON file."""
    return from_dict(read_text(text, LIMITS))


def decode_scenario(content: bytes) -> Scenario:
    """A scenario from the bytes of a file: at most 1 MB, UTF-8."""
    return from_dict(read_data(content, LIMITS))


def load_scenario(path: str | Path) -> Scenario:
    """A scenario from a YAML or JSON file, or by name one of the examples, such as ``starter``.

    A ScenarioError says that the file is missing, too large, or not a scenario.
    """
    path = scenario_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        meant = did_you_mean_file(path, example_names())
        shown = one_line(str(path))
        raise refusal(said("file.unreadable", path=shown, why=why, meant=meant)) from None
    return decode_scenario(content)


def scenario_path(name: str | Path) -> Path:
    """The file of a scenario: of the example or template with this name, else the path itself."""
    folders = ("scenarios", "templates")
    shipped = {path.stem: path for folder in folders for path in (data_root() / folder).glob("*.yaml")}
    return shipped.get(str(name)) or Path(name)


def example_names() -> tuple[str, ...]:
    """Names of the example scenarios shipped with gpuplan."""
    return tuple(sorted(p.stem for p in (data_root() / "scenarios").glob("*.yaml")))


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
    site = {
        f"^{key.replace('.', '[.]').replace('*', '[a-z0-9-]+')}$": spec for key, spec in SITE_FIELDS.items()
    }
    properties["site"] = _mapping({}) | {
        "patternProperties": {key: field_schema(spec) for key, spec in site.items()}
    }
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
