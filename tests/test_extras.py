"""A core install imports and lists every public name, and names the extra of what is missing when it is used."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpuplan.extras import EXTRA_OF, MissingExtra, needs_extra

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
BLOCKED = """if True:
    import pydoc, sys
    import gpuplan as gp
    from gpuplan.cli import main
    from gpuplan.extras import EXTRA_OF, MissingExtra

    plan = gp.make_plan("starter")
    design = lambda: gp.Design(plan)
    files = lambda kind: lambda: gp.design_files(plan, [kind])
    uses = {
        "pandas": [lambda: gp.plan_frames(plan), lambda: gp.sweep(plan, "cost.years", [3.0])],
        "altair": [plan.plot.cost, gp.offline],
        "vl_convert": [files("html")],
        "ipywidgets": [design, lambda: gp.workbook(plan), lambda: gp.Chart(), lambda: gp.HBox([])],
        "anywidget": [design, lambda: gp.Chart()],
        "traitlets": [design],
        "docx": [files("brief")],
        "pptx": [lambda: gp.report(plan, to=".", only=["pptx"])],
        "xlsxwriter": [files("xlsx")],
        "jinja2": [files("terraform")],
    }
    own = ("gpuplan.app", "gpuplan.deliver", "gpuplan.widgets")

    def block(*packages):
        for name in [*sys.modules]:
            if name.partition(".")[0] in packages or name.startswith(own):
                del sys.modules[name]
        sys.modules.update(dict.fromkeys(packages))
        for name in set(gp.__all__) - {"__version__"}:
            vars(gp).pop(name, None)

    def missed(use):
        try:
            use()
        except MissingExtra as error:
            return str(error)

    for package, asked in uses.items():
        block(package)
        print(package, *{missed(use) for use in asked}, sep=": ")
        del sys.modules[package]
    block(*EXTRA_OF)
    exec("from gpuplan import *", names := {})
    print(names.keys() >= set(gp.__all__), "make_plan" in pydoc.plain(pydoc.render_doc(gp)), gp.explain(plan, "totals.hosts").value)
    print([main(words.split()) for words in ("app", "lab", "report starter --to . --only docx")])
    """


@pytest.mark.slow
def test_every_name_of_a_core_install_is_there_and_says_what_it_needs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *messages, names, codes = done.stdout.splitlines()
    assert len(messages) >= 10 and (names, codes) == ("True True 8 hosts", "[2, 2, 2]")
    for message in messages:
        package, missing, *others = message.split(": ")
        assert package in missing and f"gpuplan[{EXTRA_OF[package]}]" in others.pop() and not others, message
    assert [f"gpuplan[{extra}]" in done.stderr for extra in ("app", "lab", "export")] == [True] * 3


def test_a_package_brings_the_extra_that_has_it() -> None:
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRA_OF.values()) <= set(extras)


def test_what_no_extra_brings_is_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError) as error, needs_extra():
        raise ModuleNotFoundError("no such thing", name="nothing")
    assert not isinstance(error.value, MissingExtra)
