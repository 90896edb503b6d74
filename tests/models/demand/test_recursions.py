"""Recursions over the units of a pool: single units by hand, and what is denied by differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpuplan.models.demand.recursions import _denied, _growth


def test_weights_of_single_units_are_those_of_erlang() -> None:
    load, units = 3.0, 6
    weights = np.cumsum([load**n / math.factorial(n) for n in range(units + 1)])
    assert _growth(units, [load], [1]) == pytest.approx(np.diff(np.log(weights)))


def test_denied_are_the_states_in_which_a_request_finds_no_room() -> None:
    growth = np.array(_growth(5, [2.0, 1.0], [1, 2]))
    weights = np.exp(np.concatenate([[0.0], np.cumsum(growth)]))
    by_hand = [1.0 if n < 2 else 1 - weights[n - 2] / weights[n] for n in range(6)]
    assert _denied(growth, 2) == pytest.approx(by_hand)
