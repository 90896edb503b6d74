"""Views of a scenario with several kinds of hosts."""

from __future__ import annotations

import pytest

from gpuplan.scenario import Scenario, load_scenario, new_hosts, new_hosts_text, path_of_kind, views

KINDS = "Large: 8 x h200-nvl-141gb in dell-xe7740, 192 vCPUs, 1536 GiB, vsan; Small: 2 x l4-24gb"


@pytest.fixture
def mixed() -> Scenario:
    scenario = load_scenario("enterprise").with_value("hardware.kinds", KINDS)
    scenario = scenario.with_value("hardware.existing", "Old: 2 x 8 h200-nvl-141gb; Racks: 3 x 4")
    return scenario.with_value("groups.researchers.hosts", "Large")


def test_a_scenario_with_one_kind_is_its_only_view() -> None:
    scenario = load_scenario("starter")
    assert views(scenario) == (scenario,)
    unused = scenario.with_value("hardware.kinds", KINDS)
    assert views(unused) == (unused,)


def test_each_kind_in_use_has_its_hosts_and_its_groups(mixed: Scenario) -> None:
    first, large = views(mixed)
    assert [group.id for group in large.groups] == ["researchers"]
    assert {group.id for group in first.groups} == {group.id for group in mixed.groups} - {"researchers"}
    assert (first.hardware.gpu, first.hardware.of) == (mixed.hardware.gpu, "")
    hardware = large.hardware
    assert (hardware.gpu, hardware.server, hardware.gpus_per_host) == ("h200-nvl-141gb", "dell-xe7740", 8)
    assert (hardware.vcpus_per_host, hardware.memory_gib_per_host, hardware.storage) == (192, 1536, "vsan")
    assert views(large) == (large,)


def test_existing_hosts_belong_to_the_kind_with_their_board(mixed: Scenario) -> None:
    first, large = views(mixed)
    assert first.hardware.existing == "Racks: 3 x 4"
    assert large.hardware.existing == "Old: 2 x 8 h200-nvl-141gb"


def test_hosts_of_a_further_kind_are_known_as_the_list_of_kinds_is(mixed: Scenario) -> None:
    for view in views(mixed.confirmed("hardware.kinds")):
        confirmed = view.is_confirmed("hardware.gpus_per_host")
        assert confirmed == bool(view.hardware.of)


def test_inputs_of_a_view_are_found_in_the_whole(mixed: Scenario) -> None:
    first, large = views(mixed)
    assert path_of_kind(first, "hardware.gpu") == "hardware.gpu"
    assert path_of_kind(large, "hardware.gpu") == "hardware.kinds"
    assert path_of_kind(large, "groups.researchers.people") == "groups.researchers.people"


def test_kinds_come_back_from_their_text() -> None:
    kinds = new_hosts(KINDS)
    assert [kind.name for kind in kinds] == ["Large", "Small"]
    assert new_hosts_text(KINDS) == KINDS


@pytest.mark.parametrize(
    "wrong",
    [
        "8 x h200-nvl-141gb",
        "Large: 8",
        "Large: h200-nvl-141gb",
        "Large: 17 x h200-nvl-141gb",
        "Large: 8 x h200-nvl-141gb; large: 4 x l4-24gb",
        "Large: 8 x h200-nvl-141gb, nfs",
        [{"name": "Large", "gpus_per_host": 8}],
        [{"name": "Large", "gpu": "l4-24gb", "gpus_per_host": 8, "hosts": 3}],
    ],
)
def test_kinds_that_cannot_be_read_are_none(wrong: object) -> None:
    assert new_hosts_text(wrong) is None
