"""Writing of the files: templates, quotes and columns of HCL, names as identifiers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gpuplan.deliver.html import environment
from gpuplan.plan.profiles import vgpus_named
from gpuplan.wording import amount, number, some_of

if TYPE_CHECKING:
    from jinja2 import Environment

_ARGUMENT = re.compile(r'( *)([\w-]+|"(?:[^"\\]|\\.)*") += (.*[^\[{(])')
"""Indent, name and value of an argument that ends on its line."""


def written(template: str, shown: Mapping[str, Any]) -> str:
    """A file from a template of ``infrastructure/templates``; HCL is in columns, as ``terraform fmt`` leaves it."""
    text = _templates().get_template(f"{template}.j2").render(shown)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return (_aligned(text) if template.endswith((".tf", ".tfvars.example")) else text) + "\n"


@cache  # reading them takes 0.1 s, filling them 3 ms
def _templates() -> Environment:
    filled = environment("infrastructure")
    filled.filters |= {"hcl": in_quotes, "line": one_line, "markdown": _markdown, "yaml": _in_yaml}
    filled.filters |= {"amount": amount, "names": some_of, "number": number}
    filled.filters["vgpus"] = lambda vms: vgpus_named(vms.profile, vms.vgpus)
    return filled


def one_line(text: str) -> str:
    """A text on one line, without characters that do not print: what a comment of HCL can hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def in_quotes(text: str) -> str:
    """A text for between the quotes of HCL, where it means itself."""
    quoted = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return quoted.replace("${", "$${").replace("%{", "%%{")


def _in_yaml(text: str) -> str:
    """A text as a quoted scalar of YAML that ``envsubst`` leaves alone."""
    return json.dumps(one_line(text).replace("$", ""), ensure_ascii=False)


def _markdown(text: str) -> str:
    """Escape a text so that Markdown and HTML show it unchanged."""
    return html.escape(re.sub(r"([\\`*_\[\]|~#])", r"\\\1", one_line(text)), quote=False)


def _aligned(text: str) -> str:
    lines: list[str] = []
    matched = ((line, _ARGUMENT.fullmatch(line)) for line in text.split("\n"))
    for indent, neighbours in groupby(matched, key=lambda pair: pair[1][1] if pair[1] else None):
        run = list(neighbours)
        width = max(len(match[2]) if match else 0 for _, match in run)
        lines += [f"{indent}{match[2]:<{width}} = {match[3]}" if match else line for line, match in run]
    return "\n".join(lines)
