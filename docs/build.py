"""Build the site offline: `python docs/build.py [FOLDER]`, as `make docs` does. A warning is an error."""

import os
import re
import shutil
import sys
from pathlib import Path

from nbconvert import MarkdownExporter
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]
GUIDES = (
    *(
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "data/README.md",
        "deploy/README.md",
        "notebooks/README.md",
    ),
    *("gpuplan/README.md", "gpuplan/app/README.md", "gpuplan/models/README.md", "gpuplan/report/README.md"),
    *("gpuplan/serve/README.md", "tests/README.md", "tests/VALIDATION.md"),
)
LINK = re.compile(
    r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:|data:|attachment:)([^)\s#]+)(#[^)\s]*)?(?: \"([^\"]*)\")?\)"
)


def page_of(path: Path) -> str:
    """Where a file of the repository is on the site; empty if it is no page of it."""
    name = path.as_posix()
    if path.suffix == ".ipynb" and path.parent.name == "notebooks" and path.stem[0].isdigit():
        return name.removesuffix(".ipynb") + ".md"
    if name.startswith("docs/") and path.suffix in (".md", ".csv"):
        return name.removeprefix("docs/")
    return name if name in GUIDES else ""


def relinked(text: str, path: Path, target: Path) -> str:
    """The text with links to pages of the site; a link to another file is its name, and pictures come along."""

    def link(match: re.Match[str]) -> str:
        picture, label, address, anchor, title = match.groups()
        file = Path(os.path.normpath(path.parent / address))
        if picture and (ROOT / file).is_file():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, target / file)
            return match[0]
        page = page_of(file)
        if page:
            here = Path(page_of(path)).parent
            return f"[{label}]({os.path.relpath(page, here)}{anchor or ''})"
        return f'<code title="{title}">{label.strip("`")}</code>' if title else f"`{label.strip('`')}`"

    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def chapter(path: Path, target: Path) -> str:
    """A notebook with the outputs that are stored in it."""
    exporter = MarkdownExporter()
    text, resources = exporter.from_filename(str(path))
    for name, data in resources["outputs"].items():
        (target / "notebooks" / path.stem).mkdir(parents=True, exist_ok=True)
        (target / "notebooks" / path.stem / name).write_bytes(data)
        text = text.replace(f"({name})", f"({path.stem}/{name})")
    return text


def gather(target: Path) -> None:
    """Write the source of every page below a folder; what has not changed is left alone, and not read again."""
    from pages import made_pages

    pages = dict(made_pages())
    for path in (
        [ROOT / name for name in GUIDES]
        + sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
        + sorted(HERE.rglob("*.md"))
    ):
        place = path.relative_to(ROOT)
        text = chapter(path, target) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        pages[page_of(place)] = relinked(text, place, target)
    pages |= {
        page_of(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in HERE.rglob("*.csv")
    }
    for page in [page for page in target.rglob("*") if page.suffix in (".md", ".rst")]:
        if page.relative_to(target).as_posix() not in pages:
            page.unlink()
    for name, text in pages.items():
        page = target / name
        page.parent.mkdir(parents=True, exist_ok=True)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def build(folder: Path) -> int:
    """Build the site into a folder; the code that the command ends with."""
    source = folder.parent / f"{folder.name}-source"
    gather(source)
    arguments = ["-b", "html", "-q", "-W", "--keep-going", "-j", "auto", "-c", str(HERE)]
    return sphinx([*arguments, "-d", str(source.with_suffix(".cache")), str(source), str(folder)])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()))
