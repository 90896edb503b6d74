"""Uploading: a file that the browser sends piece by piece, and templates that are checked when they have arrived.

A file stays in a temporary folder of this session, which is removed with it; nothing leaves the machine.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from gpuplan.report.docx_file import checked_template

SCRATCH = "GPUPLAN_SCRATCH"
"""Environment variable with the folder for files of this session, which the server removes however the session ends."""
CHUNK_BYTES = 4_000_000
"""The browser sends a file in pieces of this size, the next one when the last has arrived."""
MOST_TEMPLATE_BYTES = 30_000_000


class Upload:
    """One file at a time; ``on_change`` is called when there is something to show."""

    def __init__(self, on_change: Callable[[], None], *, most_bytes: int, advice: str) -> None:
        self.name = ""
        self.size = 0
        self.got = 0
        self.error = ""
        self._on_change = on_change
        self._most_bytes = most_bytes
        self._advice = advice
        """What to do with a larger file."""
        self._folder: Path | None = None

    @property
    def path(self) -> Path:
        """Where the file is kept; the name is the user's, as far as a file may be called so."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gpuplan-upload-", dir=os.environ.get(SCRATCH)))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / (re.sub(r"[^\w.-]+", "_", self.name)[-80:] or "file")

    @property
    def complete(self) -> bool:
        """Whether a whole file is there."""
        return bool(self.name) and self.got == self.size

    def receive(self, name: str, size: int, at: int, piece: bytes) -> bool:
        """Take a piece of a file; whether it was the last one."""
        if at == 0:
            self.forget()
            self.name, self.size = name[:200], size
            if not 0 < size <= self._most_bytes:
                self.error = (
                    f"{self.name[:80]} is empty."
                    if size == 0
                    else f"{self.name[:80]} has {size:,} bytes; here a file may have {self._most_bytes:,}. {self._advice}"
                )
                self.name = ""
                self._on_change()
                return False
        if name[:200] != self.name or at != self.got:
            return False  # a piece of a file that was given up
        with self.path.open("ab" if at else "wb") as file:
            file.write(piece)
        self.got += len(piece)
        self._on_change()
        return self.complete

    def forget(self) -> None:
        """Remove the file."""
        if self.name and self._folder is not None:
            self.path.unlink(missing_ok=True)
        self.name, self.size, self.got, self.error = "", 0, 0, ""
        self._on_change()


class Template(Upload):
    """A template of the user's own, taken if it is one; one that is not leaves that of before in use."""

    def __init__(self, on_change: Callable[[], None], kind: str) -> None:
        super().__init__(on_change, most_bytes=MOST_TEMPLATE_BYTES, advice="Take large pictures out of it.")
        self.kind = kind
        """``docx`` or ``pptx``."""
        self.used = ""
        """Name of the template in use, or nothing."""

    @property
    def kept(self) -> Path:
        """Where the template in use is kept."""
        return self.path.with_name(f"in use.{self.kind}")  # what arrives is kept under no name with a space

    def receive(self, name: str, size: int, at: int, piece: bytes) -> bool:
        """Take a piece of a file; the last one makes it the template in use, if it can be one."""
        if not super().receive(name, size, at, piece):
            return False
        arrived, self.name = self.path, ""
        try:
            checked = checked_template(arrived.read_bytes(), self.kind)
        except ValueError as error:
            self.error = f"{name[:80]} was not taken: {error}."
        else:
            self.kept.write_bytes(checked)
            self.used = name[:200]
        arrived.unlink()
        self._on_change()
        return True

    def remove(self) -> None:
        """Take no template any more."""
        self.kept.unlink(missing_ok=True)
        self.used = self.error = ""
        self._on_change()
