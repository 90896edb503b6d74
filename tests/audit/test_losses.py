"""What the loss of hosts does to an estate, against trying every place for every VM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from estates import MOST, best, drawn_estate, free_of, profile, with_others
from random_cases import cases

from gpuplan import Catalog
from gpuplan.audit.estate import Device, Estate, EstateGpu, EstateHost, EstateVm
from gpuplan.audit.losses import tolerances


def left_over(estate: Estate, gone: Sequence[str], *, move: bool) -> int:
    """Fewest VMs without a place after a loss; ``move``: all others that can are placed anew."""
    stay = [vm for vm in estate.vms if vm.host not in gone and not (move and vm.migrates)]
    moving = [vm for vm in estate.vms if vm not in stay]
    hosts = [host for host in estate.hosts if host.name not in gone and host.takes_vms]
    on: dict[tuple[str | None, str], list[str]] = {}
    for vm in stay:
        for device in vm.devices:
            on.setdefault((vm.host, device.address), []).append(profile(vm))
    gpus = [(host.name, on.get((host.name, gpu.address), [])) for host in hosts for gpu in host.gpus or ()]
    return len(moving) - best(moving, gpus, free_of(estate, [host.name for host in hosts], stay))


def test_the_worst_loss_is_that_of_trying_every_place(catalog: Catalog) -> None:
    seen = set()
    for rng in cases(4021, 900, few=60):
        profiles = [f"{name}={most}" for name, most in MOST.items()]
        estate = drawn_estate(rng, rng.randint(2, 4), rng.randint(1, 2), profiles, "sameSize", "l40s-48gb")
        estate = with_others(rng, estate, 4)
        if not any(vm.devices for vm in estate.vms) or len(estate.vms) > 9:
            continue
        vms = tuple(replace(vm, migrates=rng.random() < 0.8) for vm in estate.vms)
        hosts = list(estate.hosts)
        if any(memory < 0 for memory, _ in free_of(estate, [host.name for host in hosts], vms).values()):
            continue
        if rng.random() < 0.2 and not any(vm.host == hosts[-1].name for vm in vms):
            hosts[-1] = replace(hosts[-1], state="maintenance")
        estate, failures = replace(estate, hosts=tuple(hosts), vms=vms), rng.choice((1, 1, 2))
        up = [host.name for host in hosts if host.takes_vms]
        lost = min(failures, len(up) - 1)
        found = list(tolerances(estate, catalog, failures, frozenset(), frozenset()))
        if lost < 1:
            assert found == []
            continue
        (worst,) = found
        sets = list(combinations(up, lost))
        assert (worst.sets, worst.tried) == (len(sets), len(sets))
        assert bool(worst.hosts) == any(left_over(estate, gone, move=False) for gone in sets)
        assert len(worst.unplaced) == max(left_over(estate, gone, move=True) for gone in sets)
        if worst.unplaced:
            assert len(worst.unplaced) == left_over(estate, worst.hosts, move=True)
        seen.add((bool(worst.hosts), bool(worst.unplaced)))
    assert seen == {(False, False), (True, False), (True, True)}


def test_passthrough_takes_whole_gpus_of_hosts_that_are_connected(catalog: Catalog) -> None:
    gpus = tuple(EstateGpu("", "l40s-48gb", (), f"0000:{at}0:00.0", None, "direct") for at in (1, 2))
    hosts = tuple(EstateHost(f"esx{at}", "c", gpus=gpus) for at in range(3))
    vms = tuple(
        EstateVm(
            f"vm{at}", f"esx{at // 2}", "c", True, devices=(Device("passthrough", "", gpus[at % 2].address),)
        )
        for at in range(4)
    )
    (worst,) = tolerances(Estate("", hosts, vms), catalog, 1, frozenset(), frozenset())
    assert (worst.hosts, worst.unplaced) == ((), ())
    hosts = (*hosts[:2], replace(hosts[2], state="disconnected"))
    (worst,) = tolerances(Estate("", hosts, vms), catalog, 1, frozenset(), frozenset())
    assert (worst.hosts, worst.unplaced) == (("esx0",), ("vm0", "vm1"))
    assert list(tolerances(Estate("", hosts, vms), catalog, 0, frozenset(), frozenset())) == []


def test_bitfusion_servers_stay_and_vms_of_several_boards_take_either(catalog: Catalog) -> None:
    boards = ("l40s-48gb", "a40-48gb")
    hosts = tuple(
        EstateHost(f"esx{at}", "c", gpus=(EstateGpu("", board, (), "0000:10:00.0", None, "direct"),))
        for at, board in enumerate(boards)
    )
    vm = EstateVm("vm", "esx0", "c", True, devices=(Device("passthrough", "", "0000:10:00.0"),))
    estate, no = Estate("", hosts, (vm,)), frozenset[EstateVm]()
    (worst,) = tolerances(estate, catalog, 1, no, no)
    assert worst.unplaced == ("vm",)
    (worst,) = tolerances(estate, catalog, 1, no, {vm})
    assert worst.unplaced == ()
    assert list(tolerances(estate, catalog, 1, {vm}, no)) == []
