"""``gpuplan traffic``: prints waits by replicas, and refuses a design without a language model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from assistants import assistant
from command_line import run


def test_traffic_prints_and_gives_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "assistant.yaml"
    path.write_text(assistant().to_yaml(), encoding="utf-8")
    code, out, err = run(capsys, "traffic", str(path))
    assert (code, err) == (0, "")
    assert "within the promised 2 s" in " ".join(out.split())
    code, out, _ = run(capsys, "traffic", str(path), "--json")
    assert code == 0 and json.loads(out)["groups"]["assistant"]["waits"]


def test_a_design_without_a_language_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "traffic", "starter")
    assert code == 2 and "LLM serving" in err
