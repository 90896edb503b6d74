"""Upgrades rehearsed on the hosts step: worked out when opened, each row empties its host on the picture."""

from __future__ import annotations

import json

import pytest
from approved import has_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from typing import Any

import pytest
from approved import is_approved
from power_on_designs import DEFAULTS

from gpuplan.analysis.power_on import power_on, studies_plain
from gpuplan.app.events import EVENTS
from gpuplan.app.forms import FORMS
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.screen import WorkbookApp
from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.app.steps.over_time import (
    SHOWN_REFUSED,
    differing,
    play_of,
    power_on_data,
    rehearse_data,
    settings_form,
    tried_data,
    watch_data,
)
from gpuplan.catalog import Catalog
from gpuplan.models.power_on import Rules
from gpuplan.plan.over_time import rehearsal
from gpuplan.plan.over_time.rules import Reading
from gpuplan.report.tables.over_time import NOT_REHEARSED, TOO_LARGE
from gpuplan.scenario import from_dict, load_scenario


@pytest.fixture
def vgpus(catalog: Catalog) -> Workbook:
    """The example with vGPUs of many sizes."""
    return Workbook(catalog, load_scenario("current"))


def test_where_bitfusion_shares_gpus_there_is_nothing_to_rehearse(book: Workbook) -> None:
    assert rehearse_data(book)["text"][0][0]["text"] == NOT_REHEARSED


def test_verdict_tables_and_a_row_that_empties_its_host(vgpus: Workbook) -> None:
    data = rehearse_data(vgpus)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert has_approved(data["text"][0][0]["text"], "9 VMs") and "largest first" in data["text"][1][0]["text"]
    upgrades, restarts, week = data["tables"]
    assert len(upgrades["rows"]) == len(restarts["rows"]) == 10 and len(week["rows"]) == 1
    (act,) = upgrades["rows"][0][0]["acts"]
    assert act["text"] == "Evacuate"
    EVENTS[act["event"]](vgpus, act["rest"])
    assert vgpus.maintenance == {"vgpu": (6,)} and not vgpus.failed.get("vgpu")
    (act,) = rehearse_data(vgpus)["tables"][0]["rows"][0][0]["acts"]
    assert act["text"] == "Bring back"
    EVENTS[act["event"]](vgpus, act["rest"])
    assert not vgpus.maintenance.get("vgpu")
    EVENTS["maintain"](vgpus, {"pool": "vgpu", "host": 99})
    assert not vgpus.maintenance.get("vgpu")


def test_a_cluster_that_is_too_large_says_so(vgpus: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "LOOKS", 100)
    data = rehearse_data(vgpus)
    assert data["shown"] and data["text"][0][0]["text"] == TOO_LARGE and not data.get("tables")


MIXED = {
    "groups": [
        {"id": "a", "name": "Trainers", "people": 4, "gpus_each": 2, "remote_allowed": False},
        {"id": "b", "name": "Scientists", "people": 12, "gpus_each": 0.5, "remote_allowed": False},
        {"id": "c", "name": "Developers", "people": 16, "gpus_each": 0.25, "remote_allowed": False},
    ],
    "hardware": {"gpu": "l40s-48gb"},
    "platform": DEFAULTS,
}


@pytest.fixture
def mixed(catalog: Catalog) -> Workbook:
    return Workbook(catalog, from_dict(MIXED))


def card(book: Workbook) -> dict[str, Any]:
    data = tried_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def tried(book: Workbook, orders: int) -> None:
    """As if the command had ended."""
    book.powering_on.plan = book.plan
    lines = [{"done": 1, "tried": studies_plain(book.plan, power_on(book.plan, orders=orders))}]
    book.powering_on.runner.found = json.loads(json.dumps(lines))
    book.powering_on.runner.state = "done"


def test_the_sentence_stands_beside_the_proof(mixed: Workbook) -> None:
    said = picture_data(mixed)["pools"][0]["power_on"]
    assert said == mixed.plan.power_on["vgpu"].outcome
    assert has_approved(said, "6 hosts")


def test_where_bitfusion_shares_gpus_the_tab_says_why_it_is_empty(catalog: Catalog) -> None:
    """Bitfusion places its clients, not vSphere."""
    book = Workbook(catalog, load_scenario("enterprise"))
    assert picture_data(book)["pools"][0]["power_on"] == ""
    assert "Bitfusion shares" in power_on_data(book)["text"][0][0]["text"]
    assert not settings_form(book)["shown"]
    assert not card(book)["shown"]


def test_the_tab_begins_with_the_orders_that_start_every_vm(mixed: Workbook) -> None:
    low, high = (round(100 * share) for share in mixed.plan.power_on["vgpu"].now.chance)
    (said,) = power_on_data(mixed)["text"][0]
    assert is_approved(said["text"], low, high, "100")


def test_settings_side_by_side_and_a_button_that_takes_one(mixed: Workbook) -> None:
    assert [field["path"] for field in settings_form(mixed)["fields"]] == [
        each.path for each in FORMS["power-on"]
    ]
    settings, named, readings = card(mixed)["tables"]
    assert settings["rows"][0][0]["text"] == "Current settings"
    uses = {row[0]["text"]: row[0]["acts"][0] for row in settings["rows"][1:]}
    assert uses["GPU policy group"]["event"] == "set"
    assert "acts" not in settings["rows"][0][0]
    assert all("95\u00a0%:" in row[1]["note"] for row in settings["rows"])
    EVENTS["set"](mixed, uses["GPU policy group"]["rest"])
    assert mixed.scenario.platform.gpu_policy == "group"
    assert mixed.plan.power_on["vgpu"].now.all_start
    assert len(named["rows"]) >= 2
    assert len(readings["rows"]) == 2


def test_what_nearly_every_order_takes_is_priced(mixed: Workbook) -> None:
    """The hosts and the money that are named are those of the plan that is sized for it."""
    before = mixed.plan
    assert not any(text.startswith("Sized") for text in card(mixed)["text"])
    tried(mixed, 300)
    said = next(text for text in card(mixed)["text"] if text.startswith("Sized for 99 %"))
    mixed.edit("availability.sized_for", "orders")
    after = mixed.plan
    assert after.totals.hosts > before.totals.hosts
    assert has_approved(said, f"{after.totals.hosts} hosts", before.totals.hosts)
    assert before.costs and after.costs
    dearer = (after.costs.net_present - before.costs.net_present) / 1e3
    assert float(said.partition("USD ")[2].split()[0]) == pytest.approx(dearer, rel=0.01)
    assert has_approved(card(mixed)["text"], "99 %")


def test_thousands_of_orders_take_the_place_of_the_few(mixed: Workbook) -> None:
    few = mixed.plan.power_on["vgpu"]
    tried(mixed, 1500)
    assert card(mixed)["text"][0].startswith("1\u202f500 orders were tried")
    assert [button["text"] for button in card(mixed)["buttons"]] == ["Try again"]
    said = picture_data(mixed)["pools"][0]["power_on"]
    low, high = few.now.interval
    chance = card(mixed)["tables"][0]["rows"][0][1]["text"]
    assert has_approved(said, "6 hosts")
    assert low <= float(chance.split(" ")[0]) / 100 <= high
    settings = card(mixed)["tables"][0]["rows"]
    assert all(row[-1]["text"].isdigit() for row in settings), "hosts for every setting"
    mixed.edit("groups.c.people", "12")
    assert card(mixed)["text"][0].startswith(f"{mixed.plan.power_on['vgpu'].orders} orders were tried")
    mixed.undo()
    assert card(mixed)["text"][0].startswith("1\u202f500 orders were tried")


def test_the_worst_order_of_thousands_is_watched(mixed: Workbook) -> None:
    """One that the few of the plan did not have."""
    mixed.watch("vgpu")
    (pool,), worst = mixed.plan.pools, [2] * 16 + [1] * 12 + [0] * 4
    before = play_of(mixed, pool)
    tried(mixed, 50)
    for found in mixed.powering_on.runner.found[0]["tried"]["clusters"][0]["found"]["now"]:
        found[-1] = worst
    play = play_of(mixed, pool)
    assert before and play
    assert [step.kind for step in before.steps] != worst
    assert [step.kind for step in play.steps] == worst


def test_an_input_of_the_details_is_reached_from_a_message(catalog: Catalog) -> None:
    """They are open when it is looked for."""
    book = Workbook(catalog, from_dict(MIXED))
    WorkbookApp(book)._receive("visit", {"path": "platform.gpu_policy"})
    assert (book.step, settings_form(book)["shown"]) == ("hosts", True)


def test_progress_and_time_left(mixed: Workbook) -> None:
    runner = mixed.powering_on.runner
    runner.state, runner.started = "running", False
    assert card(mixed)["progress"]["text"] == "Starting\u2026"
    runner.started, runner.done, runner.step, runner.left_s = True, 0.25, "vGPU cluster", 150.0
    data = card(mixed)
    assert [button["event"] for button in data["buttons"]] == ["cancel-power-on"]
    assert is_approved(data["progress"]["text"], "2 min")
    runner.state = "cancelled"
    assert has_approved(card(mixed)["text"])


def test_the_command_is_started_on_the_design(mixed: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(mixed.powering_on.runner, "start_on", lambda *all: asked.append(all))
    EVENTS["power-on"](mixed, {})
    assert asked == [(mixed.plan.scenario, "power-on", "-", "--progress")]
    EVENTS["cancel-power-on"](mixed, {})


def groups(*asked: tuple[int, float]) -> list[dict[str, Any]]:
    """People with so much of a GPU each."""
    return [
        {"id": f"g{at}", "name": f"Group {at}", "people": n, "gpus_each": share, "remote_allowed": False}
        for at, (n, share) in enumerate(asked)
    ]


@pytest.fixture
def watched_mix(catalog: Catalog) -> Workbook:
    """Whole GPUs beside shares of two sizes: most orders leave too few neutral GPUs in one host."""
    return Workbook(catalog, from_dict(MIXED | {"groups": groups((4, 2), (12, 0.5), (16, 0.25))}))


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


def test_vms_arrive_one_by_one(watched_mix: Workbook) -> None:
    """The host and the GPU that get a VM are marked; as many VMs are on the hosts as have started."""
    watched_mix.watch("vgpu")
    assert (shown(watched_mix)["label"], shown(watched_mix)["of"]) == ("VM 0 of 32", 32)
    assert {host["word"] for host in hosts(watched_mix)} == {"empty"}
    play = play_of(watched_mix, watched_mix.plan.pools[0])
    assert play is not None
    for at in (1, 7, 32, 20):
        watched_mix.watch_on(at=at)
        tiles = hosts(watched_mix)
        new = [(host, gpu) for host in tiles for gpu in host["gpus"] if gpu["new"]]
        step = play.now
        assert step is not None
        assert len(new) == (len(step.spot.gpus) if step.spot else 0)
        assert all(host["state"] == "landing" and host["word"].startswith("gets ") for host, _ in new)
        drawn = sum(len(gpu["parts"]) for host in tiles for gpu in host["gpus"])
        running = [each for each in play.steps[:at] if each.spot]
        assert drawn == sum(2 if each.kind == 0 else 1 for each in running)


def test_one_that_does_not_start_is_named_with_the_reason(watched_mix: Workbook) -> None:
    """The first choice is the worst order that was found."""
    watched_mix.watch("vgpu")
    data = shown(watched_mix)
    assert data["selects"][0]["value"] == "worst"
    assert data["result"].startswith("In this order ")
    first = data["refused"][0]
    watched_mix.watch_on(at=first["at"])
    data = shown(watched_mix)
    assert (data["tone"], data["lead"]) == ("bad", f"{first['text']} does not start.")
    assert has_approved(data["text"], "2")
    assert "locked to L40S-12C, " in data["text"] and " to L40S-24C " in data["text"]
    assert not any(gpu["new"] for host in hosts(watched_mix) for gpu in host["gpus"])
    assert len(data["refused"]) <= SHOWN_REFUSED


def test_an_order_in_which_every_vm_starts(watched_mix: Workbook) -> None:
    """Grouped on GPUs every size opens few of them."""
    watched_mix.edit("platform.gpu_policy", "group")
    watched_mix.watch("vgpu")
    assert shown(watched_mix)["selects"][0]["options"][0]["value"] == "random"
    watched_mix.watch_on(order="largest", at=32)
    data = shown(watched_mix)
    assert data["refused"] == []
    assert is_approved(data["result"])
    assert data["tone"] == "good" and " starts" in data["lead"]
    assert data["text"].startswith("on host ") and ", GPU " in data["text"]
    assert data["another"] == 0


def test_another_random_order_is_another_one(watched_mix: Workbook) -> None:
    watched_mix.watch("vgpu")
    watched_mix.watch_on(order="random")
    pool, orders = watched_mix.plan.pools[0], []
    for _ in range(3):
        play = play_of(watched_mix, pool)
        assert play is not None
        orders.append([step.kind for step in play.steps])
        watched_mix.watch_on(seed=shown(watched_mix)["another"])
    assert len({tuple(order) for order in orders}) == 3
    watched_mix.watch_on(seed=0)
    again = play_of(watched_mix, pool)
    assert again is not None and [step.kind for step in again.steps] == orders[0]


def test_what_sources_leave_open_can_be_chosen(watched_mix: Workbook) -> None:
    """Hosts by headroom and hosts in turn fill differently."""
    watched_mix.watch("vgpu")
    watched_mix.watch_on(order="groups", at=9)
    _, reading = shown(watched_mix)["selects"]
    drawn = []
    for option in reading["options"]:
        watched_mix.watch_on(reading=option["value"])
        assert shown(watched_mix)["selects"][1]["value"] == option["value"]
        drawn.append(hosts(watched_mix))
    assert is_approved([option["text"] for option in reading["options"]])
    assert len(drawn) == 2


def test_readings_are_named_by_what_sets_them_apart() -> None:
    readings = [Reading(str(n), words, Rules(), ()) for n, words in enumerate(("a; b; c", "a; d; c"))]
    assert differing(readings) == ["b", "d"]


def test_leaving_brings_the_picture_back_as_it_was(watched_mix: Workbook) -> None:
    """Hosts that are down wait while VMs arrive."""
    watched_mix.toggle_host("vgpu", 2)
    before = picture_data(watched_mix)
    watched_mix.watch("vgpu")
    watched_mix.watch_on(at=12)
    assert all(host["state"] in ("", "landing", "spare") for host in hosts(watched_mix))
    assert picture_data(watched_mix)["pools"][0]["verdict"] is None
    watched_mix.stop_watching()
    assert picture_data(watched_mix) == before
    assert watch_data(watched_mix) == {"shown": False}


def test_a_host_that_fails_ends_the_watching(watched_mix: Workbook) -> None:
    """A click that was on its way counts."""
    for act in (
        lambda: watched_mix.toggle_host("vgpu", 1),
        lambda: watched_mix.fail_worst("vgpu", 1),
        watched_mix.restore_hosts,
    ):
        watched_mix.watch("vgpu")
        act()
        assert watched_mix.watched is None


def test_it_goes_on_when_an_input_changes(watched_mix: Workbook) -> None:
    """With more people the same order is longer; where the cluster is gone nothing is watched."""
    watched_mix.watch("vgpu")
    watched_mix.watch_on(at=32)
    watched_mix.edit("groups.g2.people", "8")
    assert (shown(watched_mix)["at"], shown(watched_mix)["of"]) == (24, 24)
    for group in ("g0", "g1", "g2"):
        watched_mix.delete_group(group)
    assert watched_mix.watched is None


def test_what_the_page_asks_for(watched_mix: Workbook) -> None:
    """Whatever numbers come, what is shown is there; an unknown cluster is not watched."""
    EVENTS["watch"](watched_mix, {"pool": "nowhere"})
    EVENTS["watch-at"](watched_mix, {"value": 3})
    assert watched_mix.watched is None
    EVENTS["watch"](watched_mix, {"pool": "vgpu"})
    for name, value in (
        ("at", 10**12),
        ("at", -5),
        ("seed", -1),
        ("seed", 2**70),
        ("order", "x"),
        ("reading", "x"),
    ):
        EVENTS[f"watch-{name}"](watched_mix, {"value": value})
        assert 0 <= shown(watched_mix)["at"] <= 32
        EVENTS["watch-order"](watched_mix, {"value": "random"})
        assert shown(watched_mix)["at"] in (0, 32)
    EVENTS["stop-watching"](watched_mix, {"pool": "vgpu"})
    assert watched_mix.watched is None


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


def test_a_page_that_is_loaded_again_goes_on_where_it_was(watched_mix: Workbook, catalog: Catalog) -> None:
    """What comes back from a browser may be anything."""
    watched_mix.toggle_host("vgpu", 2)
    watched_mix.watch("vgpu")
    watched_mix.watch_on(order="random", seed=3, at=5)
    memory, designs = json.loads(json.dumps(memory_of(watched_mix)))
    again = Workbook(catalog)
    resume(again, memory, designs, "")
    assert (again.watched, again.failed) == (watched_mix.watched, watched_mix.failed)
    assert watch_data(again) == watch_data(watched_mix)
    for damaged in (["nowhere", "", "", 0, 0], ["vgpu", "", "", 2**40, 0], ["vgpu"], 7):
        again = Workbook(catalog)
        resume(again, memory | {"watched": damaged}, designs, "")
        assert again.watched is None


def test_reserved_hosts_get_no_vm(watched_mix: Workbook) -> None:
    watched_mix.edit("availability.reserved_hosts", "1")
    watched_mix.watch("vgpu")
    watched_mix.watch_on(at=32)
    words = [host["word"] for host in hosts(watched_mix)]
    assert words.count("reserved") == 1
    assert len(words) == watched_mix.plan.pools[0].hosts


def test_what_takes_too_long_is_not_watched(watched_mix: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplan.app.plan_view.PLAYED", 31 * 6)
    assert not picture_data(watched_mix)["pools"][0]["watch"]
    watched_mix.watch("vgpu")
    assert watched_mix.watched is None


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
