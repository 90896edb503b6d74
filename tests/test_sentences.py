"""No test compares a sentence of the product: it asks for figures and codes, and ``tests/golden/texts.json`` has the words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SENTENCE = 4
"""Words from which on a text is a sentence."""

CODE = "code"
MARKUP = "markup and fonts"
OWN = "text that the test put in"
TOOLS = "what the tools of these tests print"
OTHERS = "text of another program or publisher"
EXEMPT = {
    "serve/test_hub.py::hub": OTHERS,
    "serve/test_server.py::test_headers": CODE,
    "app/test_browser.py::test_why_explains_a_figure_down_to_its_inputs": OTHERS,
    "deliver/infrastructure/test_kubernetes.py::test_classes_are_those_of_the_table": CODE,
    "deliver/document/test_docx_file.py": OWN,
    "deliver/document/test_html_file.py": MARKUP,
    "deliver/test_pptx.py::test_a_template_keeps_its_looks_and_loses_its_slides": OWN,
    "deliver/test_pptx.py::test_the_appendix_has_every_decision_and_what_is_to_confirm": OTHERS,
    "report/test_text.py": OWN,
    "scenario/test_hosts_and_vms.py": "the text is the format that is parsed",
    "test_approved.py": OWN,
    "test_golden.py": "keys and values",
    "test_mutants.py": TOOLS,
    "test_near.py": TOOLS,
    "test_notebooks.py": CODE,
    "test_parts.py": TOOLS,
    "test_voice.py": "the project's own prose",
    "widgets/test_kept.py": MARKUP,
}
"""File, or test of a file -> why its texts are compared as they are."""


def literals(node: ast.AST) -> Iterator[str]:
    """The texts that a compared value is made of; a key that is looked up and an argument are none of them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in values)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from literals(item)
        case ast.Dict(keys=keys, values=values):
            for item in (*filter(None, keys), *values):
                yield from literals(item)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            yield from literals(left)
            yield from literals(right)
        case ast.Starred(value=value):
            yield from literals(value)


def is_sentence(text: str) -> bool:
    """Whether a text has the words of a sentence."""
    return " " in text and len(re.findall(r"[A-Za-z]{2,}", text)) >= SENTENCE


def compared_sentences(source: str) -> list[tuple[str, int, str]]:
    """Function, line and text of each sentence that is compared."""
    found = []
    for top in ast.parse(source).body:
        name = getattr(top, "name", "")
        for node in ast.walk(top):
            texts = [text for side in sides(node) for text in literals(side)]
            found += [(name, node.lineno, text) for text in texts if is_sentence(text)]
    return found


def sides(node: ast.AST) -> Sequence[ast.expr]:
    """What a node compares."""
    match node:
        case ast.Compare(left=left, comparators=others):
            return left, *others
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=arguments):
            return arguments
    return ()


@cache
def compared() -> dict[str, str]:
    """Each sentence that a test compares -> the key of ``EXEMPT`` that would let it: its file, or the test in it."""
    found = {}
    for path in sorted(TESTS.rglob("*.py")):
        file = path.relative_to(TESTS).as_posix()
        for test, line, text in compared_sentences(path.read_text(encoding="utf-8")):
            found[f"{file}:{line}: {text}"] = file if file in EXEMPT else f"{file}::{test}"
    return found


def test_sentences_are_approved_texts() -> None:
    left = [place for place, key in compared().items() if key not in EXEMPT]
    assert not left, "\n".join(["use is_approved or has_approved (tests/approved.py):", *left])


def test_every_exemption_is_needed() -> None:
    assert set(EXEMPT) <= set(compared().values())


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("assert text == 'It takes eight hosts.'", ["It takes eight hosts."]),
        ("assert 'It takes eight hosts.' not in text", ["It takes eight hosts."]),
        ("assert f'It takes {n} hosts now' in text", ["It takes … hosts now"]),
        ("assert (a, [b]) == (1, ['It takes eight hosts.'])", ["It takes eight hosts."]),
        ("assert a == {'x': 'It takes ' + 'It takes eight hosts.'}", ["It takes eight hosts."]),
        ("assert any('It takes eight hosts.' in text for text in texts)", ["It takes eight hosts."]),
        ("assert text.startswith('It takes eight hosts')", ["It takes eight hosts"]),
        ("assert table['Cost of the whole plan'] == 8", []),
        ("assert read('It takes eight hosts.') == 8", []),
        ("assert code == 'not-enough-hosts-there'", []),
        ("assert text == '8 hosts, 32 GPUs, 2 racks'", []),
    ],
)
def test_a_compared_sentence_is_found(source: str, texts: list[str]) -> None:
    assert [text for _, _, text in compared_sentences(source)] == texts
