"""The picture of the hosts: who is on which GPU, before and after failures, in three degrees of detail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import LARGE, SHOWN_KINDS, picture_data
from gpuplan.catalog import Catalog
from gpuplan.models.gpu_layouts import layout_starts
from gpuplan.report.tables import host_kinds
from gpuplan.scenario import Scenario, from_dict


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def scenario(**data: Any) -> Scenario:
    return from_dict(data)


def pool_of(book: Workbook, at: int = 0) -> dict[str, Any]:
    pool = plain(picture_data(book))["pools"][at]
    assert isinstance(pool, dict)
    return pool


def mixed(sizes: str = "mixed") -> Scenario:
    return scenario(
        groups=[
            {"id": "a", "name": "Halves", "people": 3, "gpus_each": 0.5},
            {"id": "b", "name": "Quarters", "people": 1, "gpus_each": 0.25},
        ],
        hardware={"gpu": "l40s-48gb"},
        platform={"vsphere": "8.0u3", "vgpu_sizes": sizes},
    )


def test_the_picture_shows_every_gpu_of_every_host(book: Workbook) -> None:
    pool = pool_of(book)
    assert pool["zoom"] == "large"
    assert [host["number"] for host in pool["hosts"]] == list(range(1, 9))
    assert all(len(host["gpus"]) == 4 for host in pool["hosts"])
    assert [host["state"] for host in pool["hosts"]] == [""] * 7 + ["spare"]
    assert pool["more"] == 0
    assert {row["name"] for row in pool["legend"]} == {g.name for g in book.scenario.groups}
    # three researchers with four GPUs each: R on twelve GPUs
    shown = [part["text"] for host in pool["hosts"] for gpu in host["gpus"] for part in gpu["parts"]]
    assert shown.count(book.plan.group("researchers").letter) == 12
    assert shown.count(book.plan.group("data-scientists").letter) == 16


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
    assert [host["word"] for host in pool_of(book)["hosts"]] == ["2/2 used"] * 2 + ["for orders", "spare"]


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


def test_a_failed_host_and_who_lands_where(book: Workbook) -> None:
    book.toggle_host("vgpu", 1)
    pool = pool_of(book)
    assert picture_data(book)["any_down"]
    assert [host["state"] for host in pool["hosts"]] == ["failed", "", "", "", "", "", "", "landing"]
    assert pool["hosts"][7]["word"] == "gets R1"
    assert pool["hosts"][1]["word"] == "running"


def test_a_host_in_maintenance_beside_a_failed_one(book: Workbook) -> None:
    book.set_click("maintain")
    book.toggle_host("vgpu", 1)
    book.set_click("fail")
    book.toggle_host("vgpu", 8)  # the researcher has just moved there
    hosts = pool_of(book)["hosts"]
    assert [hosts[0]["state"], hosts[7]["state"]] == ["maintenance", "failed"]
    assert hosts[0]["word"] == "maintenance"
    assert all(host["state"] != "landing" for host in hosts)


def test_every_set_of_failures_can_be_drawn(book: Workbook) -> None:
    for host in range(1, 9):
        book.toggle_host("vgpu", host)
        pool_of(book)
    assert all(host["state"] == "failed" for host in pool_of(book)["hosts"])


def test_many_hosts_are_drawn_compact(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(groups=[{"id": "a", "people": 4 * LARGE}]))
    pool = pool_of(book)
    assert (pool["zoom"], len(pool["hosts"])) == ("compact", LARGE + 1)
    assert pool["hosts"][0]["head"] == "1"
    assert pool["hosts"][0]["title"] == "Host 1: 4 of 4 used"


def test_very_many_hosts_are_drawn_by_kind(catalog: Catalog) -> None:
    """66 hosts are clusters of 34 and 33."""
    people = 4 * 64 + 2
    book = Workbook(catalog, scenario(groups=[{"id": "a", "name": "People", "people": people}]))
    pool = pool_of(book, 1)
    assert pool["zoom"] == "kinds"
    assert [host["head"] for host in pool["hosts"]] == ["\u00d7\u202f31", "\u00d7\u202f1", "\u00d7\u202f1"]
    assert [host["state"] for host in pool["hosts"]] == ["", "", "spare"]
    assert pool["hosts"][0]["number"] == 1
    for _ in range(2):
        book.toggle_host("vgpu-2", pool_of(book, 1)["hosts"][0]["number"])
    pool = pool_of(book, 1)
    assert book.failed["vgpu-2"] == (1, 2)
    assert (pool["hosts"][0]["state"], pool["hosts"][0]["word"]) == ("failed", "2 failed")
    assert not pool["hosts"][0]["all_down"]
    assert pool["hosts"][0]["number"] == 3
    assert {host["word"] for host in pool["hosts"][1:]} == {"gets 2 VMs", "gets 4 VMs"}
    book.restore_hosts()
    book.toggle_host("vgpu-2", pool["hosts"][2]["number"])
    assert pool_of(book, 1)["hosts"][2]["number"] == 0  # there is no other one like it


def test_one_host_of_a_kind_comes_back_at_a_time(catalog: Catalog) -> None:
    groups = [{"id": "a", "name": "People", "people": 4 * 64 + 2}]
    book = Workbook(catalog, scenario(groups=groups))
    assert {host["back"] for host in pool_of(book, 1)["hosts"]} == {0}
    book.toggle_host("vgpu-2", 1)
    book.toggle_host("vgpu-2", 2)
    book.set_click("maintain")
    book.toggle_host("vgpu-2", 3)
    assert [host["back"] for host in pool_of(book, 1)["hosts"]] == [
        3,
        0,
        0,
    ]  # a click would take the next to maintenance
    book.set_click("fail")
    assert pool_of(book, 1)["hosts"][0]["back"] == 2  # the last one that failed
    for left in (1, 3, 0):
        book.bring_back("vgpu-2", pool_of(book, 1)["hosts"][0]["back"])
        assert pool_of(book, 1)["hosts"][0]["back"] == left
    assert not picture_data(book)["any_down"]
    book.toggle_host("vgpu-2", pool_of(book, 1)["hosts"][2]["number"])
    assert pool_of(book, 1)["hosts"][2]["back"] == 33  # the only one of its kind


def test_the_buttons_say_what_they_do(book: Workbook) -> None:
    def names() -> list[str]:
        return [button["name"] for button in pool_of(book)["worst"]["buttons"]]

    assert names() == ["Worst failure", "Worst pair"]
    assert pool_of(book)["worst"]["beside"] == ""
    book.set_click("maintain")
    book.toggle_host("vgpu", 1)
    assert pool_of(book)["worst"]["beside"] == "Beside host 1"
    assert is_approved(names(), "1", "1")
    book.toggle_host("vgpu", 2)
    assert pool_of(book)["worst"]["beside"] == "Beside hosts 1, 2"
    for host in range(3, 8):
        book.toggle_host("vgpu", host)
    assert is_approved(names(), "7 hosts")
    book.toggle_host("vgpu", 8)
    assert names() == []


def test_not_more_kinds_than_can_be_read(catalog: Catalog) -> None:
    """120 hosts and two spare ones: in each of two clusters those of half the groups, and a spare one."""
    groups = [{"id": f"g{n}", "people": 2, "gpus_each": 8} for n in range(2 * SHOWN_KINDS + 12)]
    book = Workbook(catalog, scenario(groups=groups, hardware={"gpus_per_host": 8}))
    pool = pool_of(book)
    assert len(pool["hosts"]) == SHOWN_KINDS
    assert pool["more"] == len(host_kinds(book.plan.pools[0])) - SHOWN_KINDS == 7


def test_kinds_hold_every_host_once(book: Workbook) -> None:
    (pool,) = book.plan.pools
    kinds = host_kinds(pool)
    assert sorted(index for members in kinds for index in members) == list(range(pool.hosts))
    assert [0, 1, 2] not in kinds or len(kinds) < pool.hosts  # equal hosts are one kind


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
    assert has_approved(used["title"], "24", "64 vCPUs", "624", "1024 GiB")


def test_gpus_of_no_group_and_no_groups(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(demand={"stated_gpus": 5}))
    assert pool_of(book)["legend"][-1]["name"] == "Stated total"
    book.toggle_host("gpu", 1)
    pool_of(book)
    assert plain(picture_data(Workbook(catalog)))["pools"] == []


def test_a_running_mig_gpu_has_room_for_no_larger_instance(catalog: Catalog) -> None:
    # a 1g that runs alone is at 0, where 2g and 4g begin first: room for more of its own kind is all that is sure
    groups = people((4, "3/7"), (5, "2/7"), (12, "1/7"), isolation=True)
    found = titles(Workbook(catalog, scenario(groups=groups, hardware={"gpu": "a100-pcie-80gb"})))
    (alone,) = [title for title in found if title.split(": ")[1].startswith("A100D-1-10C at 0. ")]
    assert alone.endswith("room for 6 more A100D-1-10C")


def test_of_many_clusters_one_is_shown_and_the_others_keep_their_lost_hosts(catalog: Catalog) -> None:
    """Nine clusters of a pool: a host that fails in the fourth moves nobody in another."""
    groups = [{"id": "a", "name": "People", "people": 4 * 63 * 9}]
    book = Workbook(catalog, scenario(groups=groups))
    data = plain(picture_data(book))
    assert [cluster["text"] for cluster in data["clusters"]] == [str(n) for n in range(1, 10)]
    assert [pool["id"] for pool in data["pools"]] == ["vgpu-1"]
    book.look("cluster", "vgpu-4")
    book.toggle_host("vgpu-4", 3)
    data = plain(picture_data(book))
    (pool,) = data["pools"]
    assert (pool["id"], pool["zoom"]) == ("vgpu-4", "kinds")
    assert [host["word"] for host in pool["hosts"] if host["state"] == "failed"] == ["1 failed"]
    assert [cluster["state"] for cluster in data["clusters"]] == [""] * 3 + ["failed"] + [""] * 5
    assert all(book.outcome(each.id) is None for each in book.plan.pools if each.id != "vgpu-4")
    book.look("cluster", "vgpu-5")
    assert all(host["state"] != "failed" for host in pool_of(book)["hosts"])
    assert book.failed["vgpu-4"] == (3,)
