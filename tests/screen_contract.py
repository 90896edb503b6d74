"""Compares what the workbook sends to the browser with the contract in ``gpuplan/widgets/contract.py``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from screen_scripts import alternatives

from gpuplan.widgets.contract import PARTS


def faults(value: Any, kind: Any, at: str) -> Iterator[str]:
    """What is wrong with a value of this type, and where."""
    kinds, origin = alternatives(kind), get_origin(kind)
    if len(kinds) > 1:
        yield from min((list(faults(value, each, at)) for each in kinds), key=len)
    elif is_typeddict(kind) and isinstance(value, dict):
        types = get_type_hints(kind)
        yield from (f"undeclared {at}.{key}" for key in value.keys() - types)
        yield from (f"missing {at}.{key}" for key in kind.__required_keys__ - value.keys())
        for key in value.keys() & types:
            yield from faults(value[key], types[key], f"{at}.{key}")
    elif origin in (tuple, Sequence) and isinstance(value, list | tuple):
        within = get_args(kind) if origin is tuple else get_args(kind) * len(value)
        if len(within) != len(value):
            yield f"{at} has {len(value)} entries"
        for entry, each in zip(value, within, strict=False):
            yield from faults(entry, each, f"{at}[]")
    elif not _is(value, kind):
        yield f"{at} is {value!r:.80}"


def _is(value: Any, kind: Any) -> bool:
    """True for a plain value of a plain type; a whole number may stand for any number, a truth for none."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    plain = get_origin(kind) or kind
    if plain is Any:
        return True
    if is_typeddict(plain):
        return False
    return isinstance(value, (int, float) if plain is float else plain) and (
        plain is bool or not isinstance(value, bool)
    )


def check(name: str, data: Any) -> None:
    """Refuse data of a part that does not keep the contract."""
    assert not (wrong := list(faults(data, PARTS[name], name))), wrong
