"""Sphinx: what `make docs` builds. Nothing on a page is loaded from elsewhere, and formulas are MathML."""

import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from mathml import marked, mathml
from sphinx.application import Sphinx

from gpuplan import __version__ as release
from gpuplan.units import SUFFIX

project, version = "gpuplan", release
made_by = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py")))
extensions = ["sphinx.ext.autodoc", "myst_parser"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = [
    "ref.citation",
    "ref.python",
    "myst.header",
    "myst.strikethrough",
    "misc.highlighting_failure",
]
default_role = "code"
nitpicky = False
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False
html_theme = "furo"
html_title = "gpuplan"
html_static_path = [str(Path(__file__).parent / "_static")]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_show_search_summary = False  # it fetches the pages that it finds, which a browser refuses for files
html_theme_options = {"navigation_with_keys": True}


def formula_role(name: str, rawtext: str, text: str, lineno: int, inliner: Any, **_: Any) -> Any:
    """``:formula:`a / b``` as MathML."""
    return [nodes.raw("", mathml(text, block=name == "formula-block"), format="html")], []


def _unit(text: str) -> str:
    """A unit in brackets as one that is printed; none for a number without unit."""
    return re.sub(
        r" ?\[(-|[A-Za-z%][^\]_]{0,12})\](?!_)(?=\s|$)", lambda m: "" if m[1] == "-" else f" *({m[1]})*", text
    )


def _entries(part: str) -> list[tuple[str, str, str]]:
    """Name, type and text of what a section of a docstring lists."""
    listed = re.findall(r"^ {4}(\S+)(?: \((.+?)\))?: (.*(?:\n {5,}.*)*)", part, re.M)
    return [(name, kind, _unit(" ".join(text.split()))) for name, kind, text in listed]


def _fields(part: str, shared: bool) -> str:
    """A section of parameters, or of what is returned; those that functions of a module share are a table."""
    entries = _entries(part)
    if shared:
        rows = "".join(f"   * - ``{name}``\n     - {text}\n" for name, _, text in entries)
        return f".. list-table:: Parameters that the functions share\n   :widths: 30 70\n\n{rows}"
    if part.startswith("Returns"):
        return ":returns: " + " ".join(text for _, _, text in entries)
    fields = (f":param {name.replace('*', chr(92) + '*')}: {text}" for name, _, text in entries)
    kinds = (f":type {name}: {kind}" for name, kind, _ in entries if kind)
    return "\n".join([*fields, *kinds])


def documented(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """A docstring with formulas drawn and units printed: first what it says, then parameters, then examples."""
    parts: tuple[list[str], ...] = ([], [], [])
    for part in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        if re.match(r"(Parameters|Returns):\n", part):
            parts[1].append(_fields(part, what == "module"))
        elif parts[2] or part.startswith(">>>"):
            parts[2].append(part)
        elif re.match(r"\s*(\.\.|[-*:] ?)", part) or "\n " in part:
            parts[0].append(part)
        else:
            pieces = _unit(marked(" ".join(part.split()))).split("`")
            parts[0].append("`".join(p if n % 2 else p.replace("|", "\\|") for n, p in enumerate(pieces)))
    unit = next(
        (u for s, u in sorted(SUFFIX.items(), key=lambda i: -len(i[0])) if name.endswith(f"_{s}")), ""
    )
    if inspect.isfunction(thing) and unit and name.startswith("gpuplan.models."):
        parts[0][0] += f" *({unit})*"
    lines[:] = "\n\n".join([*parts[0], *parts[1], *parts[2]]).splitlines()


def setup(app: Sphinx) -> None:
    """The role of formulas, and where they come from."""
    app.add_config_value(
        "made_by", "", "env"
    )  # all pages are read again when the code that makes them changes
    for role in ("formula", "formula-block"):
        app.add_role(role, formula_role)
    app.connect("autodoc-process-docstring", documented)
