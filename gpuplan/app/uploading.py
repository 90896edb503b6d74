"""Uploading: a file that the browser sends in chunks, kept in a folder of this session under a name of our own."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gpuplan.deliver.brand import MOST_FILE_BYTES, MOST_LOGO_BYTES, load_brand
from gpuplan.deliver.template import MOST_TEMPLATE_BYTES, checked_template, left_out_text
from gpuplan.deliver.untrusted import Broken, members
from gpuplan.scenario import ScenarioError, shown_name
from gpuplan.wording import said

SCRATCH = "GPUPLAN_SCRATCH"
"""Environment variable with the folder for files of this session, which the server removes however the session ends."""
BRAND, BRAND_FILE = "brand", "brand.yaml"
SHOWN = 3
"""Most mistakes of a brand file named in a message."""
CHUNK_BYTES = 1_000_000
"""The browser sends a file in pieces of this size, the next one when the last has arrived."""


class Upload:
    """One file at a time; ``on_change`` is called when there is something to show."""

    def __init__(self, on_change: Callable[[], None], *, most_bytes: int, advice: str) -> None:
        self.name = ""
        """Name of the file, as far as it can be shown; empty while there is none."""
        self.size = 0
        self.got = 0
        self.error = ""
        self._on_change = on_change
        self._most_bytes = most_bytes
        self._advice = advice
        self._folder: Path | None = None
        self._given = ""

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gpuplan-upload-", dir=os.environ.get(SCRATCH)))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    @property
    def path(self) -> Path:
        return self.folder / "arriving"

    @property
    def complete(self) -> bool:
        return bool(self.name) and self.got == self.size

    def arrived(self, content: Mapping[str, Any]) -> bool:
        return self.receive(str(content["name"]), content["size"], content["at"], bytes(content["buffer"]))

    def receive(self, name: str, size: int, at: int, piece: bytes) -> bool:
        """Take a chunk of a file; return whether it was the last one."""
        if _is_count(at) and at == 0:
            self.forget()
            if error := self._refusal(shown_name(name), size):
                return self._give_up(error)
            self.name, self._given, self.size = shown_name(name, 200), name, size
        if not self.name or name != self._given or not _is_count(at) or at != self.got:
            return False  # a piece of a file that was given up
        if self.got + len(piece) > self.size:
            return self._give_up(said("screen.upload.more", name=shown_name(name), size=f"{self.size:,}"))
        try:
            with self.path.open("ab" if at else "wb") as file:
                file.write(piece)
        except OSError as error:
            why = said("screen.upload.cannot store", why=error.strerror)
            return self._give_up(said("screen.upload.refused", name=shown_name(name), why=f"{why}."))
        self.got += len(piece)
        self._on_change()
        return self.complete

    def _refusal(self, shown: str, size: Any) -> str:
        if not _is_count(size) or size < 0:
            return said("screen.upload.no size", name=shown)
        if size == 0:
            return said("screen.upload.empty", name=shown)
        if size > self._most_bytes:
            sizes = {"size": f"{size:,}", "most": f"{self._most_bytes:,}"}
            return said("screen.upload.too large", name=shown, advice=self._advice, **sizes)
        return ""

    def _give_up(self, error: str) -> bool:
        self.forget()
        self.error = error
        self._on_change()
        return False

    def forget(self) -> None:
        if self._folder is not None:
            self.path.unlink(missing_ok=True)
        self.name, self._given, self.size, self.got, self.error = "", "", 0, 0, ""
        self._on_change()


class Dress(Upload):
    """A template of the user's own, or the brand of a firm, used from then on if valid; otherwise the previous one stays."""

    def __init__(self, on_change: Callable[[], None], kind: str) -> None:
        most, advice = MOST_TEMPLATE_BYTES, said("screen.upload.large pictures")
        if kind == BRAND:
            most, advice = MOST_FILE_BYTES + MOST_LOGO_BYTES, said("screen.upload.smaller logo")
        super().__init__(on_change, most_bytes=most, advice=advice)
        self.kind = kind
        """``docx`` or ``pptx`` for a template, or ``brand``: a YAML file, or a ZIP file with that and the logo."""
        self.used = ""
        self.note = ""
        """Parts of the file in use that were left out; empty if none."""
        self.turn = 0
        """Number of times that another one was put to use, or removed."""
        self.firm = False
        """True if it is set as that of the presenter's firm, and so stays for other designs."""

    @property
    def kept(self) -> Path:
        """Path of the file in use; a brand has its logo beside it."""
        return self.folder / (f"{BRAND}/{BRAND_FILE}" if self.kind == BRAND else f"in use.{self.kind}")

    def _keep(self, content: bytes) -> str:
        """Keep it if it can be used; return the parts left out. A ValueError says why it cannot."""
        if self.kind != BRAND:
            checked = checked_template(content, self.kind)
            self.kept.write_bytes(checked.file)
            return left_out_text(checked.left_out)
        with tempfile.TemporaryDirectory(dir=self.folder) as new:
            for name, data in _brand_files(content).items():
                (Path(new) / name).write_bytes(data)
            try:
                load_brand(Path(new) / BRAND_FILE)
            except ScenarioError as error:
                raise ValueError("; ".join(map(str, error.problems[:SHOWN]))) from None
            shutil.rmtree(self.kept.parent, ignore_errors=True)
            shutil.copytree(new, self.kept.parent)
        return ""

    def receive(self, name: str, size: int, at: int, piece: bytes) -> bool:
        """Take a piece of a file; the last one puts it to use, if it can be."""
        if not super().receive(name, size, at, piece):
            return False
        shown, why = self.name, ""
        try:
            self.note = self._keep(self.path.read_bytes())
            self.used, self.turn = shown, self.turn + 1
        except ValueError as error:
            why = str(error)
        except OSError as error:
            why = said("screen.upload.cannot store", why=error.strerror)
        self.forget()
        why += "" if why.endswith("?") else "."
        self.error = said("screen.upload.refused", name=shown_name(shown), why=why) if why != "." else ""
        self._on_change()
        return True

    def remove(self) -> None:
        self.kept.unlink(missing_ok=True)
        if self.kind == BRAND:
            shutil.rmtree(self.kept.parent, ignore_errors=True)
        self.used = self.note = self.error = ""
        self.firm = False
        self.turn += 1
        self._on_change()

    def set_firm(self, firm: bool) -> None:
        self.firm = firm and bool(self.used)
        self._on_change()


def _brand_files(content: bytes) -> dict[str, bytes]:
    """Return the brand file and the files beside it in a ZIP file, in any folder of it."""
    if not content.startswith(b"PK"):
        return {BRAND_FILE: content}
    try:
        packed = members(content)
    except Broken as broken:
        raise ValueError(said("screen.upload.no ZIP", why=broken)) from None
    flat = {PurePosixPath(name).name: data for name, data in packed.items()}
    files = {name: data for name, data in flat.items() if not name.startswith(".")}  # as macOS adds
    described = [name for name in files if name.endswith((".yaml", ".yml"))]
    if len(described) != 1:
        raise ValueError(said("screen.upload.one YAML", count=len(described)))
    return {BRAND_FILE: files.pop(described[0]), **files}


def _is_count(value: Any) -> bool:
    """True if it is a whole number; the browser may send anything."""
    return isinstance(value, int) and not isinstance(value, bool)
