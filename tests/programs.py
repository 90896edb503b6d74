"""Programs that tests need and a machine may not have: a test without its program is skipped, and the sum of the run says so."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FOLDERS = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", str(Path(sys.executable).parent)])
"""Where programs are looked for: Debian puts nginx into /usr/sbin, `make` the proxy beside Python."""


def missing(what: str) -> NoReturn:
    """Skip the test for want of a program."""
    pytest.skip(f"{what} is missing")


def needed(name: str, what: str = "") -> str:
    """Path of a program; the test is skipped without it."""
    return shutil.which(name, path=FOLDERS) or missing(what or name)


def chromium() -> str | None:
    """Path of Chromium: what `GPUPLAN_CHROMIUM` names, the machine's, or that of `playwright install chromium`."""
    named = os.environ.get("GPUPLAN_CHROMIUM")
    if installed := named or next(filter(None, map(shutil.which, CHROMIUM)), None):
        return installed
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        downloaded = playwright.chromium.executable_path
    return downloaded if Path(downloaded).exists() else None
