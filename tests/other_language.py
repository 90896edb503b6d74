"""Files in a made-up language, and what is left in them of English.

The language has each row of ``gpuplan words`` in letters of its own and the plural forms of Czech. ``python tests/other_language.py FOLDER
DESIGN ...`` makes the files of designs in it, in a process of its own, because texts are read once.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import yaml

from gpuplan.facts import data_root, own_rows

if TYPE_CHECKING:
    from gpuplan.scenario import Scenario

LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "åƀçđéƒǧħíĵķļɱñøþɋřšŧüṽŵẋýžÅßÇĐÉƑǦĦÍĴĶĻṀÑØÞɊŘŠŦÜṼŴẊÝŽ",
)
KEPT = re.compile(r"(\{[^{}]*\}|<[^<>]*>|https?://\S+)")
"""Parts of a text that are no words: values, marks and addresses."""
VERB = re.compile(r"\{([^{}:]*):~(\w+)\}")
IDENTIFIERS = re.compile(
    r"https?://\S+|\b(?=\w*\d)[0-9a-f]{12}\b|(?<![\w.])[a-z][\w-]*(?:\.[\w*<>@-]+)+|\b[a-z]+\d*(?:_\w+)+|\b\w+(?:[-/]\w+)+(?:_\w+)*|\bvmnic\d+|\bpciPassthru\w*"
)
"""Names in code and paths of inputs; words with a hyphen, most of which are ids and versions, too."""
SYMBOLS = re.compile(
    r"\b(?:[KMGT]i?B|[KMGT]?bit/s|[kMG]Wh?|BTU/h|GHz|USD|EUR|INR|JPY|UTC|TFLOP/s|GPUs?|vGPU|CPU|VMs?|RAM|MTU|NVLink|ESXi?|NVMe|RDMA"
    r"|PCIe|RoCE|vSAN|vSphere|NSX|MIG|NVIDIA|VMware|AMD|Intel|DRS|PVRDMA|QSFP\w*|SFP\w*|SXM\d?|gpuplan|min|vMotion)\b"
)
CUT = re.compile("[^;:,|]*\u2026[^;:,|]*")
"""A name that is cut for its place."""
WORD = re.compile("[A-Za-z]{3,}")
PATHS = ("gpu", "vgpu", "passthrough", "name", "customer", "groups", "hosts", "gpus", "Sheet1", "draft")
"""Paths of inputs, names of cells and typed values that are one word."""
CHOICES = re.compile(
    "|".join(sorted({w for row in own_rows("inputs") for w in row["choices"].split("|") if w}, reverse=True))
)
"""What may be typed, which is the same in any language."""
NAME_COLUMNS = (
    "title",
    "producer",
    "url",
    "locator",
    "name",
    "id",
    "item",
    "provider",
    "instance",
    "server",
    "gpu",
)
"""Columns of the catalog whose cells are names, and stay as they are in any language."""
NAME_PARAMETERS = ("name", "vendor", "socket", "form_factor")
ATTRIBUTES = {"descr", "title", "alt", "aria-label", "placeholder", "label", "prompt", "promptTitle", "error"}
NO_TEXTS = (
    "styles",
    "theme",
    "fontTable",
    "settings",
    "Content_Types",
    "numbering",
    "app.xml",
    "Props",
    "Layout",
    "Master",
)
"""Parts of an Office file that no reader reads."""


def translated(address: tuple[str, str, str], text: str) -> str:
    """A text as this language has it."""
    if address == ("report.csv", "wording.language", "text"):
        return "cs"
    if re.match(r"one=|other=", text):
        return "|".join(
            f"{form.split('=')[0]}={form.split('=')[1].translate(LETTERS)}" for form in text.split("|")
        )
    text = VERB.sub(
        lambda verb: f"{{{verb[1]}:few={verb[2].translate(LETTERS)}|other={verb[2].translate(LETTERS)}}}",
        text,
    )
    return "".join(part if at % 2 else part.translate(LETTERS) for at, part in enumerate(KEPT.split(text)))


def written_language(folder: Path) -> Path:
    """The file of this language, of all texts."""
    from gpuplan.cli.language import COLUMNS, texts

    path = folder / "made-up.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(COLUMNS)
        for address, text in texts().items():
            write((*address, translated(address, text.english.strip())))
    return path


def made(folder: Path, *designs: str) -> Path:
    """The folder with the files of designs in this language, one folder for each."""
    command = [sys.executable, __file__, str(folder), *designs]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return folder


def english(folder: Path, design: str) -> dict[str, str]:
    """English texts in the files of a design -> the file."""
    kept, left = _names(design), dict[str, str]()
    for place, text in texts_of(folder / design):
        bare = IDENTIFIERS.sub(" ", _without_names(" ".join(text.split()), kept, " "))
        bare = _without_names(SYMBOLS.sub(" ", CUT.sub(" ", bare)), kept)
        if WORD.search(bare) and text not in PATHS:
            left.setdefault(text, place)
    return left


def texts_of(folder: Path) -> Iterator[tuple[str, str]]:
    """(file, text) of all that a reader reads in Office files and pages."""
    for path in sorted(folder.iterdir()):
        if path.suffix in (".docx", ".pptx", ".xlsx"):
            yield from _office(path.read_bytes(), path.name)
        elif path.suffix == ".html":
            yield from _page(path.read_text(encoding="utf-8"), path.name)


def languages_of(folder: Path) -> Iterator[tuple[str, str]]:
    """(file, language) of all that names its language in documents, decks and pages."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".html":
            yield path.name, re.findall(r'<html lang="([^"]*)"', path.read_text(encoding="utf-8"))[0]
        elif path.suffix in (".docx", ".pptx"):
            with zipfile.ZipFile(path) as parts:
                texts = (
                    parts.read(name).decode()
                    for name in parts.namelist()
                    if name.startswith(("ppt/slides/slide", "word/styles.xml"))
                )
                for language in re.findall(r'(?:\blang|<w:lang w:val)="([^"]*)"', "".join(texts)):
                    yield path.name, language


@cache
def _names(design: str) -> Mapping[str, list[str]]:
    """First word -> names that stay as they are: of sources, products, and what the scenario says."""
    names = set[str]()
    for path in data_root().glob("*.csv"):
        for row in own_rows(path.stem):
            names |= {row[column] for column in NAME_COLUMNS if row.get(column)}
            names |= {row["value"]} if row.get("parameter") in NAME_PARAMETERS and "value" in row else set()
    names |= {name.replace("-", " ").replace("/", " ").capitalize() for name in names}
    known = scenarios()
    for each in (design, *BESIDE.get(design, ())):
        typed = {
            *_strings(yaml.safe_load(known[each].to_yaml())),
            *filter(None, [known[each].hardware.kinds]),
        }
        names |= typed | {name for text in typed for name in re.findall(r"[A-Z]\w{3,}", text)}
        names |= {name.lower() for name in names & set(re.findall(r"[A-Z]\w{3,}", " ".join(typed)))}
    for row in own_rows("prices"):  # some words of an id are worded as elsewhere
        pieces = re.split(r"\b(?:gpus?|vcf|rdma|tcp)\b", row["id"].replace("-", " "))
        names |= {piece.strip() for piece in pieces} | {pieces[0].strip().capitalize()}
    names |= {name.capitalize().replace("-", " ") for name in names}
    listed: dict[str, list[str]] = {}
    for name in sorted((" ".join(name.split()) for name in names if len(name) > 2), key=len, reverse=True):
        if words := WORD.search(name):
            listed.setdefault(words[0], []).append(name)
    return listed


def _without_names(text: str, names: Mapping[str, list[str]], containing: str = "") -> str:
    found = [name for word in set(WORD.findall(text)) for name in names.get(word, ()) if containing in name]
    for name in sorted(found, key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def _strings(part: object) -> Iterator[str]:
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _strings(inner)
    elif isinstance(part, str):
        yield part


def _office(content: bytes, place: str) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        for name in parts.namelist():
            if name.endswith((".xlsx", ".docx")):
                yield from _office(parts.read(name), f"{place}/{name}")
            elif name.endswith(".svg"):
                yield from _drawing(parts.read(name).decode(), f"{place}/{name}")
            elif name.endswith(".xml") and not any(part in name for part in NO_TEXTS):
                yield from _part(ElementTree.fromstring(parts.read(name)), f"{place}/{name}")


def _part(root: ElementTree.Element, place: str) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if tag in ("p", "si", "is"):
            yield place, "".join(each.text or "" for each in element.iter() if each.tag.endswith("}t"))
        elif tag == "v" and "chart" in place:
            yield place, element.text or ""
        for name, value in element.attrib.items():
            if name in ATTRIBUTES or (name, tag) == ("name", "sheet"):
                yield place, CHOICES.sub("", value) if name == "prompt" else value


def _page(page: str, place: str) -> Iterator[tuple[str, str]]:
    for drawing in re.findall(r"data:image/svg\+xml;base64,([^\"')]+)", page):
        yield from _drawing(base64.b64decode(drawing).decode(), place)
    page = re.sub(r"<(style|script|head)\b.*?</\1>", "", page, flags=re.DOTALL)
    for text in re.findall(r'\b(?:alt|title|aria-label|placeholder|label)="([^"]*)"', page):
        yield place, html.unescape(text)
    for block in re.split(
        r"</?(?:p|li|t[dh]|h\d|text|figcaption|caption|div|span|d[td]|summary|button|label)\b[^>]*>", page
    ):
        yield place, html.unescape(re.sub("<[^>]*>", "", block))


def _drawing(drawing: str, place: str) -> Iterator[tuple[str, str]]:
    """The texts of a drawing as one, because a name may go on in the next line."""
    texts = [html.unescape(text) for text in re.findall(r"<(?:text|tspan|title)\b[^>]*>([^<]+)<", drawing)]
    yield place, " ".join(texts)


DESIGNS = (
    *("enterprise", "assistant", "starter", "current", "existing", "kinds", "no-group", "pods", "reused"),
    *("sites", "tenants"),
)


def scenarios() -> dict[str, Scenario]:
    """Name -> scenario of designs whose files hold other texts than those of the examples."""
    from infrastructure_designs import EXAMPLES, SCENARIOS
    from kinds_of_hosts import design

    from gpuplan.scenario import from_dict

    current = SCENARIOS["current"]
    tenants = current.to_dict()
    for group, tenant in zip(tenants["groups"], ("Bank", "Fund", "Bank", "Fund"), strict=False):
        group["tenant"] = tenant
    return {name: SCENARIOS[name] for name in (*EXAMPLES, "existing", "sites", "pods", "no-group")} | {
        "kinds": from_dict(design()),
        "tenants": from_dict(tenants | {"availability": {"tenants_apart": "cluster"}}),
        "reused": current.with_value("hardware.existing", "Old: 20 x 4 a100-pcie-80gb"),
    }


BESIDE = {"starter": ("enterprise",)}


if __name__ == "__main__":
    from gpuplan.cli.language import put_into_language

    made_in, *designs = sys.argv[1:]
    put_into_language(["report", "--language", str(written_language(Path(made_in)))])

    from gpuplan.catalog import load_catalog
    from gpuplan.deliver import pdf
    from gpuplan.deliver.bundle import KINDS, design_files
    from gpuplan.plan import make_plan

    pdf.PROGRAMS = pdf.PLACES = ()
    known = scenarios()
    for design in designs:
        folder = Path(made_in) / design
        folder.mkdir(exist_ok=True)
        kinds = [kind for kind in ("html", "docx", "pptx", "xlsx", "whatif", "brief") if kind in KINDS]
        plan, *others = (make_plan(known[name], load_catalog()) for name in (design, *BESIDE.get(design, ())))
        for name, content in design_files(plan, kinds, beside=others).items():
            (folder / name).write_bytes(content)
