"""One reader for every YAML file from outside, with limits on its size, depth, values and traps."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

import gpuplan
from gpuplan.scenario import ScenarioError, files, parse_scenario, reading
from gpuplan.scenario.reading import FileLimits, read_data

PACKAGE = Path(gpuplan.__file__).parent


def problem(text: str) -> Any:
    with pytest.raises(ScenarioError) as error:
        parse_scenario(text)
    return error.value.problems[0]


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_both_loaders_of_yaml_stop_at_the_same_limits(loader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_Loader", loader)
    monkeypatch.setattr(files, "LIMITS", files.LIMITS._replace(values=100))
    assert parse_scenario("name: x\nhardware: {gpus_per_host: 2}").name == "x"
    for text, said in (
        ("notes: [" + "a," * 100 + "a]", "more than 100 values"),
        ("[" * 30, "nested too deeply"),
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("---\na: 1\n---\nb: 1", "several documents"),
        ("%TAG ! tag:x:\n---\na: 1", "%TAG"),
        ("name: " + "1:" * 20 + "1", "cannot be read"),
        ("a: 1\na: 2", "each field once"),
    ):
        assert said in problem(text).message, text


def test_limits_are_those_of_the_kind_of_file() -> None:
    small = FileLimits("brand", bytes=40, values=10, depth=2)
    assert read_data(b"a: {b: 1}\nc: 2", small) == {"a": {"b": 1}, "c": 2}
    for content in (b"a: {b: {c: 1}}", b"a: [1, 2, 3, 4, 5, 6, 7, 8]", b"# " + b"x" * 39):
        with pytest.raises(ScenarioError) as error:
            read_data(content, small)
        assert "scenario" not in str(error.value)


def test_no_other_module_reads_yaml() -> None:
    """Each door of its own would lack a limit."""
    readers = {}
    for path in PACKAGE.rglob("*.py"):
        calls = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "yaml"
        }
        if calls:
            readers[path.relative_to(PACKAGE).as_posix()] = calls
    assert readers.pop("scenario/scenario.py") == {"safe_dump"}
    assert readers.pop("facts.py") == {"load", "SafeLoader"}  # gpuplan's own
    assert list(readers) == ["scenario/reading.py"]
