"""Equal hosts: VMs with several shares against a brute force and another programme; what is proven when something is not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from brute_force import FAMILIES, check_placement, random_requests
from random_cases import cases

from gpuplan.models.placement import Request, Shared, packing, place
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.identical_hosts import IdenticalHosts
from gpuplan.models.placement.packing import Bins


def test_the_programme_for_several_shares_on_large_hosts_against_another_one() -> None:
    rng = random.Random(16)
    for _ in range(12):
        gpus = rng.choice([8, 12, 16])
        requests = random_requests(rng, gpus, most=18, shares=9, kinds="wee")
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert placed.method != "heuristic"
        assert not assigned(requests, len(placed.hosts) - 1, gpus)
        assert assigned(requests, len(placed.hosts), gpus)


def assigned(requests: Sequence[Request], hosts: int, gpus: int) -> bool:
    """Whether the VMs fit, by a programme that assigns so many of each kind to each single host."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    families = sorted({r.family.name for r in requests if r.family})
    n, width = len(requests), len(requests) + len(families)  # per host: VMs of each kind, GPUs of each family
    if hosts == 0:
        return not any(r.vms for r in requests)
    rows, low, high = [], [], []
    for k, r in enumerate(requests):
        row = np.zeros(hosts * width)
        row[k::width] = 1
        rows.append(row)
        low.append(r.vms)
        high.append(r.vms)
    for h in range(hosts):
        row = np.zeros(hosts * width)
        for k, r in enumerate(requests):
            row[h * width + k] = r.gpus
        row[h * width + n : (h + 1) * width] = 1
        rows.append(row)
        low.append(0)
        high.append(gpus)
        for f, name in enumerate(families):
            row = np.zeros(hosts * width)
            for k, r in enumerate(requests):
                if r.family and r.family.name == name:
                    row[h * width + k] = r.shares
            row[h * width + n + f] = -FAMILIES[name].layouts[0][0]
            rows.append(row)
            low.append(-np.inf)
            high.append(0)
    cost = np.arange(hosts * width) // width
    solved = milp(
        cost.astype(float),
        constraints=LinearConstraint(np.array(rows), low, high),
        integrality=np.ones(hosts * width),
        bounds=Bounds(0, np.inf),
        options={"time_limit": 20.0, "mip_rel_gap": 1e9},
    )
    assert solved.status in (0, 2)
    return bool(solved.status == 0)


def test_profiles_of_one_family_share_gpus() -> None:
    mig = FAMILIES["mig"]
    ask = [Request(p, 1, family=mig, profile=p) for p in ("3g", "2g", "1g")]
    assert place(ask, gpus_per_host=1).gpus_occupied == 1  # 3g + 2g + 1g
    placed = place([r._replace(vms=6) for r in ask], gpus_per_host=4)
    assert (
        placed.shared == (Shared("mig", 6, 6, "volume"),) or placed.shared[0].gpus == placed.shared[0].bound
    )


def test_a_gap_in_the_shared_gpus_that_does_not_reach_the_hosts_is_no_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # without time and without patterns: 3 GPUs found, 2 proven for the shares; on hosts of 4 it is one host either way
    packing._pack.cache_clear()
    three = Bins({(1, 0, 1, 0): 1, (0, 2, 0, 0): 1, (0, 0, 0, 2): 1})
    monkeypatch.setattr(Bins, "cheapest", lambda *_: (three, 2))
    shares = [
        Request(f"g{w}", n, family=FAMILIES["memory"], weight=w) for w, n in {5: 1, 4: 2, 3: 1, 2: 2}.items()
    ]
    one = place(shares, gpus_per_host=4)
    assert one.shared == (Shared("memory", 3, 2, "heuristic"),)
    assert (len(one.hosts), one.bound, one.method) == (1, 1, "volume")
    # with two GPUs per host it is two hosts, and one is all that is proven
    two = place(shares, gpus_per_host=2)
    assert (len(two.hosts), two.bound, two.method) == (2, 1, "heuristic")
    packing._pack.cache_clear()


def test_whether_vms_fit_is_what_the_solution_says() -> None:
    for rng in cases(17, 300, few=60):
        gpus = rng.randint(1, 6)
        rules = Rules(random_requests(rng, gpus, most=20, shares=rng.choice([1, 3])))
        equal = IdenticalHosts(rules)
        vms = tuple(rng.randint(0, n) for n in rules.vms)  # not all of them
        needed = IdenticalHosts(rules).solve(vms, gpus).hosts
        fits = [equal.fit_on(vms, gpus, hosts) for hosts in range(needed + 2)]
        assert fits == [hosts >= needed for hosts in range(needed + 2)]


def test_hosts_are_proven_only_as_far_as_the_gpus_of_each_family_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a family that finds 3 GPUs 2 are proven: with a pair of shares on a GPU of its own 4 hosts of one, 3 proven."""
    packing._pack.cache_clear()
    three = Bins({(1, 0, 1, 0): 1, (0, 2, 0, 0): 1, (0, 0, 0, 2): 1})
    monkeypatch.setattr(Bins, "cheapest", lambda *_: (three, 2))
    shares = [
        Request(f"g{w}", n, family=FAMILIES["memory"], weight=w) for w, n in {5: 1, 4: 2, 3: 1, 2: 2}.items()
    ]
    pair = Request("pair", 1, family=FAMILIES["third"], profile="third", shares=2)
    placed = place([*shares, pair], gpus_per_host=1)
    packing._pack.cache_clear()
    assert (len(placed.hosts), placed.bound, placed.method) == (4, 3, "heuristic")


def test_a_family_of_which_nothing_is_asked_takes_no_gpus() -> None:
    requests = [
        Request("a", 3, family=FAMILIES["half"], profile="half"),
        Request("b", 0, family=FAMILIES["third"], profile="third"),
    ]
    placed = place(requests, gpus_per_host=2)
    assert placed.shared == (Shared("half", 2, 2, "volume"),)
    check_placement(placed, requests[:1], 2)
