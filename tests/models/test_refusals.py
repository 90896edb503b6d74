"""Every public model refuses what its docstring excludes, by the name of the argument.

Each call in a function's own examples is made again with one number in it replaced: an argument, a member of a sequence
or a mapping, or a field of a record that is checked. The answer is a ValueError that names it, or a usual result.
"""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from test_docstrings import FUNCTIONS

from gpuplan.models.availability.outages import HostMix
from gpuplan.models.cost.purchases import Stock
from gpuplan.models.llm import Shape
from gpuplan.models.placement import Request, Room
from gpuplan.units import each, not_negative, whole_from_zero

MODELS = {name: f for name, f in FUNCTIONS.items() if f.__module__.startswith("gpuplan.models.")}
ABSURD = (math.nan, -5, -0.5, 0, math.inf)
CHECKED = (HostMix, Request, Room, Shape, Stock)
"""Records that are refused with the function that takes them."""
PAID = "amounts may be credits"
NEGATIVE = {
    "cost.total_cost": PAID,
    "cost.net_present_cost": PAID,
    "cost.gpu_hour_cost": PAID,
    "cost.avoided_hour_price": "an extra cost may be a saving",
    "cost.allocated_cost": PAID,
    "cost.later_price": "prices may fall",
    "demand.working_hours.growth_factor": "groups may shrink",
    "demand.working_hours.on_duty": "places are west of UTC, too",
    "placement.programme.whole_programme": "a programme may take away from a row",
    "cost.crossover_year": PAID,
    "cost.combined_range": "a total may be a saving",
}
"""Functions of which an argument may be below 0 -> why."""

ELSEWHERE = {
    "placement.apart.set_apart": "it moves VMs of a placement",
    "power_on.week.arranged": "it starts VMs where a placement has them",
}
"""Functions whose records were checked before -> where."""

Put = Callable[[Any], Any]


def calls_of(function: Callable[..., Any]) -> list[inspect.BoundArguments]:
    """The calls of a function in its own examples."""
    found = []
    signature = inspect.signature(function)

    def recorded(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        found.append(bound)
        return function(*args, **named)

    scope = {**vars(importlib.import_module(function.__module__)), function.__name__: recorded}
    for example in doctest.DocTestParser().get_examples(function.__doc__ or ""):
        exec(example.source, scope)
    return found


def numbers_in(value: Any, name: str) -> Iterator[tuple[str, Put]]:
    """Name of each number in a value, and the value with another number in its place."""
    parts: list[tuple[str, Any, Put]] = []
    if isinstance(value, bool | str):
        return
    if isinstance(value, int | float):
        yield name, lambda new: new
    elif isinstance(value, Mapping):
        parts = [
            (key if isinstance(key, str) else name, value[key], lambda new, key=key: {**value, key: new})
            for key in value
        ]
    elif isinstance(value, CHECKED):
        change = dataclasses.replace if dataclasses.is_dataclass(value) else type(value)._replace
        names = inspect.signature(type(value)).parameters
        parts = [(at, getattr(value, at), lambda new, at=at: change(value, **{at: new})) for at in names]
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        many = enumerate(value[:3])
        parts = [
            (name, one, lambda new, i=i: type(value)([*value[:i], new, *value[i + 1 :]])) for i, one in many
        ]
    for at, inner, put in parts:
        for inner_at, inner_put in numbers_in(inner, at):
            yield inner_at, lambda new, put=put, inner_put=inner_put: put(inner_put(new))


def numbers_of(value: Any) -> Iterator[float]:
    """Every number in a result."""
    if isinstance(value, np.ndarray | np.generic):
        yield from np.asarray(value, dtype=float).ravel().tolist()
    elif isinstance(value, Mapping):
        yield from numbers_of(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from numbers_of(inner)
    elif isinstance(value, int | float):
        yield value


@pytest.mark.parametrize("name", MODELS)
def test_what_makes_no_sense_is_refused_by_name(name: str) -> None:
    function = MODELS[name]
    calls = calls_of(function)
    assert calls, "no example calls it"
    places = [
        (call, argument, at, put)
        for call in calls[:3]
        for argument, value in call.arguments.items()
        for at, put in numbers_in(value, argument)
        if at == argument or name not in ELSEWHERE
    ]
    for call, argument, at, put in places[:60]:
        for absurd in ABSURD:
            case = f"{argument}, {at} = {absurd}"
            try:
                given = inspect.BoundArguments(call.signature, {**call.arguments, argument: put(absurd)})
                answer = list(numbers_of(function(*given.args, **given.kwargs)))
            except ValueError as error:
                named = {at, argument, "group", "VMs"} if at != argument else {at}
                assert absurd == 0 or any(word in str(error) for word in named), f"{case}: {error}"
                continue
            assert not math.isnan(absurd), f"{case} is accepted"
            assert absurd >= 0 or name in NEGATIVE, f"{case} is accepted"
            assert not any(map(math.isnan, answer)), case
            if at == argument and absurd != math.inf:
                assert name in NEGATIVE or min(answer, default=0) >= 0, case


def test_a_guard_looks_at_each_member() -> None:
    each(whole_from_zero, counts=[1, (2, 3)], by_kind={"a": 4})
    for wrong in ([1, -1], {"a": math.nan}, ((1, 2), (3, 0.5))):
        with pytest.raises(ValueError, match="counts"):
            each(whole_from_zero, counts=wrong)
    with pytest.raises(ValueError, match="rate"):
        not_negative(rate=[1, 2])
