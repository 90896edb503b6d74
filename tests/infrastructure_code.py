"""Terraform files as data: parsed, and compared with the arguments that the providers take."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hcl2

DATA = Path(__file__).parent / "deliver" / "infrastructure"
META = {"count", "for_each", "depends_on", "provider", "lifecycle", "dynamic", "provisioner"}
"""Arguments of Terraform itself."""
KINDS = ("locals", "resource", "data", "variable", "output", "terraform", "provider")


def bare(value: Any) -> Any:
    """Parsed HCL without the quotes that the parser keeps and without its notes."""
    if isinstance(value, dict):
        return {bare(k): bare(v) for k, v in value.items() if not k.startswith("__")}
    if isinstance(value, list):
        return [bare(item) for item in value]
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


@cache
def raw(text: str) -> Any:
    """Parsed HCL with quotes and notes: a quoted text is a literal, ``${...}`` an expression."""
    return hcl2.loads(text)


@cache
def parse(text: str) -> Any:
    """Parsed HCL."""
    return bare(raw(text))


def modules(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Root module -> its files by name."""
    found: dict[str, dict[str, str]] = {}
    folders = {path.rpartition("/")[0] for path in files if path.endswith("/versions.tf")}
    for path, text in files.items():
        folder, _, name = path.rpartition("/")
        if folder in folders:
            found.setdefault(folder, {})[name] = text
    return found


def module(files: Mapping[str, str], folder: str = "terraform/vsphere") -> dict[str, str]:
    """The files of one root module."""
    return modules(files)[folder]


def parsed(files: Mapping[str, str], read: Any = parse) -> dict[str, Any]:
    """All .tf files of a module as one: block type -> label(s) -> body."""
    found: dict[str, Any] = {kind: {} for kind in KINDS}
    for name, text in files.items():
        if not name.endswith(".tf"):
            continue
        for kind, blocks in read(text).items():
            if kind.startswith("__"):
                continue
            assert kind in KINDS, kind
            for block in blocks:
                if kind in ("resource", "data"):
                    ((type_, named),) = block.items()
                    for label, body in named.items():
                        key = (bare(type_), bare(label))
                        assert key not in found[kind], f"{key} twice"
                        found[kind][key] = body
                elif kind in ("terraform",):
                    found[kind] = block
                else:
                    for label, body in block.items():
                        if label.startswith("__"):
                            continue
                        assert bare(label) not in found[kind], f"{kind} {label} twice"
                        found[kind][bare(label)] = body
    return found


@cache
def _vsphere() -> Any:
    return json.loads((DATA / "vsphere_provider.json").read_text(encoding="utf-8"))


@cache
def _vcf(before_9: bool) -> Any:
    read = json.loads((DATA / "vcf_provider.json").read_text(encoding="utf-8"))
    found = copy.deepcopy(read["after_9"])
    if before_9:
        for path in read["before_9"]["without"]:
            holder, name = _holder(found, path)
            del holder[name]
        for path, argument in read["before_9"]["with"].items():
            holder, name = _holder(found, path)
            holder[name] = argument
    return found


def _holder(schema: Any, path: str) -> tuple[Any, str]:
    resource, *way, name = path.split(".")
    holder = schema["resources"][resource]["arguments"]
    for step in way:
        holder = holder[step]["arguments"]
    return holder, name


def provider_of(files: Mapping[str, str]) -> tuple[str, str]:
    """Source and versions of the provider of a module."""
    (required,) = parse(files["versions.tf"])["terraform"][0]["required_providers"]
    ((_, given),) = required.items()
    return given["source"], given["version"]


def schema_of(files: Mapping[str, str]) -> Any:
    """What the provider of a module takes."""
    source, versions = provider_of(files)
    if source.endswith("/vsphere"):
        return _vsphere()
    return _vcf(before_9=not versions.startswith("~> 0.19"))


def faults(files: Mapping[str, str]) -> Iterator[str]:
    """What the provider of a module would refuse."""
    schema, read = schema_of(files), parsed(files, raw)
    for kind, there in (("resource", schema["resources"]), ("data", schema["data"])):
        for (type_, label), body in read[kind].items():
            if type_ not in there:
                yield f"{type_} is unknown"
                continue
            yield from _faults(f"{kind} {type_}.{label}", body, there[type_]["arguments"], top=True)
    for body in read["provider"].values():
        yield from _faults("provider", body, schema["provider"])


def _faults(
    where: str, body: Mapping[str, Any], arguments: Mapping[str, Any], *, top: bool = False
) -> Iterator[str]:
    blocks = dict(_blocks(body))
    for name, value in body.items():
        if name.startswith("__") or name == "dynamic" or (top and name in META):
            continue
        if name not in arguments:
            yield f"{where}: no argument {name}"
        elif name in blocks and "block" not in arguments[name]:
            yield f"{where}: {name} is no block"
        elif name not in blocks:
            yield from _value_faults(f"{where}.{name}", value, arguments[name])
    for name, bodies in blocks.items():
        if top and name in META:
            continue
        if "block" not in arguments.get(name, {}):
            yield f"{where}: no block {name}"
            continue
        known = arguments[name]
        certain = [each for each, dynamic in bodies if not dynamic]
        if len(certain) > known.get("most", len(certain)):
            yield f"{where}: more than {known['most']} x {name}"
        for each, _ in bodies:
            yield from _faults(f"{where}.{name}", each, known["arguments"])
    for name, argument in arguments.items():
        least = argument.get("least", 0) if "block" in argument else argument.get("required", False)
        if least and name not in body and name not in blocks:
            yield f"{where}: {name} is missing"


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[Any, bool]]]]:
    """Blocks of a body by name, each with whether there may be any number of it."""
    found: dict[str, list[tuple[Any, bool]]] = {}
    for name, value in body.items():
        if name == "dynamic":
            for each in value:
                ((label, made),) = [pair for pair in each.items() if not pair[0].startswith("__")]
                found.setdefault(bare(label), []).append((made["content"][0], True))
        elif isinstance(value, list) and any(
            isinstance(each, dict) and "__is_block__" in each for each in value
        ):
            found.setdefault(name, []).extend((each, False) for each in value)
    yield from found.items()


def _value_faults(where: str, value: Any, argument: Mapping[str, Any]) -> Iterator[str]:
    if "block" in argument:
        yield f"{where} is a block"
    elif argument.get("computed"):
        yield f"{where} is not to be set"
    elif not _fits(value, argument["type"]):
        yield f"{where} is {value!r}, not {argument['type']}"
    elif "values" in argument and _literal(value) and bare(value) not in argument["values"]:
        yield f"{where} is {value}, none of {argument['values']}"


def _literal(value: Any) -> bool:
    return isinstance(value, str) and value.startswith('"') and "${" not in value


def _fits(value: Any, type_: Any) -> bool:
    """Whether a value can be of a type; an expression can be of any."""
    if isinstance(value, str) and value.startswith("${"):
        return True
    if isinstance(type_, list):
        kind, of = type_
        if kind == "map":
            return isinstance(value, dict) and all(
                _fits(each, of) for key, each in value.items() if not key.startswith("__")
            )
        return isinstance(value, list) and all(_fits(each, of) for each in value)
    if type_ == "bool":
        return isinstance(value, bool)
    if type_ == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, str)


def references(files: Mapping[str, str]) -> dict[str, set[Any]]:
    """What the code of a module names: variables, locals, data and resources."""
    code = "\n".join(re.sub(r"^\s*#.*$", "", t, flags=re.M) for n, t in files.items() if n.endswith(".tf"))
    code = re.sub(r"[$]{2}[{].*?[}]", "", code)  # a text that looks like code
    return {
        "variable": set(re.findall(r"\bvar\.(\w+)", code)),
        "locals": set(re.findall(r"\blocal\.(\w+)", code)),
        "data": set(re.findall(r"\bdata\.((?:vsphere|vcf)_\w+)\.(\w+)", code)),
        "resource": set(re.findall(r"(?<![\w.])((?:vsphere|vcf)_\w+)\.(\w+)", code)),
    }
