"""Brings every file of the corpus in by one door, each in a process of its own, and prints what became of it as JSON lines.

``python doors.py docx`` (or ``pptx``, ``scenario``, ``trace``). The processes are forks of one that has loaded everything, so that
what they need beyond it is what the file costs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pptx
from corpus import Case, corpus

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import Dress, Upload
from gpuplan.cli import main
from gpuplan.deliver.document import Document
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.executive import executive
from gpuplan.deliver.pptx import pptx_bytes

HANG_S = 20
PIECE = 1_000_000
HARMFUL = (
    "vbaProject", "vbaData", "oleObject", "activeX", "attachedTemplate", "mailMerge", "altChunk", "aFChunk", "subDoc", "INCLUDE",
    "DDEAUTO", "<!DOCTYPE", "<!ENTITY", "customUI", "keyMap", "ppaction://program", "ppaction://macro", "127.0.0.1", "macroEnabled",
)  # fmt: skip
"""What no part of a delivered file says."""
OWN_WORDS = re.compile(r"\bincluded\b", re.IGNORECASE)
"""Of our sentences; no field has this name."""

CATALOG = load_catalog()
PLAN = make_plan(load_scenario("starter"), CATALOG)
SMALL = Document("Title", "Customer", "", "2026-01-01", "", (), (), ())


def command(*arguments: str) -> dict[str, Any]:
    """What a command answers."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return {"code": code, "err": err.getvalue(), "out": out.getvalue()[:100_000]}


def send(upload: Upload, name: str, content: bytes) -> bool:
    done = False
    for at in range(0, max(1, len(content)), PIECE):
        done = upload.receive(name, len(content), at, content[at : at + PIECE])
    return done


def harmful(file: bytes, own: tuple[str, ...]) -> list[str]:
    """What of an Office file would load from elsewhere or run, looked for in another way than the package does."""
    found = []
    with ZipFile(io.BytesIO(file)) as packed:
        for name in packed.namelist():
            content = packed.read(name)
            text = name + content.replace(b"\0", b"").decode("utf-8", "replace")
            if name.endswith(".rels"):
                links = re.findall(r"<Relationship [^>]*External[^>]*>", text)
                found += [
                    f"{name}: {link}" for link in links if "/hyperlink" not in link or "http" not in link
                ]
            if content.startswith((b"\xd0\xcf\x11\xe0", b"PK\3\4")) and not name.startswith(own):
                found.append(name)
            if name.endswith((".xml", ".rels", ".vml", ".svg")):
                said = OWN_WORDS.sub("", text).lower()
                found += [f"{name}: {word}" for word in HARMFUL if word.lower() in said]
    return found


def by_template(case: Case, content: bytes, path: Path) -> dict[str, Any]:
    template = Dress(lambda: None, case.door)
    send(template, case.name, content)
    found: dict[str, Any] = {"app": template.error, "note": template.note, "peak": peak_mb()}
    if template.used:
        kept = template.kept.read_bytes()
        if case.door == "docx":
            made = docx_bytes(SMALL, template=kept)
        else:
            made = pptx_bytes(PLAN, executive(PLAN), template=kept)
        own = () if case.door == "docx" else ("ppt/embeddings/Microsoft_Excel_Sheet",)
        found["harmful"] = harmful(made, own) + harmful(kept, ()) * (case.door == "pptx")
    else:
        options = [
            "--to",
            str(path.parent / "made"),
            "--only",
            case.door,
            f"--{case.door}-template",
            str(path),
        ]
        found["cli"] = command("report", "starter", *options)
    send(template, "next", content[:10])  # whatever came, the next one is looked at
    found["next"] = template.error
    return found


def by_scenario(case: Case, content: bytes, path: Path) -> dict[str, Any]:
    book = Workbook(CATALOG)
    before = book.scenario
    book.open_file(case.name, content)
    level, text = book.notice
    kept = book.scenario == before
    return {"app": text if level == "stop" else "", "kept": kept, "cli": command("plan", str(path))}


def by_trace(case: Case, content: bytes, path: Path) -> dict[str, Any]:
    upload = Upload(lambda: None, most_bytes=500_000_000, advice="")
    there = send(upload, case.name, content)
    found = command("audit", str(upload.path), f"--name={upload.name}") if there else None
    return {"app": upload.error or (found or {}).get("err", ""), "cli": found or command("audit", str(path))}


DOORS: dict[str, Callable[[Case, bytes, Path], dict[str, Any]]] = {
    "docx": by_template,
    "pptx": by_template,
    "scenario": by_scenario,
    "trace": by_trace,
}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def now_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def in_a_process(case: Case, folder: Path) -> dict[str, Any]:
    """What became of a file, and what memory it took, in megabytes."""
    content = case.make()
    path = folder / case.name
    path.write_bytes(content)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(HANG_S)
        begin = now_mb()
        try:
            found = DOORS[case.door](case, content, path)
        except BaseException:
            found = {"traceback": traceback.format_exc()}
        found["mb"] = (
            found.pop("peak", peak_mb()) - begin
        )  # what the libraries take that make files is not the file's
        with os.fdopen(writing, "w") as answer:
            json.dump(found, answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    path.unlink()
    return json.loads(text) if text else {"traceback": f"killed after {HANG_S} s or by {status}"}


if __name__ == "__main__":
    if sys.argv[1] in ("docx", "pptx"):  # loads the libraries before the forks
        docx_bytes(SMALL)
        pptx.Presentation()
        executive(PLAN)
    else:
        command("audit", os.devnull)
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        for each in corpus():
            if each.door == sys.argv[1] and each.name in sys.argv[2:]:
                sys.stdout.write(json.dumps({"name": each.name, **in_a_process(each, Path(name))}) + "\n")
