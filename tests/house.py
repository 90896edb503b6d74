"""The house on one page, drawn from the imports: ``make house`` writes it into ``gpuplan/README.md``, and a test holds it true."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "gpuplan"
PAGE = PACKAGE / "README.md"
BEGIN, END = "<!-- house: make house -->\n", "<!-- end of house -->\n"
FLOORS = (
    ("units", "showing", "extensions"),
    ("facts",),
    ("locales",),
    ("wording",),
    ("extras",),
    ("models",),
    ("simulation",),
    ("catalog", "scenario"),
    ("plan",),
    ("analysis", "audit"),
    ("report",),
    ("deliver",),
    ("widgets",),
    ("app",),
    ("serve",),
    ("cli",),
)
"""A room imports from the floors below it and from itself, never from its neighbours; app, serve and cli from the package itself, too."""
SLICES = {
    "audit/report": "report",
    "audit/estate_report": "report",
    "audit/matching": "report",
    "audit/drift": "report",
    "audit/drift_report": "report",
    "audit/upload": "app",
    "audit/step": "app",
    "audit/command": "cli",
}
"""Module of a slice -> the room on whose floor it is. The other modules of the slice are a room of their own, below these."""


def name_of(path: Path) -> str:
    """Path of a module inside the package, without its ending."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(path: Path) -> str:
    """The room that a module stands in; nothing for the package's own file."""
    name = name_of(path)
    return "" if name == "__init__" else room_of_name(name.replace("/", "."))


def room_of_name(name: str) -> str:
    """The room of a module, by its name below the package."""
    parts = name.split(".")
    return SLICES.get("/".join(parts[:2]), parts[0])


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below a node but what a type checker alone reads: a type may be of a room above, and of an extra."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from _loaded(child)


@cache
def imports(path: Path) -> frozenset[str]:
    """Full names of the modules that a file imports when it runs, wherever in the file."""
    found: set[str] = set()
    for node in _loaded(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


@cache
def loaded_by_name(path: Path) -> tuple[str, ...]:
    """The code by which a file names a module that it loads in a call, and so without an import that shows."""
    return tuple(
        ast.unparse(node.args[0])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__"))
    )


def rooms_below(room: str) -> list[str]:
    """The rooms that a room imports from, from the top floor down."""
    used = {
        room_of_name(module.removeprefix("gpuplan."))
        for path in PACKAGE.rglob("*.py")
        if room_of(path) == room
        for module in imports(path)
        if module.startswith("gpuplan.")
    }
    return [each for floor in reversed(FLOORS) for each in floor if each in used and each != room]


def drawing() -> str:
    """Every room as a row, the top floor first: what it is for, and where it imports from."""
    rows = ["| room | what it is for | imports from |", "|---|---|---|"]
    rows += [_row(room) for floor in reversed(FLOORS) for room in floor]
    return "\n".join(rows) + "\n"


def _row(room: str) -> str:
    folder = PACKAGE / room
    own = folder / "__init__.py" if folder.is_dir() else PACKAGE / f"{room}.py"
    first = (ast.get_docstring(ast.parse(own.read_text(encoding="utf-8"))) or "").split("\n")[0]
    purpose = " ".join([first.partition(": ")[2] or first, *_on_other_floors(room)])
    purpose = purpose.replace("``", "`")
    name = f"{room}/" if folder.is_dir() else f"{room}.py"
    return f"| `{name}` | {purpose[0].upper()}{purpose[1:]} | {', '.join(rooms_below(room))} |"


def _on_other_floors(room: str) -> list[str]:
    """Where the modules of a slice are that are not on the floor of its room."""
    own = {name.partition("/")[2]: floor for name, floor in SLICES.items() if name.startswith(f"{room}/")}
    return [
        f"On the floor of {floor}: {', '.join(f'`{name}`' for name in own if own[name] == floor)}."
        for floor in dict.fromkeys(own.values())
    ]


def page(text: str) -> str:
    """The page with the drawing as it has to be now."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + drawing() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0)
