"""What the sheets are called, which formulas refer to as well."""

from __future__ import annotations

from gpuplan.wording import said


def tab(key: str) -> str:
    """Name of a sheet."""
    return said(f"sheet.tab.{key}")
