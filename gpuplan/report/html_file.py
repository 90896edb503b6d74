"""The design document as one HTML file: for the screen and for print, without scripts or requests."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from itertools import count

from gpuplan.report.document import (
    Block,
    Bullets,
    Chapter,
    DecisionBlock,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    clean,
)

LONGEST_WORD = 24
"""Characters of a word that stay on one line; a longer one may be broken, so that no table grows beyond the page."""
SHORT = 12
"""Characters of a cell at the right that are never wrapped."""
_BREAKS = re.compile(rf"[^\s]{{{LONGEST_WORD + 1},}}")
_PIECES = re.compile(rf"[^-/_.,;:=&?]{{1,{LONGEST_WORD}}}[-/_.,;:=&?]*|[-/_.,;:=&?]+")


def html_text(document: Document) -> str:
    """A design document as one self-contained HTML file.

    Parameters
    ----------
    document : Document
        What it says. [-]

    Returns
    -------
    html_text : str
        The file: style and figures are inside, there is no script, and nothing is requested from anywhere. [-]
    """
    tables, figures = count(1), count(1)
    named = document.title + (f" for {document.customer}" if document.customer else "")
    style = (files("gpuplan.report") / "static" / "document.css").read_text(encoding="utf-8") + _page(named)
    body = "".join(_chapter(n, each, tables, figures) for n, each in enumerate(document.chapters, 1))
    customer = f"<p>{_text(document.customer)}</p>\n" if document.customer else ""
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{_plain(named)}</title>
<style>
{style}</style>
</head>
<body>
<div class="page">
<header class="cover">
<p class="kind">Design document</p>
<h1>{_text(document.title)}</h1>
{customer}<p>As of {_text(document.as_of)}</p>
<p>Made with {_text(document.made_with)}</p>
</header>
<nav aria-label="Contents">
<h2>Contents</h2>
<ol>
{_contents(document.chapters)}</ol>
</nav>
<main>
{body}</main>
<footer>Made with {_text(document.made_with)}, as of {_text(document.as_of)}.</footer>
</div>
</body>
</html>
"""


def _plain(text: str) -> str:
    """Text for an attribute or a title."""
    return escape(clean(text))


def _text(text: str) -> str:
    """Text that is shown, with places where long words may be broken."""
    found, at = [], 0
    cleaned = clean(text)
    for word in _BREAKS.finditer(cleaned):
        found.append(escape(cleaned[at : word.start()]))
        found.append("<wbr>".join(escape(piece) for piece in _PIECES.findall(word.group())))
        at = word.end()
    return "".join([*found, escape(cleaned[at:])])


def _page(named: str) -> str:
    """Paper: margins, the name at the foot of each page, and page numbers."""
    quoted = "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in clean(named)[:90])
    foot = 'font: 8pt "Segoe UI", system-ui, Arial, sans-serif; color: #525d6e;'
    return f"""@page {{
  margin: 18mm 16mm 20mm;
  @bottom-left {{ content: "{quoted}"; {foot} }}
  @bottom-right {{ content: counter(page) " / " counter(pages); {foot} }}
}}
@page :first {{ @bottom-left {{ content: ""; }} @bottom-right {{ content: ""; }} }}
"""


def _contents(chapters: Iterable[Chapter]) -> str:
    lines = []
    for n, chapter in enumerate(chapters, 1):
        inner = "".join(
            f'<li><a href="#chapter-{n}-{m}">{n}.{m} {_text(section.title)}</a></li>\n'
            for m, section in enumerate(chapter.sections, 1)
        )
        below = f"\n<ol>\n{inner}</ol>\n" if inner else ""
        lines.append(f'<li><a href="#chapter-{n}">{n} {_text(chapter.title)}</a>{below}</li>\n')
    return "".join(lines)


def _chapter(n: int, chapter: Chapter, tables: count[int], figures: count[int]) -> str:
    parts = [
        f'<section class="chapter" aria-labelledby="chapter-{n}">\n'
        f'<h2 id="chapter-{n}"><span class="no">{n}</span>{_text(chapter.title)}</h2>\n',
        *(_block(block, tables, figures) for block in chapter.blocks),
    ]
    for m, section in enumerate(chapter.sections, 1):
        title = f'<span class="no">{n}.{m}</span>{_text(section.title)}'
        parts.append(f'<h3 id="chapter-{n}-{m}">{title}</h3>\n')
        parts += [_block(block, tables, figures) for block in section.blocks]
    return "".join([*parts, "</section>\n"])


def _block(block: Block, tables: count[int], figures: count[int]) -> str:
    if isinstance(block, Paragraph):
        tone = f' class="{block.tone}"' if block.tone in ("lead", "note") else ""
        return f"<p{tone}>{_text(block.text)}</p>\n"
    if isinstance(block, Bullets):
        return "<ul>\n" + "".join(f"<li>{_text(item)}</li>\n" for item in block.items) + "</ul>\n"
    if isinstance(block, Grid):
        return _grid(block, tables)
    if isinstance(block, Figure):
        return _figure(block, next(figures))
    if isinstance(block, KeyFigures):
        items = (
            f'<div><dt>{_text(label)}</dt><dd class="value">{_text(value)}</dd><dd class="about">{_text(note)}</dd></div>\n'
            for label, value, note in block.items
        )
        return f'<dl class="figures">\n{"".join(items)}</dl>\n'
    return _decision(block)


def _grid(grid: Grid, tables: count[int]) -> str:
    caption = (
        f"<caption><b>Table {next(tables)}.</b> {_text(grid.caption)}</caption>\n" if grid.caption else ""
    )
    columns = "".join(f'<col style="width: {100 * share:.1f}%">' for share in grid.widths)
    heads = "".join(
        f'<th scope="col"{_side(grid, i)}>{_text(head)}</th>' if head else f"<td{_side(grid, i)}></td>"
        for i, head in enumerate(grid.heads)
    )
    head = f"<thead><tr>{heads}</tr></thead>\n" if any(grid.heads) else ""
    last = len(grid.rows) - 1
    rows = "".join(
        f"<tr{' class=' + chr(34) + 'total' + chr(34) if grid.total and at == last else ''}>"
        + "".join(_cell(grid, i, cell) for i, cell in enumerate(row))
        + "</tr>\n"
        for at, row in enumerate(grid.rows)
    )
    return f"<table>\n{caption}<colgroup>{columns}</colgroup>\n{head}<tbody>\n{rows}</tbody>\n</table>\n"


def _cell(grid: Grid, column: int, cell: str) -> str:
    if column == 0 and cell:
        return f'<th scope="row"{_side(grid, column)}>{_text(cell)}</th>'
    return f"<td{_side(grid, column, cell)}>{_text(cell)}</td>"


def _side(grid: Grid, column: int, cell: str = "") -> str:
    if column not in grid.right:
        return ""
    return ' class="right short"' if 0 < len(cell) <= SHORT else ' class="right"'


def _figure(figure: Figure, n: int) -> str:
    """A drawing as an image: what it defines cannot meet that of another, and nothing in it can run."""
    data = b64encode(clean(figure.svg).encode()).decode()
    return (
        f'<figure>\n<img src="data:image/svg+xml;base64,{data}" alt="{_plain(figure.alt)}" '
        f'style="width: {100 * figure.width:.0f}%">\n'
        f"<figcaption><b>Figure {n}.</b> {_text(figure.caption)}</figcaption>\n</figure>\n"
    )


def _decision(block: DecisionBlock) -> str:
    sources = f'<p class="note">Sources: {_text("; ".join(block.sources))}</p>\n' if block.sources else ""
    return (
        f'<article class="decision">\n<h3><span class="no">({block.number})</span>{_text(block.title)}</h3>\n'
        f"<p>{_text(block.decision)}</p>\n"
        f"<p><b>Justification:</b> {_text(block.justification)}</p>\n"
        f"<p><b>Implication:</b> {_text(block.implication)}</p>\n{sources}</article>\n"
    )
