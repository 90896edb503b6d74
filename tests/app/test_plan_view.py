"""The plan on the screen: hosts that are down, what is worked out once, details that are open."""

from __future__ import annotations

import itertools

import pytest
from approved import has_approved

pytest.importorskip("traitlets")

from gpuplan.app.plan_view import playable
from gpuplan.app.state import Workbook
from gpuplan.models.placement import Request, Room
from gpuplan.plan import fail_hosts


def hosts(book: Workbook) -> int:
    return book.plan.totals.hosts


def test_hosts_fail_and_come_back(book: Workbook) -> None:
    book.toggle_host("vgpu", 3)
    book.toggle_host("vgpu", 1)
    assert book.failed == {"vgpu": (3, 1)}
    book.toggle_host("vgpu", 3)
    assert book.failed == {"vgpu": (1,)}
    book.restore_hosts()
    assert book.failed == {}


def test_failed_hosts_that_no_longer_exist_are_forgotten(book: Workbook) -> None:
    book.toggle_host("vgpu", 2)
    book.toggle_host("vgpu", 8)
    book.edit("groups.data-scientists.people", "0")
    assert hosts(book) == 6
    assert book.failed == {"vgpu": (2,)}
    book.edit("platform.bitfusion_servers", "passthrough")
    book.edit("groups.researchers.people", "0")
    assert "vgpu" not in book.failed


def test_a_host_is_failed_or_in_maintenance_never_both(book: Workbook) -> None:
    book.toggle_host("vgpu", 3)
    book.set_click("maintain")
    book.toggle_host("vgpu", 1)
    assert (book.failed["vgpu"], book.maintenance["vgpu"]) == ((3,), (1,))
    book.toggle_host("vgpu", 3)
    assert (book.failed["vgpu"], book.maintenance["vgpu"]) == ((), (1, 3))
    book.toggle_host("vgpu", 3)
    assert book.maintenance["vgpu"] == (1,)
    book.set_click("nonsense")
    assert book.click == "maintain"
    book.edit("groups.data-scientists.people", "0")
    book.edit("groups.researchers.people", "0")
    assert book.maintenance["vgpu"] == (1,)
    book.restore_hosts()
    assert not book.maintenance


def test_the_worst_failure_and_the_worst_pair_are_found(book: Workbook) -> None:
    book.toggle_host("vgpu", 1)
    book.fail_worst("vgpu", 1)
    assert book.failed["vgpu"] == (6,)  # the developers' host: most restarts
    book.fail_worst("vgpu", 2)
    outcome = book.outcome("vgpu")
    assert outcome
    assert len(book.failed["vgpu"]) == 2
    assert len(outcome.unplaced) == book.worst("vgpu", 2)[0].unplaced > 0
    before = book.failed
    book.fail_worst("nowhere", 1)
    book.fail_worst("vgpu", 0)
    assert book.failed == before


@pytest.mark.parametrize("lost", [1, 2])
def test_the_worst_failure_beside_maintenance_is_found(book: Workbook, lost: int) -> None:
    book.set_click("maintain")
    book.toggle_host("vgpu", 6)  # the developers' host, whose loss is the worst of all
    book.fail_worst("vgpu", lost)
    assert book.maintenance["vgpu"] == (6,)
    failed = book.failed["vgpu"]
    assert len(failed) == lost
    assert 6 not in failed
    groups = {g.id: g.gpus_each for g in book.scenario.groups}

    def short(hosts: tuple[int, ...]) -> float:
        outcome = fail_hosts(book.plan, "vgpu", hosts, (6,))
        return round(sum(groups[group] for group, _ in outcome.unplaced), 6)

    others = [n for n in range(1, 9) if n != 6]
    assert short(failed) == max(map(short, itertools.combinations(others, lost)))
    assert (len(outcome.unplaced) if (outcome := book.outcome("vgpu")) else 0) == book.worst(
        "vgpu", lost, (6,)
    )[0].unplaced


def test_the_worst_failure_needs_a_host_that_runs(book: Workbook) -> None:
    book.set_click("maintain")
    for host in range(1, 8):
        book.toggle_host("vgpu", host)
    book.fail_worst("vgpu", 2)
    assert book.failed["vgpu"] == ()
    book.fail_worst("vgpu", 1)
    assert (book.failed["vgpu"], len(book.maintenance["vgpu"])) == ((8,), 7)
    book.toggle_host("vgpu", 8)
    book.fail_worst("vgpu", 1)
    assert book.failed["vgpu"] == ()


def test_one_host_comes_back(book: Workbook) -> None:
    book.toggle_host("vgpu", 3)
    book.toggle_host("vgpu", 1)
    book.set_click("maintain")
    book.toggle_host("vgpu", 2)
    book.bring_back("vgpu", 1)
    assert (book.failed["vgpu"], book.maintenance["vgpu"]) == ((3,), (2,))
    book.bring_back("vgpu", 2)
    book.bring_back("vgpu", 5)
    book.bring_back("nowhere", 5)
    assert (book.failed["vgpu"], book.maintenance["vgpu"]) == ((3,), ())


def test_what_was_worked_out_is_kept_until_the_plan_changes(book: Workbook) -> None:
    book.toggle_host("vgpu", 2)
    first, pairs = book.outcome("vgpu"), book.worst("vgpu", 2)
    book.drawer = "totals.hosts"
    assert book.outcome("vgpu") is first
    assert book.worst("vgpu", 2) is pairs
    book.edit("groups.data-scientists.people", "80")
    assert book.worst("vgpu", 2) is not pairs
    book.restore_hosts()
    assert book.outcome("vgpu") is None


def test_a_refused_change_keeps_the_failed_hosts(book: Workbook) -> None:
    book.toggle_host("vgpu", 2)
    book.edit("platform.vgpu_sizes", "mixed")
    assert has_approved(book.problem_of("platform.vgpu_sizes"), "8.0", "U3")
    assert book.stale
    assert book.failed == {"vgpu": (2,)}
    assert book.outcome("vgpu")


def test_details_are_opened_and_closed(book: Workbook) -> None:
    book.fold("failures", True)
    book.fold("shared", True)
    book.fold("failures", False)
    assert book.opened == {"shared"}


@pytest.mark.parametrize(("pool", "host"), [("vgpu", 9), ("vgpu", 0), ("vgpu", -1), ("nowhere", 1)])
def test_a_click_on_a_host_that_is_gone_does_nothing(book: Workbook, pool: str, host: int) -> None:
    book.toggle_host(pool, host)
    assert not any(book.failed.values())


def test_what_is_looked_at_changes_no_plan(book: Workbook) -> None:
    before = (book.scenario, book.plan, book.can_undo)
    seen: list[int] = []
    book.observe(lambda change: seen.append(change["new"]), "revision")
    book.look("clock", "Austin")
    book.look("pool", "vgpu")
    assert book.looked == {"clock": "Austin", "pool": "vgpu"}
    assert len(seen) == 2
    assert (book.scenario, book.plan, book.can_undo) == before


def test_an_order_of_very_many_vms_on_very_many_hosts_is_not_played_while_a_page_waits() -> None:
    two = Request("two", 2, gpus=2)
    assert playable([two], [Room(2)] * 2)
    assert playable((Request("a", 3000, gpus=1),), [Room(8)] * 100)
    assert not playable((Request("a", 3001, gpus=1),), [Room(8)] * 100)
    assert not playable([two], ())
