"""``gpuplan words`` and ``gpuplan report --language FILE``."""

from __future__ import annotations

import base64
import csv
import html
import io
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved
from command_line import run
from docx import Document
from pptx import Presentation

from gpuplan.cli.language import CATALOG, LANGUAGE, MODELS, MOST_FILE_BYTES, TRANSLATED, Address, texts
from gpuplan.facts import FORMS, TRANSLATION, data_root, own_rows

NOT_READ_IN_FILES = {
    *(
        "about_modes",
        "cells",
        "alike_models",
        "chapters",
        "columns",
        "commands",
        "config_fields",
        "compared",
        "cost_parts",
        "figures",
        "screen",
        "tiles",
        "estate_columns",
        "input_places",
        "kinds",
        "locales",
        "options",
        "pages",
        "requirements",
        "sentences",
        "benchmark_fields",
        "trace_advice",
        "trace_columns",
        "trace_units",
        "translated",
        "usual_boards",
        "workload_inputs",
    )
}
"""Tables of the app, of what is read, and of tests."""
HEAD = "file,key,column,text\n"
MOST_ENGLISH = {"paragraphs": 0, "slides": 0}
"""Texts of the enterprise example that stand in Python or quote the catalog, apart from its list of sources; fewer are welcome."""
UNITS = r"\b(?:USD|TB|Gbit/s|BTU/h)\b"
SENTENCE = r"(?<!\w)[a-z]{2,}(?:,? [a-z]{2,}){2,}(?!\w)"
"""Three or more words one after the other that begin with a small letter."""


def file_of(folder: Path, *rows: str) -> Path:
    path = folder / "de.csv"
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def report(design: str, folder: Path, language: Path, *kinds: str) -> subprocess.CompletedProcess[str]:
    """The files in a language, made by a process of its own."""
    only = [word for kind in kinds for word in ("--only", kind)]
    command = [sys.executable, "-m", "gpuplan.cli", "report", design, "--to", str(folder), *only]
    return subprocess.run([*command, f"--language={language}"], capture_output=True, text=True, check=True)


def refused(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    code, out, err = run(capsys, "report", "starter", "--to", str(path.parent), "--language", str(path))
    assert (code, out) == (2, "") and "Traceback" not in err
    return err


def test_every_table_of_words_is_translated_or_known_not_to_be() -> None:
    tables = {f"words/{path.stem}" for path in (data_root() / "words").glob("*.csv")}
    assert tables == {*TRANSLATED, *(f"words/{name}" for name in NOT_READ_IN_FILES)} - {"inputs", *CATALOG}


def test_every_text_has_an_address_of_its_own() -> None:
    cells = {
        table: [(column, row[column]) for row in own_rows(table) for column in columns if row[column]]
        for table, (_, columns) in TRANSLATED.items()
    }
    count = sum(len(set(found) if table in CATALOG else found) for table, found in cells.items())
    assert len([text for text in texts().values() if text.table != MODELS]) == count


def test_words_prints_a_file_to_fill_in(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "words")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, err) == (0, "") and len(rows) == len(texts())
    assert {row["text"] for row in rows} == {""}
    assert {
        "file": "names.csv",
        "key": "owner | vendor",
        "column": "name",
        "text": "",
        "english": "Vendor",
    } in rows


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("raport.csv,x,text,y", "'raport.csv' is not valid: one of access_rules.csv, "),
        ("report.csv,deck.column.hosst,text,y", "did you mean deck.column.hosts"),
        ("report.csv,~,text,y", "'~' is not valid: a key of report.csv; gpuplan words prints all"),
        ("report.csv,deck.column.hosts,words,y", "'words' is not valid: one of text"),
        ('report.csv,deck.column.cost,text,"Kosten, {money}"', "the words in braces of the English text: {currency}"),
        ("report.csv,deck.column.cost,text,Kosten", "'Kosten' is not valid: the words in braces"),
        ("report.csv,deck.column.cost,text,Kosten {currency.x}", "the words in braces of the English text"),
        ("report.csv,deck.column.cost,text,Kosten {currency!r}", "the words in braces of the English text"),
        ("report.csv,deck.column.cost,text,Kosten {currency:>999}", "the words in braces of the English text"),
        ("report.csv,deck.column.hosts,text,{currency}", "the words in braces of the English text: none"),
        ("report.csv,deck.column.cost,text,Kosten {currency", "words in braces closed and not nested"),
        (f"report.csv,deck.column.hosts,text,{'y' * 2001}", "a text of at most 2000 characters on one line"),
        ("names.csv,noun | host,name,Rechner", "forms by number, one of them other: one=host|other=hosts"),
        ("report.csv,build.start,text,{vms:one=VM}", "forms by number, one of them other"),
        ("report.csv,wording.language,text,xx", "'xx' is not valid: a language of CLDR, such as de or pt-BR"),
        ("report.csv,deck.column.hosts,text,a\nreport.csv,deck.column.hosts,text,b", "one text for each file, key"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, row: str, said: str
) -> None:
    err = refused(capsys, file_of(tmp_path, row))
    assert said in err and err.startswith(f"language / {row.split(',')[0]} / {row.split(',')[1]} / ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"key,text\n", "'de.csv' is not valid: a CSV file with the columns file, key, column, text"),
        (b"", "a CSV file with the columns"),
        (b"file,key,column,text\n\xff", "'de.csv' is not valid: a CSV file in UTF-8"),
        (b'file,key,column,text\n"a"b,c', "a CSV file in UTF-8"),
        (b"x" * (MOST_FILE_BYTES + 1), "at most 5000000 bytes"),
    ],
    ids=("columns", "empty", "bytes", "quotes", "long"),
)
def test_a_file_of_another_kind_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "de.csv"
    path.write_bytes(content)
    assert said in refused(capsys, path)


def test_a_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file_of(tmp_path)
    err = refused(capsys, tmp_path / "dd.csv")
    assert has_approved(err) and has_approved(err, "de.csv")


def test_texts_that_are_read_stay_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    err = refused(capsys, file_of(tmp_path, "report.csv,deck.column.hosts,text,Rechner"))
    assert has_approved(err) and not TRANSLATION


def test_the_files_speak_the_language_and_what_is_not_translated_is_counted(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        "\ufeffreport.csv,deck.column.hosts,text,",
        "report.csv,acceptance.title,text,Abnahme",
        "names.csv,month | 5,name,Mai",
    )
    path.write_text(path.read_text(encoding="utf-8").replace("\ufeff", ""), encoding="utf-8-sig")
    done = report("starter", tmp_path, path, "html")
    assert re.findall(r"\d+", done.stderr) == [str(len(texts()) - 2), str(len(texts()))]
    made = next(tmp_path.glob("*.html")).read_text(encoding="utf-8")
    assert "Abnahme" in made and "Acceptance</h" not in made


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Document, page, deck and workbook of an example in a language that puts each text in brackets."""
    folder = tmp_path_factory.mktemp("pseudo")
    with (folder / "pseudo.csv").open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(HEAD.strip().split(","))
        for address, text in texts().items():
            write((*address, in_brackets(address, text.english.strip())))
    done = report("enterprise", folder, folder / "pseudo.csv", "docx", "html", "pptx", "xlsx")
    assert done.stderr == ""
    return folder


def in_brackets(address: Address, text: str) -> str:
    """A text as if translated: each of its forms by number in brackets, the language English."""
    if address == LANGUAGE:
        return "en"
    if FORMS.match(text):
        return "|".join(re.sub("=(.*)", "=\u27e6\\1\u27e7", form) for form in text.split("|"))
    return f"\u27e6{text}\u27e7"


def without_brackets(text: str) -> str:
    """What stands in no brackets, with a line in place of each text that does."""
    while text != (text := re.sub("\u27e6[^\u27e6\u27e7]*\u27e7", "|", text)):
        pass
    return text


def english(found: Iterable[str]) -> list[str]:
    """Those that are not translated: words outside of brackets that are no unit and not the name of the design."""
    left = []
    for text in dict.fromkeys(found):
        bare = re.sub(UNITS, "", text.replace("Enterprise example", ""))
        if re.search("[A-Za-z]{3,}", without_brackets(bare)):
            left.append(text)
    return left


def test_no_heading_caption_or_head_of_a_table_is_in_python(pseudo: Path) -> None:
    document, deck = Document(str(pseudo / "enterprise-example.docx")), slides(pseudo)
    named = ("Heading", "Title", "Caption")
    heads = [each.text for each in document.paragraphs if each.style.name.startswith(named)]
    heads += [cell.text for table in document.tables[1:] for cell in table.rows[0].cells]
    heads += [cell.text for shape in deck if shape.has_table for cell in shape.table.rows[0].cells]
    assert len(heads) > 300 and not english(heads)


def test_few_sentences_are_in_python(pseudo: Path) -> None:
    paragraphs = [each.text for each in Document(str(pseudo / "enterprise-example.docx")).paragraphs]
    sentences = [text for text in paragraphs if not re.match(r"\d+\t", text)]
    told = [
        each.text for shape in slides(pseudo) if shape.has_text_frame for each in shape.text_frame.paragraphs
    ]
    left = {"paragraphs": english(sentences), "slides": english(told)}
    assert {kind: len(found) for kind, found in left.items()} == MOST_ENGLISH, left


def test_sentences_of_page_and_drawings_are_in_the_language_or_from_the_catalog(pseudo: Path) -> None:
    page = (pseudo / "enterprise-example.html").read_text(encoding="utf-8")
    drawings = [
        base64.b64decode(drawing).decode()
        for drawing in re.findall('data:image/svg\\+xml;base64,([^"]+)', page)
    ]
    assert len(drawings) > 5
    told = [" ".join(found) for found in map(texts_between, drawings)]  # a text may go on in the next line
    told += [html.unescape(alt) for alt in re.findall('alt="([^"]*)"', page)]
    told += texts_between(re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL))
    given = written_by_hand()
    sentences = [found for text in told for found in re.findall(SENTENCE, without_brackets(text))]
    assert len(told) > 1000 and not [each for each in sentences if each not in given]


def texts_between(page: str) -> list[str]:
    """The texts between the tags of a page or of a drawing; a link or an emphasis ends none."""
    blocks = re.split(r"</?(?:p|li|t[dh]|h\d|text|title|figcaption|caption)\b[^>]*>", page)
    return [" ".join(html.unescape(re.sub("<[^>]*>", "", block)).split()) for block in blocks]


def written_by_hand() -> str:
    """Catalog and examples, whose words stay as they are."""
    translated = {data_root() / f"{table}.csv" for table in TRANSLATED if table not in CATALOG}
    files = [*data_root().rglob("*.csv"), *data_root().rglob("*.yaml")]
    found = " ".join(path.read_text(encoding="utf-8") for path in files if path not in translated)
    return " ".join(found.replace('""', '"').split())


def slides(folder: Path) -> list[Any]:
    """All shapes of the deck."""
    return [
        shape
        for slide in Presentation(str(folder / "enterprise-example.pptx")).slides
        for shape in slide.shapes
    ]
