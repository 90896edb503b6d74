"""Docstrings of the models are complete and agree with the code; everything public has one."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import gpuplan
from gpuplan import models, simulation
from gpuplan.catalog import Catalog
from gpuplan.units import SUFFIX

PACKAGE = Path(gpuplan.__file__).parent

MODULES = [
    info.name
    for room in (models, simulation)
    for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{module.removeprefix('gpuplan.models.')}.{name}": function
    for module in MODULES
    for name, function in vars(importlib.import_module(module)).items()
    if inspect.isfunction(function) and function.__module__ == module and not name.startswith("_")
}


def sections(thing: object) -> dict[str, str]:
    """The first sentence under '', then Parameters with that head, Notes up to the first example, and Examples."""
    text, shown, examples = (inspect.getdoc(thing) or "").partition("\n>>>")
    first, *parts = text.split("\n\n")
    listed = [part for part in parts if part.startswith("Parameters:\n")]
    notes = [part for part in parts if part.strip() and part not in listed]
    found = {"": first, "Notes": "\n\n".join(notes), "Examples": shown + examples}
    return found | ({"Parameters": listed[0].partition("\n")[2]} if listed else {})


def entries(text: str) -> dict[str, str]:
    """Name -> description of a Parameters section."""
    found: dict[str, str] = {}
    name = ""
    for line in textwrap.dedent(text).strip().splitlines():
        if line and not line.startswith(" "):
            start, _, rest = line.partition(": ")
            name = start.split(" (")[0]
            found[name] = rest
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
    assert set(found) - {"Parameters", ""} == {"Notes", "Examples"}
    first = found[""].strip().split("\n\n")[0]
    assert first.endswith(".")
    assert first == found[""].strip(), "one sentence first, the rest in Notes"
    assert found["Notes"].strip()
    assert ">>>" in found["Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_of_the_signature_each_with_its_unit(name: str) -> None:
    """By the function or its module; a parameter that is a record is documented by the record."""
    function = FUNCTIONS[name]
    hints = get_type_hints(function)
    signature = inspect.signature(function).parameters.values()
    given = {("*" if p.kind is p.VAR_POSITIONAL else "") + p.name: hints[p.name] for p in signature}
    documented = entries(sections(function).get("Parameters", ""))
    assert list(documented) == [p for p in given if p in documented]
    shared = entries(sections(inspect.getmodule(function)).get("Parameters", ""))
    missing = [p for p, kind in given.items() if p not in {**documented, **shared} and not is_record(kind)]
    assert not missing
    for parameter, text in documented.items():
        check_unit(parameter, text)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_describes_the_parameters_that_its_functions_share(name: str) -> None:
    shared = entries(sections(importlib.import_module(name)).get("Parameters", ""))
    whole = vars(importlib.import_module(name)).values()
    own = [thing for thing in map(unwrapped, whole) if inspect.isfunction(thing) and thing.__module__ == name]
    taken = [set(inspect.signature(function).parameters) for function in own]
    described = [entries(sections(function).get("Parameters", "")) for function in own]
    for parameter, text in shared.items():
        check_unit(parameter, text)
        takers = [n for n, names in enumerate(taken) if parameter in names]
        assert sum(parameter not in described[n] for n in takers) > 1, (
            f"{parameter}: only one function takes it"
        )
        assert all(each.get(parameter) != text for each in described), f"{parameter}: said twice"


def unwrapped(thing: Any) -> Any:
    """What is behind a cache."""
    return getattr(thing, "__wrapped__", thing)


def is_record(kind: Any) -> bool:
    """Whether a type is a documented record of the package, or a sequence of such records, or None."""
    if kind in (type(None), Ellipsis):
        return True
    if get_args(kind):
        return get_origin(kind) is not dict and all(is_record(k) for k in get_args(kind))
    doc = getattr(kind, "__doc__", None) or ""
    named = doc and not doc.startswith(f"{getattr(kind, '__name__', '')}(")
    return bool(named) and str(getattr(kind, "__module__", "")).startswith("gpuplan.")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_unit_of_the_return_value_is_known(name: str) -> None:
    """By the name of the function, by its first sentence, or as a parameter's: in brackets, in the notes."""
    assert says_its_unit(FUNCTIONS[name])


def says_its_unit(function: Callable[..., Any]) -> bool:
    """Whether it returns no quantity, or one whose unit is known."""
    if not is_quantity(get_type_hints(function)["return"]) or unit_of(function.__name__):
        return True
    notes = re.findall(r"\. \[([^\]]+)\](?!_)", sections(function).get("Notes", ""))
    assert set(notes) <= {"-", *SUFFIX.values()}
    return bool(notes or WITHOUT_UNIT.search(inspect.getdoc(function) or ""))


def is_quantity(kind: Any) -> bool:
    """Whether a type holds numbers that are neither whole nor in a record of the package."""
    return kind is float or get_origin(kind) is np.ndarray or any(map(is_quantity, get_args(kind)))


WITHOUT_UNIT = re.compile(
    r"^(Shares?|Chance|Probability|Average concurrent|Variance over mean|Growth factor|Utilisation)\b|^[^.]* (per|in a) (second|working hour|year)\b"
)


def check_unit(name: str, text: str) -> None:
    unit = re.search(r"\[([^\]]+)\]$", text)
    assert unit, f"{name}: the description ends in no [unit]: {text!r}"
    assert unit[1] == "-" or unit[1] in SUFFIX.values(), f"{name}: unknown unit {unit[1]}"
    expected = unit_of(name)
    if expected:
        assert unit[1] == expected, f"{name} says {expected}, its description {unit[1]}"


def cited(thing: object) -> list[str]:
    return re.findall(r"\[(\S+)\]_", inspect.getdoc(thing) or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_cites_sources_of_the_catalog(name: str, catalog: Catalog) -> None:
    """Itself, or else by its module."""
    function = FUNCTIONS[name]
    sources = cited(function) or cited(inspect.getmodule(function))
    assert sources
    assert set(sources) <= set(catalog.sources)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_cites_what_several_functions_rest_on(name: str) -> None:
    module = importlib.import_module(name)
    own = [cited(function) for function in FUNCTIONS.values() if function.__module__ == name]
    assert own.count([]) != 1
    assert own.count([]) == 0 or cited(module) not in own, "said once"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_the_first_arguments_are_positional(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    assert sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) <= 2


def fields_of(record: ast.ClassDef) -> dict[str, str]:
    """Field of a record -> its docstring, of those that are no records themselves."""
    found: dict[str, str] = {}
    for node, after in itertools.zip_longest(record.body, record.body[1:]):
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.annotation)[0].isupper():
            text = (
                after.value.value
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                else ""
            )
            found[ast.unparse(node.target)] = " ".join(str(text).split())
    return found


FIELDS = {
    f"{module.removeprefix('gpuplan.models.')}.{node.name}": fields_of(node)
    for module in MODULES
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body
    if isinstance(node, ast.ClassDef)
}
RECORDS = {
    name: texts for name, texts in FIELDS.items() if any(text.endswith("]") for text in texts.values())
}
"""Records that say the units of their fields."""


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_says_units_says_those_of_all_fields(name: str) -> None:
    for field, text in RECORDS[name].items():
        check_unit(field, text)


def test_records_instead_of_many_parameters_say_units() -> None:
    assert {"network.links.Link", "network.collectives.GpuHosts", "llm.training_setup.Fitted"} <= set(RECORDS)
    most = max(FUNCTIONS, key=lambda name: len(inspect.signature(FUNCTIONS[name]).parameters))
    assert len(inspect.signature(FUNCTIONS[most]).parameters) <= 12, most


def test_the_checker_finds_what_is_wrong() -> None:
    def stun_time_s(memory_gib: float) -> float:
        """Wrong.

        Parameters:
            memory_gib: Memory. [MB]
        """
        return memory_gib

    def stun(memory_gib: float) -> float:
        """Time that a VM stands still."""
        return memory_gib

    documented = entries(sections(stun_time_s)["Parameters"])
    with pytest.raises(AssertionError, match="says GiB"):
        check_unit("memory_gib", documented["memory_gib"])
    assert says_its_unit(stun_time_s) and not says_its_unit(stun)
    assert not is_record(float) and not is_record(dict[str, float])
    with pytest.raises(AssertionError, match="ends in no"):
        check_unit("x", "A thing.")


PUBLIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CARDS = {"panel", "card", "details", "partial"}
"""Decorators of a card: `data/words/pages.csv` has its heading and hint."""


def is_told_in_data(node: ast.AST, path: Path) -> bool:
    """True for a card, and for the function of a command, whose help is in `data/words/commands.csv`."""
    if not isinstance(node, ast.FunctionDef):
        return False
    calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    is_card = path.parent.name == "steps" and any(isinstance(c, ast.Name) and c.id in CARDS for c in calls)
    return is_card or (path.parent.name == "cli" and node.name.startswith("run_"))


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
            if not (ast.get_docstring(child) or overrides or is_told_in_data(child, path)):
                bare.append(prefix + child.name)
            if isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(tree, "")
    if path.parent.name == "app":  # methods that Jupyter calls say what they are in their class
        bare = [name for name in bare if "." not in name]
    assert bare == []
