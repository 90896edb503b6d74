"""Office opens every file without a word: each part is valid by the schemas of Office, and headers, pictures and properties are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES
from programs import missing

pytestmark = pytest.mark.slow

ENDINGS = ("docx", "pptx", "xlsx")


@pytest.fixture(params=[(name, ending) for name in EXAMPLES for ending in ENDINGS], ids="-".join)
def file(
    request: pytest.FixtureRequest, example_files: Callable[[str], dict[str, bytes]], tmp_path: Path
) -> Path:
    """Each Office file of each example."""
    name, ending = request.param
    path = tmp_path / f"file.{ending}"
    path.write_bytes(next(held for path, held in example_files(name).items() if path.endswith(ending)))
    return path


def faults(path: Path) -> list[str]:
    """What Office would stumble over, by part."""
    try:
        from openxml_audit import OpenXmlValidator
    except ModuleNotFoundError:
        missing("openxml-audit")
    found = OpenXmlValidator().validate(path).errors
    return [f"{fault.part_uri} {fault.path}: {fault.description}" for fault in found]


def test_every_part_is_valid(file: Path) -> None:
    assert faults(file) == []
