"""Power-on watched: the controls, who arrives where on the picture, and the picture of the plan afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.events import EVENTS
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.app.steps.watch import SHOWN_REFUSED, differing, play_of, watch_data
from gpuplan.catalog import Catalog
from gpuplan.models.power_on import Rules
from gpuplan.plan.power_on_rules import Reading
from gpuplan.scenario import from_dict


def groups(*asked: tuple[int, float]) -> list[dict[str, Any]]:
    """People with so much of a GPU each."""
    return [
        {"id": f"g{at}", "name": f"Group {at}", "people": n, "gpus_each": share, "remote_allowed": False}
        for at, (n, share) in enumerate(asked)
    ]


@pytest.fixture
def mixed(catalog: Catalog) -> Workbook:
    """Whole GPUs beside shares of two sizes: most orders leave too few neutral GPUs in one host."""
    data = {"groups": groups((4, 2), (12, 0.5), (16, 0.25)), "hardware": {"gpu": "l40s-48gb"}}
    return Workbook(catalog, from_dict(data))


def shown(book: Workbook) -> dict[str, Any]:
    """What the card of the controls shows, as the page gets it."""
    data = watch_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def hosts(book: Workbook) -> list[dict[str, Any]]:
    data = picture_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    found = data["pools"][0]["hosts"]
    assert isinstance(found, list)
    return found


def test_vms_arrive_one_by_one(mixed: Workbook) -> None:
    """The host and the GPU that get a VM are marked; as many VMs are on the hosts as have started."""
    mixed.watch("vgpu")
    assert (shown(mixed)["label"], shown(mixed)["of"]) == ("VM 0 of 32", 32)
    assert {host["word"] for host in hosts(mixed)} == {"empty"}
    play = play_of(mixed, mixed.plan.pools[0])
    assert play is not None
    for at in (1, 7, 32, 20):
        mixed.watch_on(at=at)
        tiles = hosts(mixed)
        new = [(host, gpu) for host in tiles for gpu in host["gpus"] if gpu["new"]]
        step = play.now
        assert step is not None
        assert len(new) == (len(step.spot.gpus) if step.spot else 0)
        assert all(host["state"] == "landing" and host["word"].startswith("gets ") for host, _ in new)
        drawn = sum(len(gpu["parts"]) for host in tiles for gpu in host["gpus"])
        running = [each for each in play.steps[:at] if each.spot]
        assert drawn == sum(2 if each.kind == 0 else 1 for each in running)


def test_one_that_does_not_start_is_named_with_the_reason(mixed: Workbook) -> None:
    """The first choice is the worst order that was found."""
    mixed.watch("vgpu")
    data = shown(mixed)
    assert data["selects"][0]["value"] == "worst"
    assert data["result"].startswith("In this order ")
    first = data["refused"][0]
    mixed.watch_on(at=first["at"])
    data = shown(mixed)
    assert (data["tone"], data["lead"]) == ("bad", f"{first['text']} does not start.")
    assert has_approved(data["text"], "2")
    assert "locked to L40S-12C, " in data["text"] and " to L40S-24C " in data["text"]
    assert not any(gpu["new"] for host in hosts(mixed) for gpu in host["gpus"])
    assert len(data["refused"]) <= SHOWN_REFUSED


def test_an_order_in_which_every_vm_starts(mixed: Workbook) -> None:
    """Grouped on GPUs every size opens few of them."""
    mixed.edit("platform.gpu_policy", "group")
    mixed.watch("vgpu")
    assert shown(mixed)["selects"][0]["options"][0]["value"] == "random"
    mixed.watch_on(order="largest", at=32)
    data = shown(mixed)
    assert data["refused"] == []
    assert is_approved(data["result"])
    assert data["tone"] == "good" and " starts" in data["lead"]
    assert data["text"].startswith("on host ") and ", GPU " in data["text"]
    assert data["another"] == 0


def test_another_random_order_is_another_one(mixed: Workbook) -> None:
    mixed.watch("vgpu")
    mixed.watch_on(order="random")
    pool, orders = mixed.plan.pools[0], []
    for _ in range(3):
        play = play_of(mixed, pool)
        assert play is not None
        orders.append([step.kind for step in play.steps])
        mixed.watch_on(seed=shown(mixed)["another"])
    assert len({tuple(order) for order in orders}) == 3
    mixed.watch_on(seed=0)
    again = play_of(mixed, pool)
    assert again is not None and [step.kind for step in again.steps] == orders[0]


def test_what_sources_leave_open_can_be_chosen(mixed: Workbook) -> None:
    """Hosts by headroom and hosts in turn fill differently."""
    mixed.watch("vgpu")
    mixed.watch_on(order="groups", at=9)
    _, reading = shown(mixed)["selects"]
    drawn = []
    for option in reading["options"]:
        mixed.watch_on(reading=option["value"])
        assert shown(mixed)["selects"][1]["value"] == option["value"]
        drawn.append(hosts(mixed))
    assert is_approved([option["text"] for option in reading["options"]])
    assert len(drawn) == 2


def test_readings_are_named_by_what_sets_them_apart() -> None:
    readings = [Reading(str(n), words, Rules(), ()) for n, words in enumerate(("a; b; c", "a; d; c"))]
    assert differing(readings) == ["b", "d"]


def test_leaving_brings_the_picture_back_as_it_was(mixed: Workbook) -> None:
    """Hosts that are down wait while VMs arrive."""
    mixed.toggle_host("vgpu", 2)
    before = picture_data(mixed)
    mixed.watch("vgpu")
    mixed.watch_on(at=12)
    assert all(host["state"] in ("", "landing", "spare") for host in hosts(mixed))
    assert picture_data(mixed)["pools"][0]["verdict"] is None
    mixed.stop_watching()
    assert picture_data(mixed) == before
    assert watch_data(mixed) == {"shown": False}


def test_a_host_that_fails_ends_the_watching(mixed: Workbook) -> None:
    """A click that was on its way counts."""
    for act in (
        lambda: mixed.toggle_host("vgpu", 1),
        lambda: mixed.fail_worst("vgpu", 1),
        mixed.restore_hosts,
    ):
        mixed.watch("vgpu")
        act()
        assert mixed.watched is None


def test_it_goes_on_when_an_input_changes(mixed: Workbook) -> None:
    """With more people the same order is longer; where the cluster is gone nothing is watched."""
    mixed.watch("vgpu")
    mixed.watch_on(at=32)
    mixed.edit("groups.g2.people", "8")
    assert (shown(mixed)["at"], shown(mixed)["of"]) == (24, 24)
    for group in ("g0", "g1", "g2"):
        mixed.delete_group(group)
    assert mixed.watched is None


def test_what_the_page_asks_for(mixed: Workbook) -> None:
    """Whatever numbers come, what is shown is there; an unknown cluster is not watched."""
    EVENTS["watch"](mixed, {"pool": "nowhere"})
    EVENTS["watch-at"](mixed, {"value": 3})
    assert mixed.watched is None
    EVENTS["watch"](mixed, {"pool": "vgpu"})
    for name, value in (
        ("at", 10**12),
        ("at", -5),
        ("seed", -1),
        ("seed", 2**70),
        ("order", "x"),
        ("reading", "x"),
    ):
        EVENTS[f"watch-{name}"](mixed, {"value": value})
        assert 0 <= shown(mixed)["at"] <= 32
        EVENTS["watch-order"](mixed, {"value": "random"})
        assert shown(mixed)["at"] in (0, 32)
    EVENTS["stop-watching"](mixed, {"pool": "vgpu"})
    assert mixed.watched is None


def test_shares_of_mixed_sizes_are_drawn_where_they_begin(catalog: Catalog) -> None:
    """A share in the middle of a GPU has free places on both sides."""
    data = {
        "groups": groups((3, 0.5), (6, 0.25)),
        "hardware": {"gpu": "l40s-48gb"},
        "platform": {"vgpu_sizes": "mixed"},
    }
    book = Workbook(catalog, from_dict(data))
    book.watch("vgpu")
    seen = set()
    for seed in range(4):
        book.watch_on(order="random", seed=seed, at=9)
        for host in hosts(book):
            for gpu in host["gpus"]:
                weights = [part["weight"] for part in gpu["parts"]]
                if weights:
                    assert sum(weights) + gpu["free"] + gpu["rest"] == 48
                    seen.add(gpu["title"].split(". ")[0].partition(": ")[2])
    assert any(" at 0" in title for title in seen)


def test_a_page_that_is_loaded_again_goes_on_where_it_was(mixed: Workbook, catalog: Catalog) -> None:
    """What comes back from a browser may be anything."""
    mixed.toggle_host("vgpu", 2)
    mixed.watch("vgpu")
    mixed.watch_on(order="random", seed=3, at=5)
    memory, designs = json.loads(json.dumps(memory_of(mixed)))
    again = Workbook(catalog)
    resume(again, memory, designs, "")
    assert (again.watched, again.failed) == (mixed.watched, mixed.failed)
    assert watch_data(again) == watch_data(mixed)
    for damaged in (["nowhere", "", "", 0, 0], ["vgpu", "", "", 2**40, 0], ["vgpu"], 7):
        again = Workbook(catalog)
        resume(again, memory | {"watched": damaged}, designs, "")
        assert again.watched is None


def test_reserved_hosts_get_no_vm(mixed: Workbook) -> None:
    mixed.edit("availability.reserved_hosts", "1")
    mixed.watch("vgpu")
    mixed.watch_on(at=32)
    words = [host["word"] for host in hosts(mixed)]
    assert words.count("reserved") == 1
    assert len(words) == mixed.plan.pools[0].hosts


def test_what_takes_too_long_is_not_watched(mixed: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplan.analysis.power_on_player.PLAYED", 31 * 6)
    assert not picture_data(mixed)["pools"][0]["watch"]
    mixed.watch("vgpu")
    assert mixed.watched is None


def test_hosts_alike_are_one_tile_and_the_one_that_gets_a_vm_is_its_own(catalog: Catalog) -> None:
    data = {
        "groups": groups((70, 2)),
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 2},
        "availability": {"hosts_per_cluster": 96},
        "cost": {"platform_licence": "vvf"},
    }
    book = Workbook(catalog, from_dict(data))
    (pool,) = book.plan.pools
    book.watch(pool.id)
    book.watch_on(order="largest", at=3)
    tiles = hosts(book)
    assert tiles[0]["state"] == "landing"
    assert [tile["head"] for tile in tiles] == [
        "\u00d7\u202f1",
        f"\u00d7\u202f{pool.hosts - 3}",
        "\u00d7\u202f2",
    ]
