"""The tiles of the hosts: what each GPU holds and has room for, after failures and by kind."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved
from hosts_screen import mixed, plain, pool_of, scenario

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.catalog import Catalog
from gpuplan.models.gpu_layouts import layout_starts
from gpuplan.wording import said


def test_hosts_that_only_orders_need_are_not_called_spare(catalog: Catalog) -> None:
    book = Workbook(
        catalog,
        scenario(
            groups=[
                {"id": "a", "people": 2, "gpus_each": 1, "access": "vgpu"},
                {"id": "b", "people": 1, "gpus_each": 2, "access": "vgpu"},
            ],
            hardware={"gpu": "l40s-48gb", "gpus_per_host": 2},
            availability={"sized_for": "orders"},
        ),
    )
    assert [host["word"] for host in pool_of(book)["hosts"]] == ["2/2 used"] * 2 + [
        "for the demand",
        "failover",
    ]


def test_a_gpu_says_its_profile_and_who_is_on_it(book: Workbook) -> None:
    hosts = pool_of(book)["hosts"]
    profile = book.plan.group("researchers").profile
    assert is_approved(hosts[0]["gpus"][3]["title"], "4", profile, "1", "4 GPUs")
    assert is_approved(hosts[3]["gpus"][0]["title"], "1", "32\u202f768 MB", "1", "2")
    assert hosts[7]["gpus"][0]["title"] == "GPU 1: free"


def test_a_host_is_read_aloud_in_a_few_words(book: Workbook) -> None:
    names = [host["name"] for host in pool_of(book)["hosts"]]
    assert is_approved(names[0], "1", "4", "4", "1")
    assert "16 x Developers" in names[5]
    assert is_approved(names[7], "8")
    assert max(map(len, names)) < 100


def test_pieces_are_as_large_as_their_frame_buffer(catalog: Catalog) -> None:
    book = Workbook(catalog, mixed())
    first, second = pool_of(book)["hosts"][0]["gpus"][:2]
    assert [part["weight"] for part in first["parts"]] == [24576, 24576]
    assert (first["free"], first["rest"]) == (0, 0)
    assert sorted(part["weight"] for part in second["parts"]) == [12288, 24576]
    assert second["free"] == 12288
    assert "L40S-24C at 0, L40S-12C at 24. " in second["title"]
    assert "Halves 3, Quarters 1" in second["title"]
    assert has_approved(second["title"], "12\u202f288 MB", "1", "L40S-12C")


def titles(book: Workbook) -> list[str]:
    return [gpu["title"] for host in pool_of(book)["hosts"] for gpu in host["gpus"]]


def people(*asked: tuple[int, float | str], **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"g{at}", "people": n, "gpus_each": share, "remote_allowed": False, **more}
        for at, (n, share) in enumerate(asked)
    ]


def test_a_gpu_says_where_each_profile_starts(catalog: Catalog) -> None:
    sizes = {"vsphere": "8.0u3", "vgpu_sizes": "mixed"}
    a40 = {"hardware": {"gpu": "a40-48gb"}, "platform": sizes}
    first, *_ = titles(Workbook(catalog, scenario(groups=people((1, 0.5), (2, 0.25)), **a40)))
    assert has_approved(first, "1", "A40-24C", "0", "A40-12C", "24", "36")
    a100 = {"hardware": {"gpu": "a100-pcie-80gb"}, "platform": sizes}
    (small, *_) = titles(Workbook(catalog, scenario(groups=people((16, "1/20")), **a100)))
    assert has_approved(small, "1", "A100D-4C", "16", "0")
    equal = a40 | {"platform": sizes | {"vgpu_sizes": "equal"}}
    first, *_ = titles(Workbook(catalog, scenario(groups=people((2, 0.25)), **equal)))
    assert first.startswith("GPU 1: 2 x A40-12C. ")


def test_mig_starts_with_the_largest_piece(catalog: Catalog) -> None:
    for order in (("1/7", "3/7"), ("3/7", "1/7")):
        groups = people(*((1 if share == "3/7" else 3, share) for share in order), isolation=True)
        first, *_ = titles(Workbook(catalog, scenario(groups=groups, hardware={"gpu": "a100-pcie-80gb"})))
        assert has_approved(first, "1", "A100D-3-40C", "0", "A100D-1-10C", "4", "5", "6")


def test_starts_are_worked_out_once_for_a_plan(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def counted(counts: Any, **given: Any) -> Any:
        asked.append(tuple(counts))
        return layout_starts(counts, **given)

    monkeypatch.setattr("gpuplan.plan.sharing.layout_starts", counted)
    book = Workbook(catalog, mixed())
    picture_data(book)
    picture_data(book)
    assert len(asked) == len(set(asked)) == 2
    book.edit("groups.a.people", "4")
    picture_data(book)
    assert len(asked) > 2


def test_what_nobody_can_use_is_not_drawn_as_free(catalog: Catalog) -> None:
    sliced = scenario(
        groups=[{"id": "a", "people": 7, "gpus_each": "1/7", "isolation": True}],
        hardware={"gpu": "a100-pcie-80gb"},
    )
    gpu = pool_of(Workbook(catalog, sliced))["hosts"][0]["gpus"][0]
    assert len(gpu["parts"]) == 7
    assert (gpu["free"], gpu["rest"] > 0) == (0, True)
    assert has_approved(gpu["title"])


def test_many_pieces_are_one_for_each_group(catalog: Catalog) -> None:
    many = scenario(
        groups=[{"id": "a", "name": "Tiny", "people": 20, "gpus_each": 0.05}], platform={"bitfusion": True}
    )
    gpu = pool_of(Workbook(catalog, many))["hosts"][0]["gpus"][0]
    assert len(gpu["parts"]) == 1
    assert gpu["parts"][0]["text"].endswith("\u00d720")
    assert "Tiny 1\u201320" in gpu["title"]


def test_hosts_that_are_there_already_show_what_they_have(catalog: Catalog) -> None:
    old = scenario(
        groups=[
            {"id": "a", "people": 10, "vcpus_each": 10, "memory_gib_each": 100},
        ],
        hardware={
            "existing_hosts": 2,
            "existing_gpus_per_host": 2,
            "vcpus_per_host": 64,
            "memory_gib_per_host": 1024,
        },
    )
    pool = pool_of(Workbook(catalog, old))
    assert [len(host["gpus"]) for host in pool["hosts"][:3]] == [2, 2, 4]
    assert pool["about"].startswith("2 x 2 GPUs (existing) and ")
    used = next(host for host in pool["hosts"] if host["word"] == "4/4 used")
    assert has_approved(used["title"], "24", "64 vCPUs", "624", "1\u202f024 GiB")


def test_gpus_of_no_group_and_no_groups(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(demand={"stated_gpus": 5}))
    assert pool_of(book)["legend"][-1]["name"] == said("table.groups.stated total")
    book.toggle_host("gpu", 1)
    pool_of(book)
    assert plain(picture_data(Workbook(catalog)))["pools"] == []


def test_a_running_mig_gpu_has_room_for_no_larger_instance(catalog: Catalog) -> None:
    # a 1g that runs alone is at 0, where 2g and 4g begin first: room for more of its own kind is all that is sure
    groups = people((4, "3/7"), (5, "2/7"), (12, "1/7"), isolation=True)
    found = titles(Workbook(catalog, scenario(groups=groups, hardware={"gpu": "a100-pcie-80gb"})))
    (alone,) = [title for title in found if title.split(": ")[1].startswith("A100D-1-10C at 0. ")]
    assert alone.endswith("room for 6 more A100D-1-10C")
