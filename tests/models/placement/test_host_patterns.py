"""Ways to fill a host: all full ones against trying every number of VMs, the dearest of them, and what is on the host."""

from __future__ import annotations

import itertools
import random

import pytest
from brute_force import design, fits_on

from gpuplan.models.placement import Request, Room, host_patterns
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.shared_gpus import SharedGpus


def patterns_of(requests: list[Request]) -> HostPatterns:
    rules = Rules(requests)
    return HostPatterns(SharedGpus(rules), rules.vms)


def small_design(rng: random.Random) -> tuple[list[Request], Room]:
    requests, room = design(rng, 8, kinds=3)
    return [r._replace(vms=min(r.vms, 3)) for r in requests], room._replace(gpus=min(room.gpus, 3))


def fits(requests: list[Request], counts: tuple[int, ...], room: Room) -> bool:
    asked = [r._replace(vms=n) for r, n in zip(requests, counts, strict=True) if n]
    return fits_on(asked, [room])


def test_all_full_patterns_against_every_number_of_vms() -> None:
    rng = random.Random(6)
    for _ in range(60):
        requests, room = small_design(rng)
        if any(r.gpus > room.gpus for r in requests):
            continue
        every = itertools.product(*(range(r.vms + 1) for r in requests))
        possible = {counts for counts in every if fits(requests, counts, room)}
        full = {
            counts
            for counts in possible
            if not any(all(a >= b for a, b in zip(more, counts, strict=True)) for more in possible - {counts})
        }
        assert set(map(tuple, patterns_of(requests).full(room).tolist())) == full, (requests, room)


def test_the_dearest_pattern_of_the_list_and_of_the_programme_are_worth_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(7)
    for _ in range(60):
        requests, room = design(rng, 40, kinds=4)
        prices = [rng.randint(0, 10**6) for _ in requests]
        patterns = patterns_of(requests)
        listed = patterns.dearest(room, prices)
        with monkeypatch.context() as patch:
            patch.setattr(HostPatterns, "full", lambda *_: None)
            found = patterns.dearest(room, prices)

        def worth(pattern: tuple[int, ...], prices: list[int] = prices) -> int:
            return sum(p * n for p, n in zip(prices, pattern, strict=True))

        assert listed.most == worth(listed.patterns[0]) == worth(found.patterns[0]), (requests, room)
        assert listed.most <= found.most <= 1.0002 * listed.most + 1


def test_prices_beyond_the_programme_are_rounded_so_that_the_bound_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests, room = [Request("a", 9, gpus=1), Request("b", 9, gpus=2)], Room(5)
    monkeypatch.setattr(host_patterns, "MOST_PRICE", 2**8)
    prices = [10**6 + 1, 10**6 + 3]
    patterns = patterns_of(requests)
    exact = patterns.dearest(room, prices).most
    monkeypatch.setattr(HostPatterns, "full", lambda *_: None)
    assert exact == 5 * prices[0]
    assert exact <= patterns.dearest(room, prices).most <= 1.01 * exact


def test_the_host_of_a_pattern_has_its_vms() -> None:
    rng = random.Random(8)
    for _ in range(40):
        requests, room = design(rng, 30, kinds=5)
        patterns = patterns_of(requests)
        for row in patterns.full(room)[:20].tolist():
            content = patterns.content(room, row)
            assert patterns.pattern(content) == tuple(row)
            free, vcpus, memory, *_ = patterns.rules.state(room, content)
            assert min(free, vcpus, memory) >= 0
