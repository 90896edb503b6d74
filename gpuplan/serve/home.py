"""The home of a server: one temporary folder for all that it and its sessions write, and the variables that lead there."""

import contextlib
import os
import shutil
import site
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpuplan.serve.options import HERE, Options

TEMPLATES = HERE / "templates"
"""Goes to ``JUPYTER_PATH``: Voila finds ``voila/templates/gpuplan`` in it, in a wheel and in a checkout."""

HOME, LOCK = "gpuplan-", "lock"


def made_home() -> tuple[Path, Any]:
    """Return a new folder for all that the server writes, and its lock; folders of killed servers are removed."""
    above = Path(tempfile.gettempdir())
    for old in above.glob(HOME + "*"):
        with contextlib.suppress(OSError), (old / LOCK).open("r+b") as lock:
            if not old.is_symlink() and _locked(lock):
                shutil.rmtree(old, ignore_errors=True)
    home = Path(tempfile.mkdtemp(prefix=HOME))
    lock = (home / f"{LOCK}-new").open("w+b")
    _locked(lock)
    with contextlib.suppress(OSError):  # Windows renames no open file
        (home / f"{LOCK}-new").rename(home / LOCK)  # nobody sees it before it is locked
    for name in ("config", "data", "runtime", "ipython", "work"):
        (home / name).mkdir()
    return home, lock


def _locked(file: Any) -> bool:
    """Lock a file for as long as it is open here; return whether that succeeded."""
    try:
        import fcntl
    except ImportError:  # Windows removes no folder that is in use, so it needs no lock
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def environment(home: Path, options: Options) -> dict[str, str | None]:
    """Return variables of this process and of every kernel; None removes one."""
    package_parent = str(HERE.parents[1])
    installed = {*site.getsitepackages(), site.getusersitepackages()}
    paths = [] if package_parent in installed else [package_parent]
    return {
        "GPUPLAN_SCENARIO": str(options.scenario.resolve()) if options.scenario else None,
        "GPUPLAN_CATALOG": str(options.catalog.resolve()) if options.catalog else None,
        "GPUPLAN_VIEW": "customer" if options.customer else None,
        "JUPYTER_PATH": os.pathsep.join([str(TEMPLATES), *filter(None, [os.environ.get("JUPYTER_PATH")])]),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_CONFIG_PATH": None,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONSTARTUP": None,
        # The kernel imports the same gpuplan as the server, also from a checkout that is not installed.
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]) or None,
    }


@contextlib.contextmanager
def set_environment(values: dict[str, str | None]) -> Iterator[None]:
    """Set variables of this process for a while; None removes one."""
    before = {name: os.environ.get(name) for name in values}
    _update_environment(values)
    try:
        yield
    finally:
        _update_environment(before)


def _update_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
