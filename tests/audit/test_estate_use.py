"""The use of an estate, against trying every place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import pytest
from estates import (
    A100,
    L40S,
    MOST,
    best,
    card,
    drawn_estate,
    estate_of,
    export,
    free_of,
    host,
    pci,
    profile,
    vgpu,
    vm,
    with_others,
)
from random_cases import cases

from gpuplan import Catalog
from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_use import WHOLE, EstateUse, State, free_ways, use_of

FB = {"L40S-12C": 12, "L40S-24C": 24, "L40S-48C": 48}


def whys(use: EstateUse, of: str = "evacuation") -> dict[str, list[tuple[str, str]]]:
    return {name: [(vm.vm, vm.why) for vm in blocked] for name, blocked in getattr(use, of).items()}


def test_evacuation_is_that_of_trying_every_place(catalog: Catalog) -> None:
    reasons = Counter[str]()
    for rng in cases(4011, 900, few=90):
        profiles = [f"{name}={most}" for name, most in MOST.items()]
        estate = drawn_estate(rng, rng.randint(2, 3), rng.randint(1, 2), profiles, "sameSize", "l40s-48gb")
        estate, stated = with_others(rng, estate, 5), rng.choice((0, 0, 2))
        if len(estate.vms) > 12 or not estate.vms:
            continue
        use = use_of(estate, catalog, {"c": float(stated)} if stated else {})
        assert {*use.evacuation} == {vm.host for vm in estate.vms}
        for name, left in use.evacuation.items():
            others, moving = [h.name for h in estate.hosts if h.name != name], estate.by_host[name]
            staying = [vm for vm in estate.vms if vm.host != name]
            gpus = [
                (
                    other.name,
                    [
                        profile(v)
                        for v in staying
                        if v.devices and v.host == other.name and v.devices[0].address == gpu.address
                    ],
                )
                for other in estate.hosts
                if other.name != name
                for gpu in other.gpus or ()
            ]
            free = free_of(estate, others, staying, stated)
            roomy = {host: (memory, 10_000) for host, (memory, _) in free.items()}
            found, slots = Counter(vm.why for vm in left), dict.fromkeys(others, (10_000, 10_000))
            assert len(moving) - len(left) == best(moving, gpus, free), name
            assert found["cpu"] == 0 or len(moving) - best(moving, gpus, roomy) < len(left)
            assert found["slot"] <= len(moving) - best(moving, gpus, slots)
            reasons.update(found)
    assert min(reasons[why] for why in ("slot", "memory", "cpu")) > 3


def test_more_and_stranded_are_those_of_counting(catalog: Catalog) -> None:
    for rng in cases(4012, 300, few=60):
        profiles = [f"{name}={most}" for name, most in MOST.items()]
        estate = drawn_estate(rng, 2, 3, profiles, "sameSize", "l40s-48gb")
        use = use_of(estate, catalog)
        in_use = {profile(v) for v in estate.vms}
        assert sum(len(gpu.vms) for gpu in use.gpus) == len(estate.vms)
        for gpu in use.gpus:
            able = {n: MOST[n] - len(gpu.vms) for n in in_use if not gpu.vms or gpu.state.on[0] == n}
            assert gpu.more == {n: able.get(n, 0) for n in in_use}
            free = 48 - sum(FB[name] for name in gpu.state.on)
            assert gpu.free_mb == 1024 * free
            takes = max((FB[n] * k for n, k in able.items()), default=0) if in_use else free
            assert gpu.stranded_mb == 1024 * (free - takes)


def placements(rows: Sequence[tuple[int, tuple[int, ...]]], region: int) -> bool:
    """True if pieces of (size, starts) can be on a GPU without overlap."""
    for starts in product(*(starts for _, starts in rows)):
        spans = sorted((start, start + size) for start, (size, _) in zip(starts, rows, strict=True))
        inside = all(end <= region for _, end in spans)
        if inside and all(a[1] <= b[0] for a, b in pairwise(spans)):
            return True
    return False


def test_mixed_sizes_go_by_the_listed_places(catalog: Catalog) -> None:
    places = {
        f"L40S-{row['frame_buffer_mb'] // 1024}C": row
        for row in catalog.rows("vgpu_placements")
        if row["region_gb"] == 48 and row["architecture"] in ("all", "Ada") and row["frame_buffer_mb"] >= 8192
    }
    pieces = {
        n: (row["placement_size"], tuple(map(int, row["placement_ids"].split()))) for n, row in places.items()
    }

    def fits(names: Sequence[str]) -> bool:
        counts = Counter(names)
        few = all(n <= places[name]["max_per_gpu_mixed"] for name, n in counts.items())
        return few and placements([pieces[name] for name in names], 48)

    wanted = tuple(sorted(places))
    for rng in cases(4013, 60, few=15):
        on: list[str] = []
        for _ in range(rng.randint(0, 3)):
            name = rng.choice(wanted)
            on += [name] if fits([*on, name]) else []
        for name in wanted:
            ways = free_ways(catalog, State("l40s-48gb", None, "mixedSize", tuple(sorted(on))), (name,))
            more = max((way[0] for way in ways), default=0)
            assert fits([*on, *[name] * more]) and not fits([*on, *[name] * (more + 1)]), (on, name, more)


def test_instances_go_by_slices(catalog: Catalog) -> None:
    names, mig = ("A100-3-20C", "A100-1-5C"), State("a100-pcie-40gb", None, "multiInstanceGpu")
    assert free_ways(catalog, mig.joined("A100-3-20C"), names[:1]) == ((1,),)
    assert free_ways(catalog, mig, ("A100-40C",)) == ()
    assert max(way[0] for way in free_ways(catalog, mig, names[1:])) == 7
    assert free_ways(catalog, mig._replace(mode="sameSize"), names) == ()
    assert free_ways(catalog, mig._replace(mode=None, on=("A100-X-7Z",)), names) == ()


def test_profiles_of_desktops_are_counted_by_their_published_sizes(catalog: Catalog) -> None:
    cards = [card("0000:4a:00.0", ("Tesla T4", 15 * 2**20, 0x1EB8), *range(1, 4))]
    vms = [vm(at, 1, vgpu("grid_t4-1q")) for at in range(1, 4)]
    (gpu,) = use_of(estate_of(catalog, export([host(1, cards)], vms)), catalog).gpus
    assert (gpu.more, gpu.free_mb, gpu.stranded_mb) == ({"T4-1Q": 13}, 13 * 1024, 0)


def estates() -> Iterator[tuple[str, dict[str, object]]]:
    cards = [card("0000:4a:00.0", L40S, 1), card("0000:61:00.0")]
    yield (
        "passthrough",
        export([host(1, (), [pci("0000:af:00.0", A100[2])]), host(2, cards)], [vm(1, 1, DYNAMIC)]),
    )
    yield (
        "no vmotion",
        export([host(1, cards), host(2, cards[1:])], [vm(1, 1, vgpu("nvidia_l40s-12c", migrates=False))]),
    )
    yield (
        "slot",
        export(
            [host(1, cards), host(2, cards[1:], inMaintenanceMode=True)], [vm(1, 1, vgpu("nvidia_l40s-12c"))]
        ),
    )
    small = host(2, cards[1:], memorySize=32 * 2**30)
    yield "memory", export([host(1, cards), small], [vm(1, 1, vgpu("nvidia_l40s-12c"))])


DYNAMIC = {"AllowedDevice": [{"VendorId": 0x10DE, "DeviceId": 0x20B5}], "CustomLabel": "A100"}


@pytest.mark.parametrize(("why", "content"), list(estates()))
def test_why_a_host_cannot_be_evacuated(why: str, content: dict[str, object], catalog: Catalog) -> None:
    use = use_of(estate_of(catalog, content), catalog)
    assert whys(use) == {"esx1.example.test": [("vm1", why)]}


def test_why_a_vm_would_not_restart(catalog: Catalog) -> None:
    gpus = [pci(f"0000:{at:02x}:00.0", A100[2]) for at in (16, 32)]
    fixed = {"Id": "0000:10:00.0", "DeviceId": "20b5", "SystemId": "x", "VendorId": 0x10DE}
    hosts = [host(1, (), gpus), host(2, (), gpus[:1])]
    vms = [vm(1, 1, fixed), vm(2, 1, DYNAMIC)]
    assert whys(use_of(estate_of(catalog, export(hosts, vms)), catalog), "restart") == {
        "esx1.example.test": [("vm1", "fixed")]
    }
    vms = [vm(1, 1, DYNAMIC, restartPriority="high"), vm(2, 1, DYNAMIC, restartPriority="low")]
    low = whys(use_of(estate_of(catalog, export(hosts, vms)), catalog), "restart")
    assert low == {"esx1.example.test": [("vm2", "slot")]}
    off = whys(use_of(estate_of(catalog, export(hosts, vms, ha=False)), catalog), "restart")
    assert off == {"esx1.example.test": [("vm1", "no ha"), ("vm2", "no ha")]}
    vms = [vm(1, 1, DYNAMIC, restartPriority="disabled")]
    assert whys(use_of(estate_of(catalog, export(hosts, vms)), catalog), "restart") == {
        "esx1.example.test": [("vm1", "not restarted")]
    }


def test_vms_without_a_place_in_the_file_are_put_close_together(catalog: Catalog) -> None:
    cards = [card("0000:4a:00.0"), card("0000:61:00.0")]
    vms = [vm(at, 1, vgpu("nvidia_l40s-12c")) for at in range(3)] + [vm(9, 1, vgpu("nvidia_l40s-24c"))]
    use = use_of(estate_of(catalog, export([host(1, cards)], vms)), catalog)
    assert use.packed and [gpu.state.on for gpu in use.gpus] == [("L40S-24C",), ("L40S-12C",) * 3]
    more = [*vms, vm(10, 1, vgpu("nvidia_l40s-48c"))]
    use = use_of(estate_of(catalog, export([host(1, cards)], more)), catalog)
    assert [what for _, what in use.unseated] == ["L40S-12C"] * 3


def test_a_vm_with_a_whole_gpu_leaves_nothing(catalog: Catalog) -> None:
    content = export([host(1, (), [pci("0000:af:00.0", A100[2])])], [vm(1, 1, DYNAMIC)])
    (gpu,) = use_of(estate_of(catalog, content), catalog).gpus
    assert (gpu.state.on, gpu.free_mb, gpu.stranded_mb) == ((WHOLE,), 0, 0)


def test_an_estate_without_vms_has_no_answer_to_give(catalog: Catalog) -> None:
    use = use_of(Estate("", ()), catalog)
    assert (use.gpus, use.evacuation, use.restart) == ((), {}, {})
