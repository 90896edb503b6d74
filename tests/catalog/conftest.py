"""A folder of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own"
