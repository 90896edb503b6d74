"""Stated profiles: their names, what they agree with, and where they are placed, by the vendor's tables and by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from random_cases import cases

from gpuplan import Plan, check_plan, make_plan
from gpuplan.analysis.candidates import SHARING, asked
from gpuplan.analysis.option import assess
from gpuplan.catalog import Catalog
from gpuplan.plan.profiles import vgpus_named
from gpuplan.plan.sharing import version_order
from gpuplan.scenario import ScenarioError, from_dict

A100, H100, L40S = "a100-pcie-40gb", "h100-sxm5-80gb", "l40s-48gb"


def planned(
    catalog: Catalog,
    gpu: str,
    groups: Sequence[dict[str, Any]],
    version: str = "8.0u3",
    gpus_per_host: int = 8,
    sizes: str = "equal",
) -> Plan:
    """The plan of these groups, of one person each where they do not say."""
    usual = {"people": 1, "remote_allowed": False}
    rows = [{"id": f"g{at}", "name": f"g{at}", **usual, **group} for at, group in enumerate(groups)]
    scenario = from_dict(
        {
            "groups": rows,
            "hardware": {"gpu": gpu, "gpus_per_host": gpus_per_host},
            "platform": {"vsphere": version, "vgpu_sizes": sizes},
            "availability": {"host_failures": 0},
        }
    )
    return make_plan(scenario, catalog)


def occupied(plan: Plan) -> int:
    return sum(pool.gpus_occupied for pool in plan.pools)


def refused(catalog: Catalog, gpu: str, group: dict[str, Any], version: str = "8.0u3") -> dict[str, str]:
    with pytest.raises(ScenarioError) as error:
        planned(catalog, gpu, [group], version)
    return {problem.path.removeprefix("groups.g0."): problem.message for problem in error.value.problems}


@pytest.mark.parametrize("written", ["{}", "nvidia_{}", "GRID_{}", "2 x {}", "{} + {}"])
def test_every_profile_of_the_catalog_is_read_by_each_of_its_names(catalog: Catalog, written: str) -> None:
    read = 0
    for gpu in (A100, H100, L40S, "a30-24gb", "h200-nvl-141gb", "v100-pcie-32gb", "b200-sxm6-180gb"):
        for row in catalog.profiles_of(gpu):
            several = row["multi_vgpu_vsphere8"] or ("2 x" not in written and "+ " not in written)
            if row["backing"] == "mig-timesliced" or not several:
                continue
            for name in {
                str(row["profile"]),
                str(row["profile"]).lower(),
                *filter(None, [row["mig_profile"]]),
            }:
                if "_" in written and (name == row["mig_profile"] or "whole" in name.lower()):
                    continue
                group = planned(catalog, gpu, [{"profile": written.format(*[name] * 2)}], "9.0").groups[0]
                assert (group.profile, group.backing) == (row["profile"], row["backing"]), (gpu, name)
                assert group.vgpus == (2 if "2" in written or " + " in written else 1)
                read += 1
    assert read > 80


def test_names_of_kubernetes_are_read(catalog: Catalog) -> None:
    for name in ("nvidia.com/mig-1g.5gb.me", "mig-1g.5gb+me", "MIG 1g.5gb+me"):
        assert planned(catalog, A100, [{"profile": name}]).groups[0].profile == "A100-1-5CME"


def test_4g_and_3g_share_a_gpu(catalog: Catalog) -> None:
    plan = planned(catalog, A100, [{"profile": "4g.20gb"}, {"profile": "3g.20gb"}], gpus_per_host=1)
    assert [(group.profile, group.mode) for group in plan.groups] == [
        ("A100-4-20C", "mig"),
        ("A100-3-20C", "mig"),
    ]
    assert (plan.totals.gpus, plan.lines["demand.gpus"].value) == (1, 1.0)
    assert plan.lines["groups.g0.profile_gpus"].inputs[0].value == "4g.20gb"


def test_a_board_s_own_profiles_are_named_in_a_refusal(catalog: Catalog) -> None:
    for name in ("5g.20gb", "H100XM-80C", "l40s-12q", "4g.20gb 3g.20gb", "+", "0 x 4g.20gb ", "-1 x 4g.20gb"):
        words = refused(catalog, A100, {"profile": name})["profile"]
        own = [row for row in catalog.profiles_of(A100) if row["backing"] in ("mig", "timesliced")]
        assert all(str(row["profile"]) in words for row in own), name


def test_a_profile_of_a_later_version_is_refused_with_that_version(catalog: Catalog) -> None:
    order = version_order(catalog)
    for name, first in (
        ("1g.10gb", "8.0u3"),
        ("1g.5gb+me", "8.0u3"),
        ("4g.20gb", "7.0u2"),
        ("A100-20C", "7.0u2"),
    ):
        for version in order:
            if order[version] < order[first] and name != "A100-20C":
                words = refused(catalog, A100, {"profile": name}, version)["profile"]
                assert catalog.vsphere[first].name in words, (name, version)
        assert planned(catalog, A100, [{"profile": name}], first).groups[0].mode


@pytest.mark.parametrize(
    ("field", "value", "agrees"),
    [
        ("gpus_each", 1, True),  # as when it is left out
        ("gpus_each", "4/7", True),
        ("gpus_each", 0.57, True),
        ("gpus_each", 0.5, True),  # its share of the memory
        ("gpus_each", 0.25, False),
        ("gpus_each", 0.75, False),
        ("gpus_each", 2, False),
        ("access", "mig", True),
        ("access", "vgpu", False),
        ("access", "passthrough", False),
        ("vgpus_each", 2, True),
    ],
)
def test_what_is_stated_beside_a_profile_agrees_or_is_refused(
    catalog: Catalog, field: str, value: Any, agrees: bool
) -> None:
    group = {"profile": "4g.20gb", field: value}
    if agrees:
        assert planned(catalog, A100, [group]).groups[0].profile == "A100-4-20C"
    else:
        assert list(refused(catalog, A100, group)) == [field]


def test_whole_profiles_come_in_any_number(catalog: Catalog) -> None:
    for group, gpus in (
        ({"profile": "nvidia_h100xm-80c"}, 1),
        ({"profile": "H100XM-80C", "gpus_each": 4}, 4),
        ({"profile": "2 x H100XM-80C"}, 2),
        ({"profile": "Nvidia:4@nvidia_h100xm-80c%NVLink"}, 4),
        ({"profile": "7g.80gb"}, 1),
    ):
        plan = planned(catalog, H100, [group])
        assert (plan.groups[0].gpus_each, occupied(plan)) == (gpus, gpus)
        assert plan.groups[0].mode == ("mig" if "7g" in group["profile"] else "vgpu")
    assert list(refused(catalog, H100, {"profile": "2 x H100XM-80C", "gpus_each": 4})) == ["gpus_each"]


def test_a_language_model_runs_on_the_stated_profile(catalog: Catalog) -> None:
    model = {"use_case": "llm-serving", "model": "llama-3.1-8b", "people": 20}
    for name, gpus in (("h100xm-40c", 0.5), ("3g.40gb", 0.5), ("h100xm-80c", 1)):
        plan = planned(catalog, H100, [{"profile": name, **model}])
        assert plan.groups[0].gpus_each == gpus
        assert plan.groups[0].profile == {"3g.40gb": "H100XM-3-40C"}.get(
            name, name.upper().replace("XM", "XM")
        )


def test_explore_keeps_the_profile_where_a_board_has_it_and_tells_elsewhere(catalog: Catalog) -> None:
    plan = planned(catalog, "a100-pcie-80gb", [{"profile": "4g.40gb", "people": 4}], "9.0", gpus_per_host=2)
    own = asked(plan.scenario)
    for gpu in ("a100-pcie-80gb", "h100-pcie-80gb", "h200-nvl-141gb"):
        for sharing in SHARING[:2]:
            candidate = replace(own, gpu=gpu, server="", gpus_per_host=2, sharing=sharing)
            option = assess(plan.scenario, catalog, candidate)
            if gpu == "h200-nvl-141gb":
                assert option.hosts is None and "4g.40gb" in option.reasons[0]
            else:
                assert (option.hosts, option.modes) == (2, ("mig",))


def test_two_sizes_in_a_vm_have_gpus_of_their_own(catalog: Catalog) -> None:
    for text, version, sizes, each in (
        ("l40s-24c + l40s-8c", "8.0", "equal", 2),
        ("L40S-8C + nvidia_l40s-24c", "8.0u3", "mixed", 1),
        ("3 x l40s-24c + l40s-8c", "9.0", "equal", 3),
        ("3 x l40s-24c + l40s-8c", "9.0", "mixed", 2),
        ("l40s-48c + l40s-24c", "8.0u2", "equal", 2),
    ):
        plan = planned(
            catalog, L40S, [{"profile": text, "people": 2}, {"profile": "l40s-24c"}], version, 8, sizes
        )
        group = plan.group("g0")
        named = Counter(vgpus_named(group.profile, group.vgpus))
        assert named == Counter(
            name.upper().removeprefix("NVIDIA_")
            for part in text.split(" + ")
            for name in [part.split(" ")[-1]] * int(part[0] if part[1] == " " else 1)
        )
        assert occupied(plan) == 2 * each + 1
        assert group.frame_buffer_mb == sum(int(n.split("-")[1][:-1]) * 1024 for n in named.elements())
        assert "vgpus-of-two-sizes" in {message.code for message in check_plan(plan)}
    plan = planned(catalog, A100, [{"profile": "3g.20gb + 2g.10gb"}])
    assert (plan.groups[0].profile, occupied(plan)) == ("A100-3-20C + A100-2-10C", 1)


def test_two_sizes_in_a_vm_are_refused_with_the_version_that_has_them(catalog: Catalog) -> None:
    order = version_order(catalog)
    for version in order:
        group = {"profile": "A40-24C + A40-8C"}
        if order[version] < order["8.0"]:
            assert catalog.vsphere["8.0"].name in refused(catalog, "a40-48gb", group, version)["profile"]
        else:
            assert planned(catalog, "a40-48gb", [group], version).groups[0].vgpus == 2
    assert list(refused(catalog, A100, {"profile": "3g.20gb + A100-20C"})) == ["profile"]  # of both backings


def test_a_stated_profile_stays_on_the_board_of_the_design(catalog: Catalog) -> None:
    def boards(**group: Any) -> tuple[str, ...]:
        rows = [{"id": "g", "name": "g", "gpus_each": 1, "access": "vgpu", "remote_allowed": False, **group}]
        hardware = {
            "gpu": "h100-pcie-80gb",
            "gpus_per_host": 4,
            "existing": [{"name": "old", "hosts": 2, "gpus_per_host": 4, "gpu": "h100-nvl-94gb"}],
        }
        plan = make_plan(
            from_dict({"groups": rows, "hardware": hardware, "platform": {"vsphere": "9.0"}}), catalog
        )
        return plan.requests.by_group["g"].boards

    assert boards() == ("h100-pcie-80gb", "h100-nvl-94gb")
    assert boards(profile="H100-80C") == ("h100-pcie-80gb",)


def test_what_is_held_of_a_gpu_is_no_more_than_there_is(catalog: Catalog) -> None:
    plan = planned(catalog, A100, [{"profile": "4g.20gb"}, {"profile": "2g.10gb"}, {"profile": "1g.5gb+me"}])
    assert occupied(plan) == 1
    assert plan.held_gpus[""].value <= 1.05  # 2g counts as a third


# ---- placed by hand: every way to divide the VMs among GPUs, every start on a GPU


def divisions(vms: Sequence[str]) -> Iterator[list[list[str]]]:
    """All ways to divide VMs among GPUs."""
    if not vms:
        yield []
        return
    for rest in divisions(vms[1:]):
        for at, gpu in enumerate(rest):
            yield [*rest[:at], [vms[0], *gpu], *rest[at + 1 :]]
        yield [[vms[0]], *rest]


def fewest(vms: Sequence[str], fits: Callable[[list[str]], bool]) -> int:
    return min(len(way) for way in divisions(vms) if all(map(fits, way)))


def mig_fits(catalog: Catalog, gpu: str) -> Callable[[list[str]], bool]:
    """Whether MIG instances fit on a GPU, the largest first, each at the first of its starts that is free."""
    rows = {str(row["mig_profile"]): row for row in catalog.rows("mig_placements") if gpu in row["gpus"]}

    def fits(names: list[str]) -> bool:
        taken: set[int] = set()
        for name in sorted(names, key=lambda n: (-rows[n]["memory_slices"], -rows[n]["compute_slices"])):
            starts = map(int, str(rows[name]["start_positions"]).split())
            spans = (set(range(start, start + rows[name]["memory_slices"])) for start in starts)
            span = next((s for s in spans if not s & taken), None)
            if span is None:
                return False
            taken |= span
        few = all(n <= rows[name]["max_instances"] for name, n in Counter(names).items())
        return (
            few
            and sum(rows[name]["compute_slices"] for name in names) <= rows[names[0]]["compute_slices_total"]
        )

    return fits


def mixed_fits(catalog: Catalog, region: int, sizes: dict[str, int]) -> Callable[[list[str]], bool]:
    """Whether vGPUs of these frame buffers fit on a GPU at any of their places."""
    rows = {r["frame_buffer_mb"]: r for r in catalog.rows("vgpu_placements") if r["region_gb"] == region}

    def fits(names: list[str], taken: frozenset[int] = frozenset()) -> bool:
        if not names:
            return True
        row = rows[sizes[names[0]]]
        spans = (range(at, at + row["placement_size"]) for at in map(int, str(row["placement_ids"]).split()))
        return any(fits(names[1:], taken | set(span)) for span in spans if taken.isdisjoint(span))

    return fits


def drawn(rng: random.Random, names: Sequence[str]) -> list[str]:
    return sorted(rng.choices(names, k=rng.randint(1, 6)))


def groups_of(vms: Sequence[str]) -> list[dict[str, Any]]:
    return [{"profile": name, "people": n} for name, n in Counter(vms).items()]


def test_mig_profiles_take_as_few_gpus_as_every_division_shows(catalog: Catalog) -> None:
    names = {
        gpu: [str(r["mig_profile"]) for r in catalog.profiles_of(gpu) if r["backing"] == "mig"]
        for gpu in (A100, H100, "a30-24gb")
    }
    for rng in cases(4001, 400, few=25):
        gpu = rng.choice(list(names))
        vms = drawn(rng, [name for name in names[gpu] if not name.startswith("7g")])
        plan = planned(catalog, gpu, groups_of(vms))
        assert occupied(plan) == fewest(vms, mig_fits(catalog, gpu)), (gpu, vms)


@pytest.mark.parametrize("sizes", ["equal", "mixed"])
def test_vgpu_profiles_take_as_few_gpus_as_every_division_shows(catalog: Catalog, sizes: str) -> None:
    rows = {str(r["profile"]): r for r in catalog.profiles_of(L40S) if not r["full_frame_buffer"]}
    mixed = mixed_fits(catalog, 48, {name: row["frame_buffer_mb"] for name, row in rows.items()})

    def equal(names: list[str]) -> bool:
        return len(set(names)) == 1 and len(names) <= rows[names[0]]["max_per_gpu"]

    for rng in cases(4002, 300, few=20):
        vms = drawn(rng, list(rows))
        plan = planned(catalog, L40S, groups_of(vms), sizes=sizes)
        assert occupied(plan) == fewest(vms, mixed if sizes == "mixed" else equal), vms


def test_many_vms_are_between_the_slices_and_a_gpu_each(catalog: Catalog) -> None:
    rows = {str(r["mig_profile"]): r for r in catalog.rows("mig_placements") if A100 in r["gpus"]}
    for rng in cases(4003, 40, few=4):
        people = {
            name: rng.randint(20, 200) for name in rng.sample(["4g.20gb", "3g.20gb", "2g.10gb", "1g.5gb"], 3)
        }
        plan = planned(catalog, A100, [{"profile": name, "people": n} for name, n in people.items()])
        least = max(
            -(-sum(n * rows[name][f"{kind}_slices"] for name, n in people.items()) // every)
            for kind, every in (("compute", 7), ("memory", 8))
        )
        alone = sum(-(-n // rows[name]["max_instances"]) for name, n in people.items())
        assert least <= occupied(plan) <= alone
