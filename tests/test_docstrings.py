"""Docstrings of the models are complete and agree with the code; everything public has one."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gpuplan
from gpuplan import models, simulation
from gpuplan.catalog import Catalog
from gpuplan.units import SUFFIX

PACKAGE = Path(gpuplan.__file__).parent
SECTIONS = ("Parameters", "Returns", "Notes", "Raises", "Examples", "References")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{info.name.removeprefix('gpuplan.models.')}.{name}": function
    for room in (models, simulation)
    for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    for name, function in vars(importlib.import_module(info.name)).items()
    if inspect.isfunction(function) and function.__module__ == info.name and not name.startswith("_")
}


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Text of each numpydoc section; the part before the first is under ''."""
    doc = inspect.getdoc(function) or ""
    parts = re.split(rf"^({'|'.join(SECTIONS)})\n-+\n", doc, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(text: str) -> dict[str, str]:
    """Name -> description of a Parameters or Returns section."""
    found: dict[str, str] = {}
    name = ""
    for line in text.strip().splitlines():
        if line and not line.startswith(" "):
            name = line.split(" : ")[0].strip()
            found[name] = ""
        else:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def unit_of(name: str) -> str | None:
    """The unit that a name's suffix stands for, if it has one."""
    for suffix, unit in sorted(SUFFIX.items(), key=lambda item: -len(item[0])):
        if name == suffix or name.endswith(f"_{suffix}"):
            return unit
    return None


def test_there_are_models() -> None:
    assert len(FUNCTIONS) > 80
    assert "demand.users.active_people" in FUNCTIONS, "functions of the rooms within"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_is_complete(name: str) -> None:
    found = sections(FUNCTIONS[name])
    assert set(found) - {"Raises", ""} == {"Parameters", "Returns", "Notes", "Examples", "References"}
    first = found[""].strip().split("\n\n")[0]
    assert first.endswith(".")
    assert first == found[""].strip(), "one sentence first, the rest in Notes"
    assert found["Notes"].strip()
    assert ">>>" in found["Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_of_the_signature_each_with_its_unit(name: str) -> None:
    function = FUNCTIONS[name]
    given = {
        ("*" if p.kind is p.VAR_POSITIONAL else "") + p.name
        for p in inspect.signature(function).parameters.values()
    }
    documented = entries(sections(function)["Parameters"])
    assert list(documented) == [
        ("*" if p.kind is p.VAR_POSITIONAL else "") + p.name
        for p in inspect.signature(function).parameters.values()
    ]
    assert set(documented) == given
    for parameter, text in documented.items():
        check_unit(parameter, text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_return_value_is_named_after_the_function(name: str) -> None:
    function = FUNCTIONS[name]
    returns = entries(sections(function)["Returns"])
    assert list(returns) == [function.__name__]
    check_unit(function.__name__, returns[function.__name__])


def check_unit(name: str, text: str) -> None:
    unit = re.search(r"\[([^\]]+)\]$", text)
    assert unit, f"{name}: the description ends in no [unit]: {text!r}"
    assert unit[1] == "-" or unit[1] in SUFFIX.values(), f"{name}: unknown unit {unit[1]}"
    expected = unit_of(name)
    if expected:
        assert unit[1] == expected, f"{name} says {expected}, its description {unit[1]}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_references_resolve(name: str, catalog: Catalog) -> None:
    cited = re.findall(r"^\.\. \[(\d+)\] (\S+)$", sections(FUNCTIONS[name])["References"], re.M)
    assert cited
    assert [int(number) for number, _ in cited] == list(range(1, len(cited) + 1))
    for _, source in cited:
        assert source in catalog.sources


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_the_first_arguments_are_positional(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    assert sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) <= 2


def test_the_checker_finds_what_is_wrong() -> None:
    def stun_time_s(memory_gib: float) -> float:
        """Wrong.

        Parameters
        ----------
        memory_gib : float
            Memory. [MB]

        Returns
        -------
        time : float
            Time. [s]
        """
        return memory_gib

    documented = entries(sections(stun_time_s)["Parameters"])
    with pytest.raises(AssertionError, match="says GiB"):
        check_unit("memory_gib", documented["memory_gib"])
    assert list(entries(sections(stun_time_s)["Returns"])) != ["stun_time_s"]
    with pytest.raises(AssertionError, match="ends in no"):
        check_unit("x", "A thing.")


PUBLIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_everything_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the module has none"
    bare: list[str] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, PUBLIC) or child.name.startswith("_"):
                continue
            overrides = any(
                (isinstance(d, ast.Name) and d.id == "override")
                or (isinstance(d, ast.Attribute) and d.attr == "setter")
                for d in child.decorator_list
            )
            if not ast.get_docstring(child) and not overrides:
                bare.append(prefix + child.name)
            if isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(tree, "")
    if path.parent.name == "app":  # methods that Jupyter calls say what they are in their class
        bare = [name for name in bare if "." not in name]
    assert bare == []
