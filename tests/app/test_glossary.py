"""The glossary: each term once, short, and one that the app really uses."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.glossary import TERMS, Term, glossary_data
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 200
"""Characters of a meaning, so that it can be read in passing."""


@pytest.fixture(scope="module")
def words() -> str:
    """Everything that the app may say: tables of words, inputs, rules, and the texts of its modules."""
    tables = [path for path in (ROOT / "data" / "words").glob("*.csv") if path.stem != "glossary"]
    tables += [ROOT / "data" / f"{name}.csv" for name in ("inputs", "access_rules", "rules")]
    texts = [path.read_text(encoding="utf-8") for path in tables]
    for path in (ROOT / "gpuplan").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        about = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in about)
        texts += [node.value for node in found if isinstance(node.value, str)]
    return "\n".join(texts)


def test_each_spelling_means_one_thing() -> None:
    spelt = Counter(name.lower() for term in TERMS for name in term.names)
    assert [name for name, times in spelt.items() if times > 1] == []
    assert [term.names[0] for term in TERMS] == sorted((t.names[0] for t in TERMS), key=str.lower)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.names[0])
def test_a_term_is_short_and_is_used(term: Term, words: str, catalog: Catalog) -> None:
    assert len(term.meaning) < LONGEST and term.meaning.endswith(".")
    spelt = "|".join(map(re.escape, term.names))
    assert re.search(rf"(?<![\w-])({spelt})(?!\w)", words, re.IGNORECASE), "no text of the app has it"
    assert not set(term.sources) - set(catalog.sources)


def test_terms_are_the_same_in_every_design(blank: Workbook) -> None:
    terms = glossary_data(blank)["terms"]
    assert len(terms) == len(TERMS) > 40
    shown = {term["names"][0]: term["term"] for term in terms}
    assert (shown["queue"], shown["vGPU"], shown["KV cache"]) == ("Queue", "vGPU", "KV cache")
    blank.open_example("enterprise")
    assert glossary_data(blank)["terms"] == terms
