"""Document, slides and workbook as LibreOffice prints them: no empty page, nothing outside of it or over something else, no small text,
no sentence again and again, and the figures of the plan.

LibreOffice opens all files in one run, and only once, however many processes run the tests: those of one design by day, of all at night.
"""

from __future__ import annotations

import fcntl
import io
import pickle
import re
import subprocess
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from programs import missing
from random_cases import of_the_day
from workbooks import converted, libreoffice, poppler

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver import executive as executive_module
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.executive import Executive, executive
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.deliver.xlsx import xlsx_bytes
from gpuplan.wording import headline_money, number

pytestmark = pytest.mark.slow

EXAMPLES = ("starter", "enterprise", "current", "assistant")
DESIGNS = of_the_day((*EXAMPLES, "large", "hostile"), few=1)
ENDINGS = ("docx", "pptx", "xlsx")
NASTY = "=HYPERLINK(1) <script> & " + "Verylongname" * 2
RTL = "מרכז נתונים للذكاء الاصطناعي"
MOST_PAGES = {"docx": 60, "pptx": 36, "xlsx": 95}
LEAST_INK = {"docx": 0.02, "pptx": 0.02, "xlsx": 0.005}
"""Share of a page that is not white; a page of the workbook may end a table with a row or two."""
WHITE_FROM = 245
DOTS = {"docx": 40, "pptx": 40, "xlsx": 20}
"""To the inch: enough to see what is white."""
FONT = "Carlito"
"""What LibreOffice takes for Calibri, as wide and as high."""
LEAST_POINTS, LINE_HEIGHT = 8.0, 1.22
"""Smallest text, and the height of a line of Carlito over its size."""
DRAWN_POINTS = 72 / 914_400
MOST_TIMES = 3
"""Pages that may say the same sentence: the first one, that of the requirement, and the chapter it is about."""
LONG = 6
FOOTER_SHARE = 0.075
LEAST_REACH = 0.3
"""Least share of a page that is used."""
HEADING_POINTS = 13.5
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FOOTER = 60.0
"""Points from below in which the footer stands."""
MOST_SOURCE_PAGES = 2
PAGE = "{http://www.w3.org/1999/xhtml}"
NO_TEXT = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]")


class Word(NamedTuple):
    """A word on a page, in points from the top left."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turned: bool
    """Whether its line runs upwards."""

    @property
    def points(self) -> float:
        """Size of its letters."""
        return (self.right - self.left if self.turned else self.bottom - self.top) / LINE_HEIGHT


@dataclass(frozen=True)
class Sheet:
    """A page or a slide."""

    width: float
    height: float
    words: tuple[Word, ...]
    blocks: tuple[str, ...]
    ink: float
    reach: float
    """Share of the page that is above the last ink over its footer."""

    @property
    def text(self) -> str:
        return " ".join(self.blocks)


@dataclass(frozen=True)
class Printed:
    """A file as it is printed."""

    pages: tuple[Sheet, ...]
    fonts: frozenset[str]

    @property
    def text(self) -> str:
        return " ".join(page.text for page in self.pages)


# The designs, and their files


@pytest.fixture(scope="module")
def design(catalog: Catalog) -> Callable[[str], Plan]:
    @cache
    def known(name: str) -> Plan:
        if name == "large":
            scenario = load_scenario("current")
            for group in scenario.groups:
                scenario = scenario.with_value(f"groups.{group.id}.people", group.people * 62)
        elif name == "hostile":
            scenario = load_scenario("enterprise")
            for at, group in enumerate(scenario.groups):
                called = f"{RTL} {at}" if at == 1 else f"{NASTY} {at}"
                scenario = scenario.with_value(f"groups.{group.id}.name", called)
            scenario = replace(scenario, name=NASTY + "M" * 30, customer=f"{RTL} <b> Ltd")
            scenario = scenario.with_value("document.author", "W" * 80)
        else:
            scenario = load_scenario(name)
        return make_plan(scenario, catalog)

    return known


def summary(name: str, plan: Plan) -> Executive:
    """What an executive decides on; the drivers of the large design would be 20 plans of it, so it has its alternatives only."""
    if name != "large":
        return executive(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executive_module, "tornado", lambda plan: ())
        return executive(plan)


def files(name: str, plan: Plan) -> dict[str, bytes]:
    """Document, deck and workbook of a design by their endings."""
    about = summary(name, plan)
    return {
        "docx": docx_bytes(design_document(plan, summary=about)),
        "pptx": pptx_bytes(plan, about),
        "xlsx": xlsx_bytes(plan, about),
    }


@pytest.fixture(scope="module")
def printed(
    design: Callable[[str], Plan],
    tmp_path_factory: pytest.TempPathFactory,
    worker_id: str,
) -> dict[tuple[str, str], Printed]:
    """Every file as it is printed, by its ending and its design; the first process that gets here makes them for all."""
    libreoffice()
    for program in ("pdftotext", "pdftoppm", "pdffonts"):
        poppler(program)
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "rendered"
    folder.mkdir(exist_ok=True)
    kept = folder / "printed.pickle"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(_printed(design, folder)))
    found: dict[tuple[str, str], Printed] = pickle.loads(kept.read_bytes())
    if not all(any(font.startswith(FONT) for font in file.fonts) for file in found.values()):
        missing(
            f"{FONT} (fonts-crosextra-carlito)"
        )  # pages in another font say nothing about those of a user
    return found


@pytest.fixture(scope="module")
def made(printed: object, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder with the files themselves."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "rendered"


def _printed(design: Callable[[str], Plan], folder: Path) -> dict[tuple[str, str], Printed]:
    held = {(ending, name): file for name in DESIGNS for ending, file in files(name, design(name)).items()}
    paths = converted(
        folder, {f"{name}-{ending}.{ending}": file for (ending, name), file in held.items()}, "pdf"
    )
    return {
        (ending, name): Printed(tuple(_pages(path, DOTS[ending])), _fonts(path))
        for (ending, name), path in zip(held, paths.values(), strict=True)
    }


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, timeout=600).stdout.decode()


def _pages(path: Path, dots: int) -> Iterator[Sheet]:
    text = NO_TEXT.sub("", _said(poppler(), "-bbox-layout", str(path), "-"))
    subprocess.run(
        [poppler("pdftoppm"), "-r", str(dots), "-gray", str(path), str(path.with_suffix(""))], check=True
    )
    pictures = sorted(path.parent.glob(f"{path.stem}-*.pgm"))
    pages = list(ElementTree.fromstring(text).iter(f"{PAGE}page"))
    for page, picture in zip(pages, pictures, strict=True):
        yield Sheet(
            float(page.attrib["width"]),
            float(page.attrib["height"]),
            tuple(word for line in page.iter(f"{PAGE}line") for word in _words(line)),
            tuple(
                " ".join(word.text or "" for word in block.iter(f"{PAGE}word"))
                for block in page.iter(f"{PAGE}block")
            ),
            *_ink(picture.read_bytes()),
        )
        picture.unlink()


def _words(line: ElementTree.Element) -> Iterator[Word]:
    left, top, right, bottom = _box(line)
    for word in line:
        box = _box(word)
        wide = box[2] - box[0]
        turned = bottom - top > right - left and wide >= LEAST_POINTS * LINE_HEIGHT
        yield Word(word.text or "", *box, turned)


def _box(element: ElementTree.Element) -> tuple[float, float, float, float]:
    left, top, right, bottom = (float(element.attrib[name]) for name in ("xMin", "yMin", "xMax", "yMax"))
    return left, top, right, bottom


def _ink(picture: bytes) -> tuple[float, float]:
    """The share of a grey picture that is not white, and how far down it goes above the footer."""
    _, size, most, dots = picture.split(b"\n", 3)
    assert most == b"255"
    white, (wide, high) = bytes(range(WHITE_FROM, 256)), map(int, size.split())
    rows = [len(dots[at * wide : (at + 1) * wide].translate(None, white)) for at in range(high)]
    body = rows[: int(high * (1 - FOOTER_SHARE))]
    last = max((at for at, ink in enumerate(body) if ink), default=0)
    return sum(rows) / len(dots), last / high


def _lines(page: Sheet) -> list[list[Word]]:
    """The words of a page without its footer, in lines from the top."""
    lines: list[list[Word]] = []
    for word in sorted(_body("docx", page), key=lambda word: (word.top + word.bottom, word.left)):
        if lines and word.top + word.bottom < 2 * lines[-1][0].bottom:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def headers(file: bytes) -> list[str]:
    """The header rows of the tables of a document, in a line each."""
    with zipfile.ZipFile(io.BytesIO(file)) as packed:
        document = ElementTree.fromstring(packed.read("word/document.xml"))
    return [
        " ".join(
            " ".join(text.text or "" for text in cell.iter(f"{WORD}t")) for cell in row.iter(f"{WORD}tc")
        )
        for row in document.iter(f"{WORD}tr")
        if row.find(f"{WORD}trPr/{WORD}tblHeader") is not None
    ]


def stranded(pages: Sequence[Sheet], heads: Iterable[str]) -> list[str]:
    """What is left at the foot of a page without what belongs to it: headings, captions, headers with a row or none."""
    known = {"".join(sorted(head.replace(" ", ""))) for head in heads}

    def is_head(line: list[Word]) -> bool:
        return "".join(sorted("".join(word.text for word in line))) in known

    found = []
    lines = [_lines(page) for page in pages]
    for at, (page, following) in enumerate(pairwise(lines[1:]), 2):
        *_, before, last = [[], [], *page]
        text = " ".join(word.text for word in last)
        if last and (
            max(word.points for word in last) >= HEADING_POINTS
            or re.match(r"Table \d+\b", text)
            or is_head(last)
            or (is_head(before) and is_head(following[0]))
        ):
            found.append(f"page {at}: {text}")
    return found


def broken_words(pages: Sequence[Sheet], heads: Iterable[str]) -> set[str]:
    """Words of headers that stand on no page as a whole."""
    printed = {part for page in pages for word in page.words for part in word.text.split("-")}
    return {word for head in heads for word in re.split(r"[\s-]+", head)} - printed - {""}


def _fonts(path: Path) -> frozenset[str]:
    rows = _said(poppler("pdffonts"), str(path)).splitlines()[2:]
    return frozenset(row.split()[0].partition("+")[2] or row.split()[0] for row in rows)


@pytest.fixture(params=[(ending, name) for ending in ENDINGS for name in DESIGNS], ids="-".join)
def file(request: pytest.FixtureRequest, printed: dict[tuple[str, str], Printed]) -> tuple[str, str, Printed]:
    """Every file: its ending, its design, and how it is printed."""
    ending, name = request.param
    return ending, name, printed[ending, name]


def test_the_large_design_has_about_500_hosts(design: Callable[[str], Plan]) -> None:
    assert 480 <= design("large").totals.hosts <= 520


def test_no_page_is_empty_and_there_are_not_too_many(file: tuple[str, str, Printed]) -> None:
    ending, name, found = file
    assert 5 < len(found.pages) <= MOST_PAGES[ending]
    empty = {at: page.ink for at, page in enumerate(found.pages, 1) if page.ink < LEAST_INK[ending]}
    ends = {len(found.pages)} if (ending, name) == ("docx", "hostile") else set()  # a few sources more
    assert set(empty) <= ends, empty
    bare = [at for at, page in enumerate(found.pages, 1) if len(_body(ending, page)) < 4]
    assert not bare


def _body(ending: str, page: Sheet) -> list[Word]:
    """The words of a page without its footer."""
    below = page.height - (FOOTER if ending != "pptx" else FOOTER / 2)
    return [word for word in page.words if word.bottom < below]


@pytest.mark.parametrize("name", DESIGNS)
def test_pages_of_the_document_are_full_and_nothing_is_left_at_their_foot(
    printed: dict[tuple[str, str], Printed], made: Path, name: str
) -> None:
    pages, heads = printed["docx", name].pages, headers((made / f"{name}-docx.docx").read_bytes())
    assert heads and stranded(pages, heads) == []
    assert {at: page.reach for at, page in enumerate(pages[1:-1], 2) if page.reach < LEAST_REACH} == {}
    if name != "hostile":  # names of 80 letters are broken somewhere
        assert {word for word in broken_words(pages, heads) if re.fullmatch(r"[\w/]+", word)} == set()


def test_every_word_is_on_its_page_and_on_no_other_word(file: tuple[str, str, Printed]) -> None:
    _, _, found = file
    outside, over = [], []
    for at, page in enumerate(found.pages, 1):
        outside += [
            (at, word)
            for word in page.words
            if min(word.left, word.top) < -0.5
            or word.right > page.width + 0.5
            or word.bottom > page.height + 0.5
        ]
        over += [(at, *pair) for pair in _overlapping(page.words)]
    assert not outside
    assert not over


def _overlapping(words: tuple[Word, ...]) -> Iterator[tuple[str, str]]:
    """Words that stand on each other."""
    ranked = sorted(words, key=lambda word: word.top)
    for at, word in enumerate(ranked):
        for other in ranked[at + 1 :]:
            if other.top >= word.bottom:
                break
            wide = min(word.right, other.right) - max(word.left, other.left)
            high = min(word.bottom, other.bottom) - other.top
            least = min(word.bottom - word.top, other.bottom - other.top)
            if wide > 1.0 and high > 0.4 * least:
                yield word.text, other.text


def test_no_text_is_smaller_than_8_points(file: tuple[str, str, Printed]) -> None:
    """LibreOffice shrinks the footer of a sheet that is fitted to its page, though the file says not to; Excel does not."""
    ending, _, found = file
    small = [
        (at, word.text, round(word.points, 1))
        for at, page in enumerate(found.pages, 1)
        for word in (_body(ending, page) if ending == "xlsx" else page.words)
        if word.points < LEAST_POINTS
    ]
    assert not small


@pytest.mark.parametrize("name", DESIGNS)
def test_no_text_in_a_drawing_is_smaller_than_8_points(made: Path, name: str) -> None:
    """Drawings of the document are printed as pictures, so their text is looked up in them."""
    with zipfile.ZipFile(made / f"{name}-docx.docx") as packed:
        document = packed.read("word/document.xml").decode()
        pictures = re.findall(r"<wp:inline.*?</wp:inline>", document, re.DOTALL)
        drawn = [text for text in pictures if "svgBlip" in text]
        assert len(drawn) >= 5
        for inline in drawn:
            called = re.search(r'name="Figure (\d+)"', inline)
            extent = re.search(r'<wp:extent cx="(\d+)"', inline)
            assert called and extent
            svg = packed.read(f"word/media/drawing{called[1]}.svg").decode()
            units = re.search(r'width="([\d.]+)"', svg)
            sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)', svg)]
            assert units and sizes
            points = min(sizes) * int(extent[1]) * DRAWN_POINTS / float(units[1])
            assert points >= LEAST_POINTS, f"figure {called[1]}"


def test_no_sentence_is_on_many_pages(file: tuple[str, str, Printed]) -> None:
    _, _, found = file
    pages: dict[str, set[int]] = defaultdict(set)
    for at, page in enumerate(found.pages, 1):
        for block in page.blocks:
            for sentence in re.split(r"(?<=[.!?]) ", block):
                if len(sentence.split()) > LONG and sentence.endswith((".", "!", "?")):
                    pages[sentence].add(at)
    assert not {sentence: sorted(on) for sentence, on in pages.items() if len(on) > MOST_TIMES}


# What it says


def test_the_figures_of_the_plan_are_where_one_looks_first(
    file: tuple[str, str, Printed], design: Callable[[str], Plan]
) -> None:
    ending, name, found = file
    plan = design(name)
    text = _plain(found.pages[{"docx": 3, "pptx": 1, "xlsx": 0}[ending]].text)
    for figure in (number(plan.totals.hosts), number(plan.totals.gpus), *_net_present(plan)):
        assert re.search(rf"(?<![\d.]){re.escape(_plain(figure))}(?![\d.]*\d)", text), figure


def _net_present(plan: Plan) -> tuple[str, str]:
    """The net present cost as a headline has it, and its range."""
    assert plan.costs is not None and plan.cost_ranges is not None
    ends = plan.cost_ranges.net_present
    money, _, span = headline_money(plan.costs.net_present, plan.costs.currency, ends).partition(" (")
    return money, span.rstrip(")")


def _plain(text: str) -> str:
    """Text with the spaces of a keyboard only."""
    return re.sub(r"\s+", " ", text)


def test_nothing_contradicts_the_plan(file: tuple[str, str, Printed], design: Callable[[str], Plan]) -> None:
    _, name, found = file
    plan = design(name)
    totals = plan.totals
    text = _plain(found.text)
    each = {pool.gpus // pool.hosts for pool in plan.pools}
    allowed = {(totals.hosts, totals.gpus)} | {(pool.hosts, pool.gpus) for pool in plan.pools}
    told = re.findall(r"(\d[\d ]*) hosts? (?:\([^)]*\) )?(?:with|and) (\d[\d ]*) GPUs\b(?! each)", text)
    both = {(_number(hosts), _number(gpus)) for hosts, gpus in told}
    assert {pair for pair in both if pair[1] not in each} <= allowed
    assert (totals.hosts, totals.gpus) in both
    vms = sum(group.vms for group in plan.groups)
    assert {_number(each) for each in re.findall(r"All (\d[\d ]*) planned VMs", text)} <= {vms}
    paid = re.findall(r"costs? ([A-Z]{3} [\d.]+ ?[kM]?) over", text)
    assert set(paid) <= {_plain(_net_present(plan)[0])}


def _number(text: str) -> int:
    return int(text.replace(" ", ""))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_sources_fill_two_pages_at_most(printed: dict[tuple[str, str], Printed], name: str) -> None:
    pages = printed["docx", name].pages
    first = max(at for at, page in enumerate(pages) if "Sources cited" in page.text)
    words = _body("docx", pages[first])
    heading = next(one for one, two in pairwise(words) if (one.text, two.text) == ("Sources", "cited"))
    last = max(word.bottom for word in _body("docx", pages[-1]))
    used = (len(pages) - 1 - first) + (last - heading.top) / pages[first].height
    assert 0 < used <= MOST_SOURCE_PAGES
