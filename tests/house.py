"""The house on one page, drawn from the imports: ``make house`` writes it into ``gpuplan/README.md``, and a test holds it true."""

from __future__ import annotations

import ast
import sys
import textwrap
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "gpuplan"
PAGE = PACKAGE / "README.md"
BEGIN, END = "<!-- house: make house -->\n", "<!-- end of house -->\n"
FLOORS = (
    ("units",),
    ("facts",),
    ("locales",),
    ("wording",),
    ("models",),
    ("simulation",),
    ("catalog", "scenario"),
    ("plan",),
    ("analysis", "audit"),
    ("report",),
    ("widgets",),
    ("app",),
    ("cli",),
)
"""A room imports from the floors below it and from itself, never from its neighbours; app and cli from the package itself, too."""
WIDTH = 110


def name_of(path: Path) -> str:
    """Path of a module inside the package, without its ending."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(path: Path) -> str:
    """The room that a module stands in; nothing for the package's own file."""
    name = name_of(path).split("/")[0]
    return "" if name == "__init__" else name


@cache
def imports(path: Path) -> frozenset[str]:
    """Full names of the modules that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def rooms_below(room: str) -> list[str]:
    """The rooms that a room imports from, from the top floor down."""
    used = {
        module.split(".")[1]
        for path in PACKAGE.rglob("*.py")
        if room_of(path) == room
        for module in imports(path)
        if module.startswith("gpuplan.")
    }
    return [each for floor in reversed(FLOORS) for each in floor if each in used and each != room]


def drawing() -> str:
    """Every floor as a line of boxes, the top one first: what a room is for, its files, and where it imports from."""
    lines = ["```"]
    for floor in reversed(FLOORS):
        for room in floor:
            lines += _box(room)
    return "\n".join([*lines, "```"]) + "\n"


def _box(room: str) -> list[str]:
    folder = PACKAGE / room
    own = folder / "__init__.py" if folder.is_dir() else PACKAGE / f"{room}.py"
    purpose = (ast.get_docstring(ast.parse(own.read_text(encoding="utf-8"))) or "").split("\n")[0]
    head = f"+- {room}{'/' if folder.is_dir() else '.py'} "
    below = rooms_below(room)
    lines = [head + "-" * (WIDTH - len(head) - 1) + "+"]
    inside = textwrap.wrap(purpose.partition(": ")[2] or purpose, WIDTH - 4)
    if folder.is_dir():
        inside += textwrap.wrap(", ".join(_files(folder)), WIDTH - 4, break_on_hyphens=False)
    if below:
        inside.append("imports from " + ", ".join(below))
    return lines + [f"| {text:<{WIDTH - 4}} |" for text in inside] + ["+" + "-" * (WIDTH - 2) + "+"]


def _files(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" and path.stem != "__init__":
            found.append(path.stem)
        elif path.is_dir() and (path / "__init__.py").exists():
            found.append(f"{path.name}/ ({', '.join(_files(path))})")
    return found


def page(text: str) -> str:
    """The page with the drawing as it has to be now."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + drawing() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0)
