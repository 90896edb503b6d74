"""Jobs on proposed hosts: replay and formulas agree where they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from traces import make, poisson

from gpuplan.audit import (
    Cancelled,
    Method,
    compare,
)
from gpuplan.models.demand.queueing import erlang_b, erlang_c, hayward_wait_longer_chance


def by_name(methods: Sequence[Method]) -> dict[str, Method]:
    return {m.name: m for m in methods}


def test_replays_agree_with_the_formulas_where_they_hold() -> None:
    jobs = poisson(11, load=20, hours=6000)
    found = compare(jobs, hosts=[24], wait_limit_h=0.25)
    turned, long = by_name(found.denied), by_name(found.waits_long)
    assert found.offered_gpus == pytest.approx(20, rel=0.03)
    assert found.poisson_peakedness == 1
    exact = erlang_b(24, load=found.offered_gpus)
    assert turned["kaufman-roberts"].chance == pytest.approx(exact)
    assert turned["replay"].chance == pytest.approx(exact, rel=0.1)
    assert turned["replay on the hosts"].chance == turned["replay"].chance, "one host is one pool"
    assert turned["hayward"].chance == pytest.approx(exact, rel=0.25), "peakedness near 1"
    assert turned["kaufman-roberts"].gpus_needed == next(
        n for n in range(100) if erlang_b(n, load=found.offered_gpus) <= 0.05
    )
    waits = hayward_wait_longer_chance(24, load=found.offered_gpus, peakedness=1, duration_h=2.0, wait_h=0.25)
    assert erlang_c(24, load=found.offered_gpus) > waits > 0.05
    assert long["erlang-c"].chance == pytest.approx(waits, rel=0.03)
    assert long["replay"].chance == pytest.approx(waits, rel=0.15)
    for methods in (turned, long):
        assert methods["replay on the hosts"].gpus_needed == 48, "hosts of 24 GPUs"
        needed = [m.gpus_needed or 0 for m in methods.values() if "on the hosts" not in m.name]
        assert max(needed) - min(needed) <= 2


def test_bursts_part_the_replay_from_the_formulas() -> None:
    rng = np.random.default_rng(4)
    submit = np.repeat(np.arange(0, 2000, 20.0), 100)
    found = compare(make(submit, rng.exponential(2.0, len(submit))), hosts=[8] * 3)
    needed = {name: m.gpus_needed for name, m in by_name(found.denied).items()}
    assert needed["kaufman-roberts"] < needed["hayward"] < needed["replay"]  # type: ignore[operator]
    assert found.peakedness > 10
    steady = compare(make(submit, 2.0), hosts=[8] * 3, peakedness=1.0)
    assert (
        by_name(steady.denied)["hayward"].gpus_needed == by_name(steady.denied)["kaufman-roberts"].gpus_needed
    )


def test_the_fewest_gpus_of_a_replay_by_hand() -> None:
    # every 10 hours 20 jobs of one hour at once: with 20 GPUs nobody waits, with 19 one of 20 waits an hour, with 18 two
    jobs = make(np.repeat(np.arange(0, 100, 10.0), 20), 1.0)
    found = compare(jobs, hosts=[10, 10])
    assert by_name(found.waits_long)["replay"].gpus_needed == 19
    assert by_name(found.denied)["replay"].gpus_needed == 19
    assert by_name(found.waits_long)["replay on the hosts"].gpus_needed == 20
    assert found.waiting.longer_share(0.0) == 0
    assert found.denied_share == 0
    assert found.pool_gpus == 19
    assert found.pool_utilisation == pytest.approx(200 / 90 / 19)
    assert compare(jobs, hosts=[10, 10], share=0.11).pool_gpus == 18
    assert compare(jobs, hosts=[10, 9]).waits_long[-1].gpus_needed is None


def test_silos_against_the_pool_by_hand() -> None:
    # two groups that take turns: each needs 4 GPUs alone, 4 do together
    jobs = make(np.arange(100), 1.0, 4.0, np.arange(100) % 2, names=["day", "night"])
    found = compare(jobs, hosts=[4])
    assert [(s.group, s.jobs, s.gpus) for s in found.silos] == [("day", 50, 4), ("night", 50, 4)]
    assert (found.silo_gpus, found.pool_gpus) == (8, 4)
    assert found.pool_utilisation == pytest.approx(2 * found.silo_utilisation)
    assert sum(s.offered_gpus for s in found.silos) == pytest.approx(found.offered_gpus)


def test_a_pool_is_smaller_than_its_silos() -> None:
    found = compare(poisson(6, load=12, hours=1500), hosts=[8, 8])
    assert found.pool_gpus < found.silo_gpus
    assert found.pool_utilisation > found.silo_utilisation


def test_fractions_are_counted_in_parts() -> None:
    rng = np.random.default_rng(9)
    jobs = make(np.sort(rng.uniform(0, 3000, 15_000)), rng.exponential(2.0, 15_000), 0.5)
    found = compare(jobs, hosts=[6])
    exact = erlang_b(12, load=2 * found.offered_gpus)
    turned = by_name(found.denied)
    assert turned["kaufman-roberts"].chance == pytest.approx(exact)
    assert turned["replay"].chance == pytest.approx(exact, rel=0.1)
    odd = compare(make(np.arange(30), 1.0, [0.013, 0.31, 0.57] * 10), hosts=[4])
    assert "kaufman-roberts" not in by_name(odd.denied)


def test_jobs_larger_than_a_host_run_on_several() -> None:
    jobs = make([0, 1, 2, 3], 1.0, [20.0, 1, 1, 1])
    found = compare(jobs, hosts=[8, 8, 8])
    assert found.waiting.served.all()
    with pytest.raises(ValueError, match="can never start"):
        compare(jobs, hosts=[8, 8])


def test_a_comparison_can_be_watched_and_cancelled() -> None:
    said: list[str] = []

    def watch(what: str) -> bool:
        said.append(what)
        return len(said) < 3

    with pytest.raises(Cancelled):
        compare(make(range(20), 1.0), hosts=[4], progress=watch)
    assert len(said) == 3
    assert "proposed hosts" in said[0]


@pytest.mark.parametrize(
    "options", [{"share": 0.0}, {"share": 1.0}, {"wait_limit_h": -1.0}, {"policy": "first"}]
)
def test_a_comparison_needs_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        compare(make(range(20), 1.0), hosts=[4], **options)


def test_a_fraction_beside_whole_gpus_is_rounded_up() -> None:
    sizes = [1.5, 0.5, 2.5, 1] * 30
    found = compare(make(range(120), 1.0, sizes), hosts=[4, 4])
    whole = compare(make(range(120), 1.0, [2, 0.5, 3, 1] * 30), hosts=[4, 4])
    assert found.offered_gpus == whole.offered_gpus
    assert found.denied_share == whole.denied_share
