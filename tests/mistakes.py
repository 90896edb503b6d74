"""What is wrong with the text of a scenario file, for tests."""

from __future__ import annotations

import pytest

from gpuplan import ScenarioError
from gpuplan.scenario import Problem, one_line, parse_scenario


def problems(text: str) -> tuple[Problem, ...]:
    """The problems of a text that is refused, each on one line."""
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text)
    assert caught.value.problems
    for line in str(caught.value).splitlines():
        assert one_line(line) == line
    assert len(str(caught.value).splitlines()) == len(caught.value.problems)
    return caught.value.problems


def problem(text: str) -> Problem:
    """The only problem of a text that is refused."""
    found = problems(text)
    assert len(found) == 1, found
    return found[0]
