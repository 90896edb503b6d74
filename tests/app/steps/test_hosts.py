"""The picture of the hosts: who is on which GPU, before and after failures, in three degrees of detail."""

from __future__ import annotations

import pytest
from approved import is_approved
from hosts_screen import plain, pool_of, scenario

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps.host_picture import LARGE
from gpuplan.app.steps.hosts import SHOWN_KINDS, picture_data
from gpuplan.catalog import Catalog
from gpuplan.report.tables import host_kinds


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


def test_a_failed_host_and_who_lands_where(book: Workbook) -> None:
    book.toggle_host("vgpu", 1)
    pool = pool_of(book)
    assert picture_data(book)["any_down"]
    assert [host["state"] for host in pool["hosts"]] == ["failed", "", "", "", "", "", "", "landing"]
    assert pool["hosts"][7]["word"] == "gets H1"
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

    assert is_approved(names())
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
