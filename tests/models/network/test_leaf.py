"""A leaf: what hosts on a pair of leaves need of each, by hand."""

from __future__ import annotations

import pytest
from approved import is_approved

from gpuplan.models.network.leaf import Leaf

TWO_KINDS = Leaf(48, 6, links=1, port_gbit_s=25, up_gbit_s=100, max_oversubscription=3, spines=2)


def test_uplinks_of_hosts_on_a_pair() -> None:
    """48 ports of 25 Gbit/s at 3:1 are four uplinks of 100; a single host needs one, and one to each spine."""
    assert [TWO_KINDS.needed(hosts) for hosts in (48, 12, 1)] == [4, 1, 1]
    assert TWO_KINDS.at_least(1) == 2
    assert TWO_KINDS.oversubscription(48, 4) == 3
    assert TWO_KINDS.fullest() == 48


def test_a_leaf_whose_ports_are_all_alike_gives_hosts_what_uplinks_leave() -> None:
    alike = TWO_KINDS._replace(down_ports=32, up_ports=None, port_gbit_s=100, max_oversubscription=1)
    assert alike.free(16) == alike.needed(16) == 16
    assert alike.fullest() == 16


def test_what_would_let_one_host_more_in() -> None:
    assert is_approved(TWO_KINDS.wider(48))
    tight = TWO_KINDS._replace(max_oversubscription=1)
    assert is_approved(tight.wider(tight.fullest()))


def test_a_leaf_without_a_place_for_one_host_is_refused() -> None:
    with pytest.raises(ValueError, match="for one host a leaf needs 1 down and 2 up ports"):
        TWO_KINDS._replace(up_ports=1).fullest()
