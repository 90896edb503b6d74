"""Sessions: how many there may be, whose place another one takes, and when one ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("voila")

from visiting import run

from gpuplan.serve import sessions
from gpuplan.serve.sessions import Full, Kernels, Session, Visitor


class Time:
    """Time that stands still until it is moved."""

    now = 1000.0


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Factory of managers with sessions that have no process: `made(places, {id: (owner, heard, connected)})`."""
    monkeypatch.setattr(sessions, "now", lambda: Time.now)
    monkeypatch.setattr(sessions, "free_bytes", lambda: 1 << 40)

    def new(places: int, pages: dict[str, tuple[str, float, bool]]) -> Any:
        Time.now = 1000.0
        manager = Kernels(work_dir=str(tmp_path), most_sessions=places)
        manager.freed = []

        async def free(kernel_id: str) -> None:
            manager.freed.append(kernel_id)
            manager.sessions.pop(kernel_id)

        manager.free = free
        for name, (owner, heard, connected) in pages.items():
            manager.sessions[name] = Session(owner, heard)
            if connected:
                manager.sessions[name].lines.add(object())
        return manager

    return new


def test_there_is_room_until_all_places_are_taken(made: Any) -> None:
    manager = made(2, {"a": ("ann", 999, True)})
    run(manager._make_room(Visitor("ben")))
    manager.sessions["b"] = Session("ben", 999.0, {object()})
    with pytest.raises(Full, match="All sessions are in use by other users"):
        run(manager._make_room(Visitor("cat")))
    assert manager.freed == []


def test_pages_that_are_just_opening_count(made: Any) -> None:
    manager = made(2, {})
    manager._opening[Visitor("ann")] = 2
    with pytest.raises(Full):
        run(manager._make_room(Visitor("ben")))


def test_whoever_is_away_longest_gives_way_and_nobody_who_is_there(made: Any) -> None:
    pages = {"a": ("ann", 100, True), "b": ("ben", 300, False), "c": ("cat", 200, False)}
    manager = made(3, pages)
    run(manager._make_room(Visitor("dan")))
    assert manager.freed == ["c"]
    short = made(1, {"a": ("ann", 1000 - sessions.Kernels.vanished_s.default_value / 2, False)})
    with pytest.raises(Full):
        run(short._make_room(Visitor("ben")))
    assert short.freed == [], "it may come back any moment"


def test_one_browser_has_its_share(made: Any) -> None:
    pages = {f"p{number}": ("ann", 1000, True) for number in range(sessions.MOST_PER_OWNER)}
    manager = made(100, pages)
    with pytest.raises(Full, match=r"This browser has 12 pages open\. Close one"):
        run(manager._make_room(Visitor("ann")))
    run(manager._make_room(Visitor("ben")))
    manager.sessions["p5"].lines.clear()
    run(manager._make_room(Visitor("ann")))
    assert manager.freed == ["p5"], "a page of its own that is away"


@pytest.mark.parametrize("places", [2, 3, 10, 30, 100])
@pytest.mark.parametrize("connects", [False, True])
@pytest.mark.parametrize("new", [False, True])
def test_one_address_leaves_room_for_others(made: Any, places: int, connects: bool, new: bool) -> None:
    """Whether a script has no cookie or another one for each page, and whether its pages connect or not."""
    manager = made(places, {})
    for number in range(2 * places):
        try:
            run(manager._make_room(Visitor(f"b{number}", "script", new)))
        except Full:
            continue
        page = manager.sessions[f"p{number}"] = Session(f"b{number}", Time.now, address="script", new=new)
        if connects:
            page.lines.add(object())
            page.new = False
    least = max(1, places // sessions.OTHERS)
    if new and not connects:
        assert len(manager.sessions) == min(places - least, sessions.MOST_PER_OWNER)
        if places > sessions.MOST_PER_OWNER:
            run(manager._make_room(Visitor("colleague", "script")))
    elif places <= sessions.MOST_PER_OWNER:
        return  # a single browser may have as many
    assert len(manager.sessions) <= max(places - least, sessions.MOST_PER_OWNER)
    run(manager._make_room(Visitor("ann", "elsewhere", True)))
    run(manager._make_room(Visitor("ben", "elsewhere")))


def test_pages_of_an_address_that_open_at_once_count(made: Any) -> None:
    manager = made(100, {})
    manager._opening = Counter({Visitor(f"b{at}", "script", True): 1 for at in range(12)})
    with pytest.raises(Full):
        run(manager._make_room(Visitor("b12", "script", True)))
    run(manager._make_room(Visitor("ann", "script")))  # with a cookie, from the same address
    run(manager._make_room(Visitor("ben", "elsewhere", True)))


def test_without_addresses_all_places_are_for_all(made: Any) -> None:
    """On a machine of its own, or a server of one user of a Hub."""
    manager = made(10, {f"p{at}": (f"b{at}", 1000, True) for at in range(9)})
    run(manager._make_room(Visitor("b9")))


def test_short_of_memory(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "free_bytes", lambda: sessions.SPARE_BYTES - 1)
    with pytest.raises(Full, match="too little memory for another page"):
        run(made(5, {})._make_room(Visitor("ann")))


def test_one_that_vanished_ends_soon_and_one_that_sleeps_after_the_idle_time(made: Any) -> None:
    manager = made(9, {"there": ("a", 0, True), "gone": ("b", 1000, False), "asleep": ("c", 1000, False)})
    manager.sessions["asleep"].silent = True
    vanished, idle = manager.vanished_s, manager.idle_s
    assert vanished <= 55, "within a minute, as it is looked every five seconds"
    Time.now = 1000 + vanished
    run(manager.sweep())
    assert manager.freed == []
    Time.now += 1
    run(manager.sweep())
    assert manager.freed == ["gone"]
    Time.now = 1000 + idle + 1
    run(manager.sweep())
    assert manager.freed == ["gone", "asleep"]
    assert list(manager.sessions) == ["there"]


@pytest.mark.parametrize("dies", ["before it answers", "midway", "at the end"])
@pytest.mark.parametrize("lives", [True, False])
def test_a_page_has_a_session_that_lives(
    made: Any, monkeypatch: pytest.MonkeyPatch, dies: str, lives: bool
) -> None:
    manager, started = made(9, {}), []

    async def rendered(name: str, dead: bool) -> Any:
        if dead and dies == "before it answers":
            raise RuntimeError("Kernel died before replying to kernel_info")
        return ["<head>", f"<main>{name}"], rest(dead)

    async def rest(dead: bool) -> Any:
        if dead and dies == "midway":
            raise RuntimeError("Kernel died")
        yield "</main>", {}

    async def warm(_: str) -> Any:
        started.append(name := f"kernel-{len(started)}")
        manager._kernels[name] = object()
        return rendered(name, dead=not lives or name == "kernel-0"), ["<head>"], name

    async def is_living(name: str) -> bool:
        return lives and name != "kernel-0"

    async def page() -> list[str]:
        return [text async for text in manager.open_session("a.ipynb", Visitor("ann"))]

    monkeypatch.setattr(manager, "_warm_kernel", warm)
    monkeypatch.setattr(manager, "is_living", is_living)
    if lives:
        assert "".join(run(page())) == "<head><main>kernel-1</main>"
        assert (manager.freed, list(manager.sessions)) == (["kernel-0"], ["kernel-1"])
    else:
        with pytest.raises(Full, match="end before they are ready"):
            run(page())
        assert manager.freed == started
        assert manager.sessions == {}


def test_a_session_is_its_owners(made: Any) -> None:
    manager = made(9, {"a": ("ann", 5, False)})
    manager._kernels["a"] = object()
    assert manager.session_of("a", "ben") is None
    assert manager.session_of("b", "ann") is None
    assert manager.session_of("a", "ann").heard == 1000
    manager.sessions["warm"] = Session("", 5)
    assert manager.session_of("other", "") is None, "a warm one has no owner"


def test_little_is_kept_for_a_page_that_is_away() -> None:
    kept = sessions.Kept()
    for _ in range(100):
        kept.append(("iopub", [b"x" * (sessions.MOST_KEPT_BYTES // 10)]))
    assert len(kept) == 10


def test_room_is_what_memory_and_descriptors_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "free_bytes", lambda: 10 * sessions.SESSION_BYTES)
    assert sessions.room(files=100_000) == 8
    assert sessions.room(files=5 * sessions.FILES_OF_A_SESSION) == 5
    assert sessions.room(files=0) == 1


def test_memory_of_a_control_group_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = Path("/proc/self/cgroup")
    if not name.exists():
        pytest.skip("no control groups here")
    group = tmp_path / name.read_text().rpartition("0::/")[2].strip()
    group.mkdir(parents=True, exist_ok=True)
    for what, text in (
        ("max", "500000000"),
        ("current", "400000000"),
        ("stat", "anon 1\ninactive_file 100000000"),
    ):
        (group / f"memory.{what}").write_text(text + "\n")
    monkeypatch.setattr(sessions, "CONTROL_GROUP", tmp_path)
    assert sessions.free_bytes() == 200_000_000
    (group / "memory.max").write_text("max\n")
    assert sessions.free_bytes() > 200_000_000
