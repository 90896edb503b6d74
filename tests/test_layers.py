"""The house keeps its floors: who may import whom, what `import gpuplan` pulls in, and a test for every module."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from house import FLOORS, PAGE, imports, loaded_by_name, name_of, page, room_of, room_of_name

import gpuplan

PACKAGE = Path(gpuplan.__file__).parent
TESTS = Path(__file__).parent

MODEL_LIBRARIES = {"numpy", "scipy", "numba", *sys.stdlib_module_names}
UNTESTED = {
    "widgets/part": "tests/app/test_browser.py",
    "app/screen": "tests/app/test_browser.py",
}
"""Modules whose tests stand in a file of another name."""

NUMBERS_ONLY = ("models", "simulation")
"""Rooms that know numbers, and nothing of catalogs or scenarios."""

FILES = sorted(PACKAGE.rglob("*.py"))


FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms} | {
    "": FLOORS.index(("widgets",))
}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    for module in imports(path):
        whole, _, rest = module.partition(".")
        if whole == "gpuplan":
            into = room_of_name(rest) if room_of_name(rest) in FLOOR_OF else ""
            below = (
                FLOOR_OF[into] < FLOOR_OF[room] or into == room or not room
            )  # its own file names all, and loads none
            assert below, f"gpuplan.{room} may not import {module}"


def test_no_room_is_reached_by_a_text() -> None:
    """Only the package's own file loads other rooms by their names; it registers what lower ones are shown by."""
    loaded = {name_of(path): loaded_by_name(path) for path in FILES if room_of(path)}
    assert [name for name, texts in loaded.items() if texts] == [
        "analysis/engines",  # a library that may be missing
        "app/screen",  # its own cards
        "cli/__init__",  # its commands
        "report/plot",  # a library that may be missing
        "serve/forking",  # what sessions share
    ]


@pytest.mark.parametrize("path", sorted((PACKAGE / "deliver").rglob("*/*.py")), ids=name_of)
def test_no_kind_of_file_imports_another(path: Path) -> None:
    """What two of them share stands beside their folders, or in the report."""
    kinds = {each.name for each in (PACKAGE / "deliver").iterdir() if (each / "__init__.py").exists()}
    others = kinds - {path.parent.name}
    named = {module.split(".")[2] for module in imports(path) if module.startswith("gpuplan.deliver.")}
    assert not named & others, f"{name_of(path)} imports {sorted(named & others)}"
    assert "bundle" not in named and "gpuplan.deliver" not in imports(path)


def test_what_kinds_of_file_share_knows_none_of_them() -> None:
    shared = sorted(p for p in (PACKAGE / "deliver").glob("*.py") if p.stem not in ("__init__", "bundle"))
    folders = {path.parent.name for path in (PACKAGE / "deliver").rglob("*/*.py")}
    for path in shared:
        named = {module.split(".")[2] for module in imports(path) if module.startswith("gpuplan.deliver.")}
        assert not named & folders, f"{name_of(path)} imports {sorted(named & folders)}"


def test_the_drawing_of_the_house_is_true() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "make house draws it again"


def test_there_is_no_circle() -> None:
    """Each file can be read before those that import it; a package's own file only gathers what the others offer."""
    files = {f"gpuplan.{name_of(path).replace('/', '.')}": path for path in FILES if path.stem != "__init__"}
    left = {name: imports(path) & files.keys() for name, path in files.items()}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"import each other: {sorted(left)}"


@pytest.mark.parametrize(
    "path", sorted(p for room in NUMBERS_ONLY for p in (PACKAGE / room).rglob("*.py")), ids=name_of
)
def test_models_know_numbers_only(path: Path) -> None:
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "gpuplan":
            assert parts[1] in ("units", *NUMBERS_ONLY) or path.name == "__init__.py", (
                f"{path.name} imports {module}"
            )
        else:
            assert parts[0] in MODEL_LIBRARIES, f"{path.name} imports {module}"


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in FILES} == set(FLOOR_OF)


def test_the_core_needs_none_of_the_app() -> None:
    for path in FILES:
        if room_of(path) in ("app", "serve", "widgets"):
            continue
        top = ast.parse(path.read_text(encoding="utf-8")).body
        named = {
            alias.name.split(".")[0] for node in top if isinstance(node, ast.Import) for alias in node.names
        } | {(node.module or "").split(".")[0] for node in top if isinstance(node, ast.ImportFrom)}
        assert not named & {
            "pandas",
            "altair",
            "ipywidgets",
            "IPython",
            "voila",
            "anywidget",
            "traitlets",
            "scipy",
            "numba",
        }


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_a_core_install_answers_imports_no_extra(path: Path) -> None:
    """Nor where it is imported in a function: there it would be missed by who installed no more than the core."""
    if FLOOR_OF[room_of(path)] >= FLOORS.index(("report",)):
        return
    assert {name.partition(".")[0] for name in imports(path)} <= {"gpuplan", "yaml", *MODEL_LIBRARIES}


def test_importing_gpuplan_pulls_in_little() -> None:
    code = (
        "import sys, gpuplan; heavy = {'ipywidgets', 'altair', 'pandas', 'IPython', 'scipy', 'numba', 'voila', 'traitlets'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, gpuplan; from gpuplan.cli import parser; parser().format_help()\n"
        "print(sorted({'numpy', 'yaml', 'gpuplan.scenario', 'gpuplan.plan'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert all(getattr(gpuplan, name) is not None for name in gpuplan.__all__)
    assert set(gpuplan.__all__) <= set(dir(gpuplan))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gpuplan.nothing


@cache
def taken() -> dict[str, set[str]]:
    """Room -> names that pages, chapters, tests and the house itself import from it."""
    found: dict[str, set[str]] = {}
    for path in (
        *FILES,
        *TESTS.rglob("*.py"),
        *TESTS.parent.glob("*.md"),
        *TESTS.parent.glob("notebooks/*.*"),
    ):
        text = path.read_text(encoding="utf-8").replace('\\n",', "")
        for room, many, few in re.findall(
            r'^[ "]*from (gpuplan[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))', text, re.M
        ):
            names = [each.split()[0] for each in (many or few).split(",") if each.strip()]
            found.setdefault(room, set()).update(name for name in names if name[0].isalpha())
    return found


@pytest.mark.parametrize("path", [p for p in FILES if p.stem == "__init__"], ids=name_of)
def test_each_room_names_what_it_offers(path: Path) -> None:
    """Names that others take of it, for readers, type checkers and ``import *``; a module is found by its own name."""
    room = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    offered = getattr(import_module(room), "__all__", ())
    assert all(hasattr(sys.modules[room], name) for name in offered)
    modules = {each.stem for each in path.parent.iterdir()}
    assert taken().get(room, set()) - modules <= set(offered)


def test_a_session_that_has_seen_every_step_has_loaded_little() -> None:
    code = """if True:
        import sys, ipywidgets
        from gpuplan.app import workbook
        from gpuplan.app.state import STEPS
        from gpuplan.widgets.chart import Chart
        app = workbook("enterprise")
        for step, _ in STEPS:
            app.workbook.go(step)
        heavy = {"altair", "pandas", "numba", "docx", "pptx", "xlsxwriter", "vl_convert"}
        print(sorted(heavy & set(sys.modules)))
        first = Chart({"mark": "bar"})
        ipywidgets.Widget.close_all()
        print(first.vega.comm is None, Chart({"mark": "bar"}).vega.comm is None)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True False"]


@pytest.mark.parametrize("path", [p for p in FILES if p.stem not in ("__init__", "__main__")], ids=name_of)
def test_every_module_has_a_test_file_of_its_name(path: Path) -> None:
    """Or its folder has one, where a topic fills several files."""
    name = path.relative_to(PACKAGE)
    mirrored = [TESTS / name.parent / f"test_{name.name}"]
    if len(name.parts) > 2:
        mirrored.append(TESTS / name.parent.parent / f"test_{name.parent.name}.py")
    other = UNTESTED.get(name_of(path))
    assert any(file.exists() for file in mirrored) or (other and (TESTS.parent / other).exists()), (
        f"{mirrored[0]} is missing"
    )


def test_the_exceptions_are_still_needed() -> None:
    known = {name_of(path) for path in FILES}
    assert set(UNTESTED) <= known
