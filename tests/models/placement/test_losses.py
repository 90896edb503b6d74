"""Losses: all of them, or only those of the largest hosts."""

from __future__ import annotations

from collections import Counter

import pytest

from gpuplan.models.placement import Room
from gpuplan.models.placement import losses as losses_of_hosts


def test_of_many_losses_only_those_of_the_largest_hosts_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host that offers as much of everything as another is the worse one to lose; 0 is without a limit."""
    small, large, free, other = Room(2, 32, 256), Room(4, 64, 512), Room(4, 0, 0), Room(4, 16, 512)
    every = Counter({small: 2, large: 2})
    assert sorted(map(dict, losses_of_hosts.worst_losses(every, lost=1)), key=str) == [{small: 1}, {large: 1}]
    monkeypatch.setattr(losses_of_hosts, "MOST_LOSSES", 0)

    def losses(*rooms: Room, lost: int = 1) -> list[Counter[Room]]:
        return losses_of_hosts.worst_losses(Counter(dict.fromkeys(rooms, 2)), lost=lost)

    assert losses(small, large) == [Counter({large: 1})]
    assert losses(small, large, lost=3) == [Counter({large: 2, small: 1})]
    assert losses(large, free) == [Counter({free: 1})]
    assert losses(small, other) == [
        Counter({small: 1}),
        Counter({other: 1}),
    ]  # neither offers more of everything
