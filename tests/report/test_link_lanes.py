"""Link speeds side by side as segments of a lane."""

from __future__ import annotations

import itertools

import pytest

from gpuplan.analysis.link_speeds import Speed, Use
from gpuplan.report.link_lanes import Segment, about, lane, meaning, speed_at


def at_speeds(*uses: Use | None) -> list[Segment]:
    """The lane of a thing whose results at 10, 25, 100 and 400 Gbit/s are these."""
    speeds = [
        Speed(gbit_s, (use,) if use else (), None, (), 2, 8)
        for gbit_s, use in zip((10, 25, 100, 400), uses, strict=True)
    ]
    return lane(speeds, next(filter(None, uses)))


def remote(verdict: str, kept: float, high: float = 1.0) -> Use:
    return Use("remote", "A", ("a",), verdict, kept, kept / 2, high, about="ResNet-50")


def test_the_scale_is_logarithmic_from_ten() -> None:
    places = [speed_at(gbit_s) for gbit_s in (1, 10, 20, 40, 400)]
    assert places == sorted(places) and places[0] > 0 and places[-1] < 1
    assert places[2] - places[1] == pytest.approx(places[3] - places[2]), (
        "doubling is the same way everywhere"
    )


def test_speeds_of_one_verdict_are_one_segment_with_the_values_at_its_ends() -> None:
    found = at_speeds(remote("bad", 0.3), remote("fair", 0.8), remote("good", 0.9), remote("good", 0.97))
    assert [(each.verdict, each.text) for each in found] == [
        ("bad", "30 %"),
        ("fair", "80 %"),
        ("good", "90 to 97 %"),
    ]
    assert found[0].start == 0 and found[-1].start + found[-1].width == pytest.approx(1)
    for one, other in itertools.pairwise(found):
        assert one.start + one.width == pytest.approx(other.start)
    assert "400 Gbit/s: keeps 97 %, 48 to 100 %" in found[-1].title


def test_a_faster_link_is_wasted_only_where_the_range_stays_too() -> None:
    same = [remote("good", 0.97)] * 3
    assert [each.verdict for each in at_speeds(remote("bad", 0.5), *same)] == ["bad", "good", "wasted"]
    better = [remote("good", 0.97, high) for high in (0.97, 0.98, 0.99)]
    assert [each.verdict for each in at_speeds(remote("bad", 0.5), *better)] == ["bad", "good"]


def test_what_no_speed_mends_keeps_its_verdict() -> None:
    stun = Use("vmotion", "", ("a",), "over", 154.0, size=128.0, limit_s=100.0)
    (found,) = at_speeds(stun, stun, stun, stun)
    assert (found.verdict, found.text) == ("over", "154 s at any speed")
    assert (meaning(stun), about(stun)) == ("stun of 154 s, limit 100 s", "vMotion of 128 GiB")
    unknown = stun._replace(verdict="unknown", value=None)
    assert at_speeds(unknown, unknown, unknown, unknown)[0].text == "" and meaning(unknown)


def test_a_speed_at_which_a_thing_does_not_cross_the_network_is_left_open() -> None:
    first, last = at_speeds(remote("bad", 0.5), None, None, remote("good", 0.9))
    assert first.start + first.width < last.start


def test_ports_and_times_are_told_with_their_unit() -> None:
    ports = [Use("ports", "", (), "good", n, size=12.5) for n in (4, 3, 2, 2)]
    assert [each.text for each in at_speeds(*ports)] == ["4 to 2 ports", "2 ports"]
    times = [
        Use("weights", "A", ("a",), "none", s, s / 2, s * 2, size=68.0) for s in (61.0, 40.0, 8.25, 8.25)
    ]
    assert [each.text for each in at_speeds(*times)] == ["61 to 8.2 s", "8.2 s"]
    assert meaning(times[0]) == "at least 61 s, 30 to 122"
