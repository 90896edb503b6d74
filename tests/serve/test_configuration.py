"""The configuration of Voila."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest

pytest.importorskip("voila")

from gpuplan.serve.configuration import config_of
from gpuplan.serve.options import Options


@pytest.mark.skipif(sys.platform == "win32", reason="no such files")
@pytest.mark.parametrize(("name", "files"), [("/tmp/gpuplan-12345678", True), ("/tmp/" + "x" * 60, False)])
def test_kernels_are_reached_by_files_where_their_names_fit(name: str, files: bool) -> None:
    """A port that is chosen for a kernel may be another's before the kernel takes it, and the page waits in vain."""
    options = Options(notebook=Path("a.ipynb"), token="")
    config = config_of(options, home=Path(name), hub=False, sessions=1)
    assert ("transport" in config.KernelManager) is files
    longest = f"{name}/voila_12345678/kernel-{uuid.uuid4()}-ipc-5"
    assert (len(longest) <= 103) is files
