"""What takes seconds to make and many tests read: the first process of a run makes it, the others read it from its file."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class MadeOnce:
    """Results by their names in the folder of a run; tests read them and never change them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Any] = {}

    def __call__(self, name: str, make: Callable[[], T]) -> T:
        """Return what has this name, made by the first process that wants it."""
        if name not in self._known:
            self._known[name] = self._kept(self._folder / f"{name}.pickle", make)
        found: T = self._known[name]
        return found

    def _kept(self, path: Path, make: Callable[[], T]) -> T:
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                whole = path.with_suffix(".part")
                whole.write_bytes(pickle.dumps(make()))
                whole.rename(path)
        found: T = pickle.loads(path.read_bytes())
        return found
