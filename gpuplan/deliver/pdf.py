"""Office files as PDF, by LibreOffice: one process for all of them, the same bytes for the same files."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from hashlib import md5
from importlib.resources import files as resources
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from gpuplan.deliver.office import moment_of
from gpuplan.wording import said

PROGRAMS = ("soffice", "libreoffice")
PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    rf"{os.environ.get('PROGRAMFILES', 'C:')}\LibreOffice\program\soffice.com",
)
"""Usual paths of LibreOffice on macOS and Windows, where it is not on the search path."""
SETTINGS = "libreoffice.xcu"
"""Settings of LibreOffice: no network, no macros, tagged PDF with pictures as they are."""
MOST_SECONDS = 300
MOMENT, IDENTITY = (
    re.compile(rb"(/CreationDate\(D:)\d{14}"),
    re.compile(rb"(<|/DocChecksum /)([0-9A-F]{32})\b"),
)


class PdfError(ValueError):
    """PDFs cannot be made; the text says what to do."""


def has_office() -> bool:
    """True if LibreOffice is installed."""
    return bool(_program())


def _program() -> str:
    installed = filter(None, map(shutil.which, (*PROGRAMS, *PLACES)))
    return next(installed, "")


def pdf_of(files: Mapping[str, bytes], *, day: str = "") -> dict[str, bytes]:
    """Return each Office file as a PDF of an ISO day, by the name of the file; a `PdfError` says why there is none."""
    if not (program := _program()):
        raise PdfError(said("pdf.no office"))
    if not files:
        return {}
    with TemporaryDirectory(prefix="gpuplan-pdf-") as made:
        folder = Path(made)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        settings = resources("gpuplan.deliver") / SETTINGS
        (profile / "registrymodifications.xcu").write_bytes(settings.read_bytes())
        sources = [folder / f"{at}{PurePath(name).suffix}" for at, name in enumerate(files)]
        for source, content in zip(sources, files.values(), strict=True):
            source.write_bytes(content)
        command = [program, f"-env:UserInstallation={profile.parent.as_uri()}", "--headless", "--norestore"]
        _run([*command, "--convert-to", "pdf", "--outdir", str(folder), *map(str, sources)])
        printed = {name: source.with_suffix(".pdf") for name, source in zip(files, sources, strict=True)}
        if missing := [name for name, path in printed.items() if not path.exists()]:
            raise PdfError(said("pdf.not made", names=missing))
        return {name: _same_bytes(path.read_bytes(), day) for name, path in printed.items()}


def _run(command: list[str]) -> None:
    """Run LibreOffice to its end; what it started ends with it."""
    group = None if sys.platform == "win32" else 0
    quiet = subprocess.DEVNULL
    environment = os.environ | {"TZ": "UTC0", "SAL_USE_VCLPLUGIN": "svp"}
    with subprocess.Popen(
        command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment, process_group=group
    ) as run:
        try:
            run.wait(MOST_SECONDS)
        except BaseException as error:
            if sys.platform != "win32":
                os.killpg(run.pid, 9)
            run.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise PdfError(said("pdf.too long", seconds=MOST_SECONDS)) from None
            raise


def _same_bytes(pdf: bytes, day: str) -> bytes:
    """A PDF without the moment in which it was made, and with an identity that follows from its content."""
    dated = MOMENT.sub(rb"\g<1>" + f"{moment_of(day):%Y%m%d%H%M%S}".encode(), pdf)
    body, trailer, end = dated.rpartition(b"\ntrailer")
    digest = md5(body, usedforsecurity=False).hexdigest().upper().encode()
    return body + trailer + IDENTITY.sub(rb"\g<1>" + digest, end)
