"""The house keeps its floors: who may import whom, what `import gpuplan` pulls in, and a test for every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gpuplan

PACKAGE = Path(gpuplan.__file__).parent
TESTS = Path(__file__).parent

ALLOWED: dict[str, set[str]] = {
    "units": set(),
    "wording": {"units"},
    "facts": {"units"},
    "catalog": {"facts", "units"},
    "fields": {"units"},
    "scenario": {"facts", "fields", "units"},
    "models": {"units", "models"},
    "records": {"units", "facts", "fields", "scenario", "models"},
    "decisions": {"units", "wording", "facts", "fields", "catalog", "scenario", "models", "records"},
    "allocation": {"units", "facts", "fields", "catalog", "scenario", "models", "records"},
}
ALLOWED["speeds"] = {"units", "models", "wording", "facts", "fields", "catalog", "scenario"}
ALLOWED["remote"] = {*ALLOWED["speeds"], "models", "records", "speeds"}
ALLOWED["distributed"] = ALLOWED["remote"]
ALLOWED["network"] = {*ALLOWED["remote"], "remote", "distributed"}
ALLOWED["cabling"] = {*ALLOWED["network"], "network"}
ALLOWED["decisions"] |= {"cabling"}
ALLOWED["pricing"] = {"facts", "fields", "catalog", "scenario", "models"}
ALLOWED["energy"] = {*ALLOWED["cabling"], "cabling", "pricing"}
ALLOWED["materials"] = {*ALLOWED["cabling"], "cabling", "pricing"}
ALLOWED["clusters"] = {"wording", "catalog", "scenario", "models", "records"}
ALLOWED["costing"] = {*ALLOWED["materials"], "energy", "materials", "clusters"}
ALLOWED["calibration"] = {"catalog", "models"}
ALLOWED["clock"] = {"catalog"}
ALLOWED["sizing"] = {*ALLOWED["allocation"], "allocation", "clock"}
ALLOWED["growth"] = {*ALLOWED["sizing"], "sizing"}
ALLOWED["limits"] = {*ALLOWED["allocation"], "allocation", "clock", "pricing"}
ALLOWED["risk"] = {*ALLOWED["allocation"], "allocation"}
ALLOWED["busiest"] = {*ALLOWED["limits"], "limits", "sizing"}
ALLOWED["plan"] = {
    *ALLOWED["busiest"],
    *ALLOWED["decisions"],
    "busiest",
    "decisions",
    "risk",
    "network",
    "cabling",
    "growth",
    "pricing",
    "energy",
    "materials",
    "clusters",
    "costing",
}
ALLOWED["study"] = {*ALLOWED["plan"], "plan"}
ALLOWED["economics"] = {*ALLOWED["study"], "study"}
ALLOWED["customer"] = {*ALLOWED["plan"], "plan"}
ALLOWED["sensitivity"] = {*ALLOWED["study"], "study"}
ALLOWED["explore"] = {*ALLOWED["economics"], "economics", "checks", "sensitivity"}
ALLOWED["compare"] = ALLOWED["economics"]
ALLOWED["trial"] = {*ALLOWED["study"], "study"}
ALLOWED["trace"] = {"units", "wording", "facts", "fields"}
ALLOWED["audit"] = {*ALLOWED["trace"], "catalog", "scenario", "models", "trace"}
ALLOWED["checks"] = {*ALLOWED["plan"], "plan", "sizing", "clusters"}
ALLOWED["report"] = {*ALLOWED["checks"], "checks", "sizing", "study", "trial", "trace", "audit", "report"}
ALLOWED["report"] |= {"growth", "economics", "explore", "sensitivity", "compare", "customer"}
ALLOWED["report"] |= {"speeds", "remote", "distributed", "calibration"}
ALLOWED["app"] = {*ALLOWED["report"], "app", ""}
ALLOWED["cli"] = {*ALLOWED["report"], "app", ""}
ALLOWED[""] = {*ALLOWED["report"]}
ALLOWED["__main__"] = {"cli"}
"""Room -> rooms it may import; '' is the package itself."""

MODEL_LIBRARIES = {"numpy", "scipy", "numba", *sys.stdlib_module_names}
UNTESTED = {
    "app/parts": "tests/app/test_browser.py",
    "app/screen": "tests/app/test_browser.py",
    "app/chart": "tests/app/test_browser.py",
}
"""Modules whose tests stand in a file of another name."""

FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(path: Path) -> str:
    name = name_of(path).split("/")[0]
    return "" if name == "__init__" else name


def imports(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "gpuplan"}
    return found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    for module in imports(path):
        parts = module.split(".")
        if parts[0] != "gpuplan":
            continue
        into = parts[1] if len(parts) > 1 else ""
        known = (PACKAGE / into).is_dir() or (PACKAGE / f"{into}.py").exists()
        into = into if known else ""  # `from gpuplan import make_plan`
        if into == "" and len(parts) > 1 and "" in ALLOWED[room]:
            continue
        assert into in ALLOWED[room], f"gpuplan.{room} may not import {module}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "models").glob("*.py")), ids=name_of)
def test_models_know_numbers_only(path: Path) -> None:
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "gpuplan":
            assert parts[1] in ("units", "models") or path.name == "__init__.py", (
                f"{path.name} imports {module}"
            )
        else:
            assert parts[0] in MODEL_LIBRARIES, f"{path.name} imports {module}"


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in FILES} <= set(ALLOWED)


def test_the_core_needs_none_of_the_app() -> None:
    for path in FILES:
        if room_of(path) in ("app",):
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


def test_importing_gpuplan_pulls_in_little() -> None:
    code = (
        "import sys, gpuplan; heavy = {'ipywidgets', 'altair', 'pandas', 'IPython', 'scipy', 'numba', 'voila', 'traitlets'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_session_that_has_seen_every_step_has_loaded_little() -> None:
    code = """if True:
        import sys, ipywidgets
        from gpuplan.app import workbook
        from gpuplan.app.chart import Chart
        from gpuplan.app.model import STEPS
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
    name = path.relative_to(PACKAGE)
    mirrored = TESTS / name.parent / f"test_{name.name}"
    other = UNTESTED.get(name_of(path))
    assert mirrored.exists() or (other and (TESTS.parent / other).exists()), f"{mirrored} is missing"


def test_the_exceptions_are_still_needed() -> None:
    known = {name_of(path) for path in FILES}
    assert set(UNTESTED) <= known
