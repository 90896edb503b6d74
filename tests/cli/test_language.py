"""``gpuplan words`` and ``gpuplan report --language FILE``."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from approved import has_approved
from command_line import run
from other_language import DESIGNS, english, languages_of, made, texts_of, written_language
from random_cases import of_the_day

from gpuplan.catalog import load_catalog
from gpuplan.cli.language import CATALOG, MODELS, MOST_FILE_BYTES, TRANSLATED, texts
from gpuplan.deliver.bundle import design_files
from gpuplan.facts import TRANSLATION, data_root, own_rows
from gpuplan.plan import make_plan
from gpuplan.scenario import load_scenario

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


def test_words_counts_and_names_what_a_translation_lacks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = file_of(tmp_path, "report.csv,acceptance.title,text,Abnahme")
    code, out, err = run(capsys, "words", "--check", str(path))
    lacking = {(row["file"], row["key"], row["column"]) for row in csv.DictReader(io.StringIO(out))}
    assert code == 1 and lacking == set(texts()) - {("report.csv", "acceptance.title", "text")}
    assert re.findall(r"\d+", err) == [str(len(texts()) - 1), str(len(texts()))]
    assert run(capsys, "words", "--check", str(written_language(tmp_path)))[::2] == (0, "")


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


@pytest.mark.slow
@pytest.mark.parametrize("design", of_the_day(DESIGNS, few=2))
def test_a_made_up_language_leaves_no_english_in_the_files(design: str, tmp_path: Path) -> None:
    left = english(made(tmp_path, design), design)
    assert {language for _, language in languages_of(tmp_path / design)} == {"cs"}
    assert not left, "\n".join(f"{place}: {text[:200]}" for text, place in left.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locale", "mixed"),
    of_the_day(
        [("en-IN", r"\d,\d{3},\d{3}"), ("de-DE", r"\d,\d{3},\d|\d\u202f\d"), ("ja-JP", r"\d\u202f\d")], few=1
    ),
)
def test_figures_of_a_page_are_grouped_alike(locale: str, mixed: str, tmp_path: Path) -> None:
    scenario = (
        load_scenario("enterprise").with_value("format.locale", locale).with_value("cost.currency", "INR")
    )
    scenario = scenario.with_value("cost.usd_rate", 84.0)
    for name, content in design_files(make_plan(scenario, load_catalog()), ("html", "docx", "pptx")).items():
        (tmp_path / name).write_bytes(content)
    wrong = {text: place for place, text in texts_of(tmp_path) if re.search(mixed, text)}
    assert not wrong, "\n".join(f"{place}: {text[:200]}" for text, place in wrong.items())


def test_a_translation_has_the_plural_forms_of_its_language(tmp_path: Path) -> None:
    rows = (
        "report.csv,wording.language,text,cs",
        "names.csv,noun | host,name,one=host|few=hosty|other=hostů",
        "report.csv,wording.no,text,žádný {unit}",
        "report.csv,rehearsal.up to,text,{most}",
    )
    path = file_of(tmp_path, *rows)
    code = (
        "from gpuplan.cli.language import put_into_language\n"
        f"put_into_language(['report', '--language', {str(path)!r}])\n"
        "from gpuplan.wording import amount, counted, form\n"
        "print([amount(n, 'host') for n in (1, 3, 5)], counted(0, 'host'), form('0=nic|one=#x|other=#y', 0), form('one=# a|few=# b|other=# c', 2))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.findall(r"\w+", done.stdout) == [
        "1",
        "host",
        "3",
        "hosty",
        "5",
        "hostů",
        "žádný",
        "hostů",
        "nic",
        "2",
        "b",
    ]
