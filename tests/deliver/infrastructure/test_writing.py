"""How the files are written: a name means itself in HCL, YAML and Markdown."""

from __future__ import annotations

import json

import pytest

from gpuplan.deliver.infrastructure.writing import (
    _aligned,
    _in_yaml,
    _markdown,
    in_quotes,
    one_line,
)


def test_a_text_is_on_one_line() -> None:
    assert one_line(" a\n\tb\u202e \x00c ") == "a b c"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "a"', r"say \"a\""),
        ("C:\\temp", r"C:\\temp"),
        ("${var.token} %{ if }", "$${var.token} %%{ if }"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_text_in_quotes_of_hcl_means_itself(text: str, quoted: str) -> None:
    assert in_quotes(text) == quoted


def test_a_text_in_yaml_is_a_quoted_scalar_without_variables() -> None:
    assert json.loads(_in_yaml('a: "b" ${HOME} # c')) == 'a: "b" {HOME} # c'


def test_a_text_in_markdown_is_no_markup() -> None:
    assert _markdown("<b> *x* [y](z) `c` |") == r"&lt;b&gt; \*x\* \[y\](z) \`c\` \|"


def test_arguments_below_each_other_are_in_columns() -> None:
    text = "a = 1\nlonger = 2\nblock {\n  x = [\n  ]\n  yy = 3\n}"
    assert _aligned(text) == "a      = 1\nlonger = 2\nblock {\n  x = [\n  ]\n  yy = 3\n}"
