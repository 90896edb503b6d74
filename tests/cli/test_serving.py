"""``gpuplan app`` and ``gpuplan lab``: what is checked before they start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from approved import has_approved
from command_line import run

from gpuplan.cli import main
from gpuplan.facts import data_root
from gpuplan.scenario import load_scenario


def test_the_app_refuses_a_bad_file_before_it_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("colour: red", encoding="utf-8")
    code, _, err = run(capsys, "app", str(path), "--no-browser")
    assert code == 2
    assert "colour" in err


def test_token_and_path_of_the_app_come_from_options_or_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuplan.serve import server

    asked: list[tuple[object, object]] = []
    for name in ("GPUPLAN_TOKEN", "GPUPLAN_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        server, "serve", lambda **given: asked.append((given["token"], given["base_url"])) or 0
    )
    main(["app"])
    monkeypatch.setenv("GPUPLAN_BASE_URL", "/gpu")
    for arguments in (["app"], ["app", "--token", "other", "--base-url", "/team"]):
        monkeypatch.setenv("GPUPLAN_TOKEN", "hidden")
        main(arguments)
        assert "GPUPLAN_TOKEN" not in os.environ, "a session could read it"
    assert asked == [(None, "/"), ("hidden", "/gpu"), ("other", "/team")]


def test_a_path_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "app", "--base-url", "/(gpu)?")
    assert code == 2
    assert "--base-url: " in err
    assert has_approved(err)


def gpuplan(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "gpuplan.cli", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
    )


def test_lab_needs_jupyterlab_and_a_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", SimpleNamespace(LabApp=None))
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "lab", str(tmp_path / "file"))
    assert code == 2
    assert "folder: " in err
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    code, _, err = run(capsys, "lab", str(tmp_path))
    assert code == 2
    assert '"gpuplan[lab]"' in err


def test_lab_starts_with_a_new_design_only_where_there_is_no_notebook(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[list[str]] = []
    app = SimpleNamespace(LabApp=SimpleNamespace(launch_instance=started.append))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", app)
    mine = tmp_path / "mine"
    assert main(["lab", str(mine), "--port", "9000", "--no-browser"]) == 0
    assert [path.name for path in mine.iterdir()] == ["New design.ipynb"]
    main(["lab", str(mine)])
    assert [each[0] for each in started] == [str(mine), str(mine)]
    assert {"--ServerApp.port=9000", "--LabApp.default_url=/lab/tree/New%20design.ipynb"} <= set(started[0])
    assert "--LabApp.default_url=/lab" in started[1]


def test_the_notebook_for_a_new_design_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets")
    notebook = json.loads((data_root() / "lab" / "gpuplan" / "new_design.ipynb").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["design"].plan.verdict
    assert load_scenario("new-design.yaml") == names["design"].scenario
