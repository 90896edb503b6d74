"""The home of a server: a new folder, those of killed servers removed; variables only for as long as it runs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("voila")

from gpuplan.serve.home import environment, made_home, set_environment
from gpuplan.serve.options import Options


@pytest.mark.skipif(os.name == "nt", reason="no folder that is in use is removed there")
def test_folders_of_killed_servers_are_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    other = tmp_path / "gpuplan-other"
    other.mkdir()
    first, lock = made_home()
    second, second_lock = made_home()
    with second_lock:
        assert first.is_dir() and second.is_dir(), "both run"
        lock.close()  # as the system does for a process that is killed
        third, third_lock = made_home()
        with third_lock:
            assert {path.name for path in tmp_path.iterdir()} == {second.name, third.name, other.name}
    assert {path.name for path in third.iterdir()} == {
        "config", "data", "runtime", "ipython", "work", "lock",
    }  # fmt: skip


def test_variables_lead_home_and_are_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/elsewhere")
    monkeypatch.delenv("GPUPLAN_VIEW", raising=False)
    before = dict(os.environ)
    with set_environment(environment(tmp_path, Options(scenario=Path("a.yaml"), customer=True))):
        assert os.environ["GPUPLAN_SCENARIO"] == str(Path("a.yaml").resolve())
        assert os.environ["GPUPLAN_VIEW"] == "customer"
        assert "GPUPLAN_CATALOG" not in os.environ and "JUPYTER_CONFIG_PATH" not in os.environ
        written = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        assert {Path(os.environ[name]).parent for name in written} == {tmp_path}
    assert dict(os.environ) == before
