"""``gpuplan words`` and ``gpuplan report --language FILE``: the texts of the files, for a translator and in another language."""

import argparse
import ast
import csv
import string
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gpuplan.facts import FORMS, PLURAL_RULES, QUOTED, TRANSLATION, did_you_mean, did_you_mean_file, own_rows

SHIPPED = "en"
"""The language of the texts in ``data/words``."""
MOST_FILE_BYTES, MOST_CHARACTERS = 5_000_000, 2_000
COLUMNS = ("file", "key", "column", "text")
"""Columns of a file with texts in another language; further ones, such as the English text, are the translator's."""
TRANSLATED = {
    row["table"]: (row["keys"].split(), row["columns"].split()) for row in own_rows("words/translated")
}
"""Table of texts -> the columns by which a row is known, and those that a reader sees."""
MODELS = "models"
"""Texts of the formulas: what each function of `gpuplan.models` returns."""
CATALOG = {MODELS, *(table for table in TRANSLATED if "/" not in table and table != "inputs")}
"""Tables in which the same English text is translated once; those of words are read as they are."""
Address = tuple[str, str, str]
LANGUAGE: Address = ("report.csv", "wording.language", "text")
"""Address of the code of the language, whose plural forms its texts use."""


class Text(NamedTuple):
    """A text of the files, and its place."""

    table: str
    row: int
    column: str
    english: str


def texts() -> dict[Address, Text]:
    """Return all texts of the files, by file, key and column."""
    found: dict[Address, Text] = {}
    for table, (keys, columns) in TRANSLATED.items():
        quoted, seen = table in CATALOG, set[tuple[str, str]]()
        for at, row in enumerate(own_rows(table)):
            file, key = f"{table.rpartition('/')[2]}.csv", " | ".join(row[name] for name in keys if row[name])
            for name in columns:
                if row[name] and not (quoted and (name, row[name]) in seen):
                    found[file, key, name] = Text(table, at, name, row[name])
                seen.add((name, row[name]))
    for name, text in _formulas():
        found[f"{MODELS}.csv", name, "text"] = Text(MODELS, 0, "text", text)
    return found


def _formulas() -> Iterator[tuple[str, str]]:
    """Yield the functions of the models, and the first sentence of each."""
    root = Path(__file__).parents[1] / MODELS
    for path in sorted(root.rglob("*.py")):
        where = ".".join(path.relative_to(root).with_suffix("").parts)
        for part in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(part, ast.FunctionDef) and part.name[0] != "_" and (doc := ast.get_docstring(part)):
                yield f"{where}.{part.name}", " ".join(doc.split("\n\n", 1)[0].split())


def run_words(args: argparse.Namespace) -> int:
    write, english = csv.writer(sys.stdout, lineterminator="\n").writerow, texts()
    translation = _translation(args.check, english) if args.check else {}
    write((*COLUMNS, "english"))
    for address, text in english.items():
        if address not in translation:
            write((*address, "", text.english))
    return int(bool(args.check) and _told_missing(args.check, english, translation))


def _told_missing(path: Path, english: dict[Address, Text], translation: dict[Address, str]) -> bool:
    """Return whether a translation lacks texts, and say how many."""
    if left := len(english) - len(translation):
        print(f"{path.name} lacks {left} of {len(english)} texts; they stay English.", file=sys.stderr)
    return left > 0


def put_into_language(words: Sequence[str]) -> None:
    """Lay the texts of ``--language FILE`` over the English ones, before any text is read."""
    early = argparse.ArgumentParser(prog="gpuplan report", add_help=False)
    early.add_argument("--language", default=SHIPPED)
    language = early.parse_known_args(words)[0].language
    if language == SHIPPED:
        return
    path, english = Path(language), texts()
    translation = _translation(path, english)
    rule = _plural_rule(translation.get(LANGUAGE, SHIPPED))
    if "gpuplan.wording" in sys.modules:
        wrong = ("--language", language, "a language for a command of its own; here texts are already read")
        raise _refusal([wrong])
    PLURAL_RULES.append(rule)
    for address, translated in translation.items():
        text = english[address]
        in_spaces = text.english.replace(text.english.strip(), translated)
        if text.table in CATALOG:
            QUOTED.setdefault((text.table, text.column), {})[text.english] = in_spaces
        else:
            TRANSLATION.setdefault(text.table, {}).setdefault(text.row, {})[text.column] = in_spaces
    _told_missing(path, english, translation)


def _translation(path: Path, known: dict[Address, Text]) -> dict[Address, str]:
    """Return the texts of a file, checked: a ScenarioError names all invalid ones."""
    problems, translated = list[tuple[str, str, str]](), dict[Address, str]()
    for row in _rows(path):
        address: Address = (row["file"], row["key"], row["column"])
        text, where = row["text"].strip(), " / ".join(("language", *(part[:80] for part in address)))
        if address not in known:
            problems.append((where, *_unknown(address, known)))
        elif address in translated:
            problems.append((where, repr(text[:80]), "one text for each file, key and column"))
        elif wrong := _wrong(text, known[address].english):
            problems.append((where, repr(text[:80]), wrong))
        elif text:
            translated[address] = text
    if problems:
        raise _refusal(problems)
    return translated


def _plural_rule(language: str) -> Callable[[Any], str]:
    """Return the rule for the plural categories of a language, as CLDR has it."""
    if language == SHIPPED:
        return PLURAL_RULES[0]
    try:
        from babel import Locale, UnknownLocaleError  # only for another language
    except ModuleNotFoundError:
        raise _refusal(
            [("--language", repr(language[:80]), 'en without babel: pip install "gpuplan[export]"')]
        ) from None
    try:
        return Locale.parse(language, sep="-").plural_form
    except (UnknownLocaleError, ValueError):
        place = " / ".join(("language", *LANGUAGE))
        raise _refusal([(place, repr(language[:80]), "a language of CLDR, such as de or pt-BR")]) from None


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        allowed = f"en, or a file that can be read ({error.strerror}){did_you_mean_file(path, (SHIPPED,))}"
        raise _refusal([("--language", repr(str(path)), allowed)]) from None
    if len(content) > MOST_FILE_BYTES:
        raise _refusal([("--language", f"{len(content)} bytes", f"at most {MOST_FILE_BYTES} bytes")])
    try:
        read = csv.DictReader(content.decode("utf-8-sig").splitlines(), restval="", strict=True)
        if set(COLUMNS) - set(read.fieldnames or ()):
            wrong = ("--language", repr(path.name), f"a CSV file with the columns {', '.join(COLUMNS)}")
            raise _refusal([wrong])
        yield from read
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refusal([("--language", repr(path.name), f"a CSV file in UTF-8 ({error})")]) from None


def _unknown(address: Address, known: dict[Address, Text]) -> tuple[str, str]:
    """Return the first part of an address that is unknown, and the parts allowed there."""
    at = next(at for at, part in enumerate(address) if part not in _next(address[:at], known))
    allowed = _next(address[:at], known)
    near = did_you_mean(address[at], allowed)
    if COLUMNS[at] == "key":
        return repr(address[at][:80]), f"a key of {address[0]}{near or '; gpuplan words prints all'}"
    return repr(address[at][:80]), f"one of {', '.join(allowed)}{near}"


def _next(begin: tuple[str, ...], known: dict[Address, Text]) -> list[str]:
    """Return the parts that can follow the beginning of an address."""
    return list(dict.fromkeys(address[len(begin)] for address in known if address[: len(begin)] == begin))


def _wrong(text: str, english: str) -> str:
    """Say what a text must have and lacks; nothing if all is well."""
    if len(text) > MOST_CHARACTERS or any(ord(char) < 32 for char in text):
        return f"a text of at most {MOST_CHARACTERS} characters on one line"
    try:
        words = set(_placeholders(text))
    except ValueError as error:
        return f"words in braces closed and not nested ({error})"
    if text and FORMS.match(english) and not (FORMS.match(text) and "other=" in text):
        return f"forms by number, one of them other: {english}"
    return _wrong_words(words, set(_placeholders(english))) if text else ""


def _wrong_words(words: set[tuple[str, str]], meant: set[tuple[str, str]]) -> str:
    """Say what is wrong with the placeholders of a text, from those of the English one; nothing if all is well."""
    forms = {each for each in words if FORMS.match(each[1])}
    if any("other=" not in form for _, form in forms):
        return "forms by number, one of them other: {hosts:one=# host|other=# hosts}"
    names, needed = {name for name, _ in meant}, {name for name, form in meant if form[:1] != "~"}
    allowed = meant | {(name, "") for name in names}
    if needed <= {name for name, _ in words} <= names and words - forms <= allowed:
        return ""
    return f"the words in braces of the English text: {', '.join(_braced(meant)) or 'none'}"


def _braced(placeholders: Iterable[tuple[str, str]]) -> list[str]:
    return sorted(f"{{{name}:{form}}}" if form else f"{{{name}}}" for name, form in placeholders)


def _placeholders(text: str) -> Iterator[tuple[str, str]]:
    """Return name and format of each placeholder of a text."""
    for _, name, form, conversion in string.Formatter().parse(text):
        if name is not None:
            yield f"{name}!{conversion}" if conversion else name, form or ""


def _refusal(problems: Iterable[tuple[str, str, str]]) -> Exception:
    """Return the error that names place, value and allowed values; its modules are loaded when there is one."""
    from gpuplan.scenario import Problem, ScenarioError

    return ScenarioError([Problem(*problem) for problem in problems])
