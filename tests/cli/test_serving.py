"""``gpuplan app``: what is checked before it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from approved import has_approved
from command_line import run

from gpuplan.cli import main


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
