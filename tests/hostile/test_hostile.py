"""Every file of the corpus, by every door it can come in by: refused in one sentence, or taken without what is harmful."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hostile.corpus import CLEANED, REFUSED, TAKEN, Case, corpus
from random_cases import of_the_day

HERE = Path(__file__).parent
ALL = corpus()
MOST_MB = 100
"""What a file may cost a session."""
MOST_CHARACTERS = 1_500


def tried(door: str) -> Sequence[Case]:
    """The files that come in by a door: some by day, all at night."""
    return of_the_day([case for case in ALL if case.door == door], few=10)


@pytest.fixture(scope="module", params=["docx", "pptx", "scenario", "trace"])
def door(request: pytest.FixtureRequest) -> tuple[str, dict[str, dict[str, Any]]]:
    """A door, and what became of the files that came in by it."""
    names = [case.name for case in tried(request.param)]
    done = subprocess.run(
        [sys.executable, str(HERE / "doors.py"), request.param, *names], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return request.param, {line["name"]: line for line in lines}


def wrong(case: Case, found: dict[str, Any]) -> list[str]:
    """What is not as it should be with a file."""
    if "traceback" in found:
        return [found["traceback"]]
    faults = []
    text, cli = found["app"], found.get("cli")
    if (case.outcome == REFUSED) != bool(text and (cli is None or cli["code"] == 2)):
        faults.append(f"is not {case.outcome}")
    said = found["note"] if case.outcome == CLEANED else text + (cli["out"] if cli else "")
    if not any(words in said for words in case.words.split("|")):
        faults.append(f"nothing is said of {case.words}")
    if found.get("harmful"):
        faults.append(f"holds {found['harmful'][:3]}")
    if case.outcome == TAKEN and found.get("note"):
        faults.append("something was left out")
    if cli:
        if cli["code"] not in (0, 2) or (cli["code"] == 2 and cli["out"]):
            faults.append(f"exit code {cli['code']}")
        if "Traceback" in cli["err"] or len(cli["err"].splitlines()) > 21:
            faults.append("more than a few lines")
        if cli["code"] == 2 and case.door in ("docx", "pptx") and case.name not in cli["err"]:
            faults.append("the file is not named")
    if not all(line.isprintable() for line in text.splitlines()) or len(text) > MOST_CHARACTERS * 20:
        faults.append("is no sentence")
    if case.door in ("docx", "pptx", "scenario") and text and case.name not in text:
        faults.append("the file is not named")
    if found.get("kept") is not None and found["kept"] != (case.outcome == REFUSED):
        faults.append("the design on the screen is another")
    if "next" in found and "not accepted" not in found["next"] and found["next"] != "next is empty.":
        faults.append(f"after it: {found['next']}")
    if found["mb"] > MOST_MB:
        faults.append(f"{found['mb']:.0f} MB")
    return [f"{fault}: {text or found}" for fault in faults]


def test_every_file_is_refused_or_harmless(door: tuple[str, dict[str, dict[str, Any]]]) -> None:
    name, found = door
    faults = {case.name: faults for case in tried(name) if (faults := wrong(case, found[case.name]))}
    assert not faults, "\n".join(f"{name}: {fault[:600]}" for name, each in faults.items() for fault in each)


def test_the_corpus_is_large_and_has_no_name_twice() -> None:
    assert len(ALL) >= 60
    assert len({(case.door, case.name) for case in ALL}) == len(ALL)
