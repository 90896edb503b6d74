"""The hosts of a cluster as tiles: the VMs on each GPU in three degrees of detail, after failures or while VMs are powered on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpuplan.app.cards import group_colours
from gpuplan.app.plan_view import PlanView
from gpuplan.app.steps.failures import runs
from gpuplan.models.availability.failover import Outcome
from gpuplan.models.placement import Host, Load, Room, Slot
from gpuplan.models.power_on import Play, Step
from gpuplan.plan.hosts import Pool
from gpuplan.report import group_names, number
from gpuplan.report.diagrams import Shares, layout_words, on_each_gpu, places_words, room_words
from gpuplan.report.tables import host_kinds
from gpuplan.report.tables.build import profile_in
from gpuplan.scenario import UNASSIGNED
from gpuplan.wording import NAMES, said

LARGE, COMPACT = 16, 40
"""Most hosts drawn large, and most drawn compact; above, one tile shows all identical hosts."""

SHORT_NAMES = 8
SHOWN_PARTS = 8
"""Most pieces of one GPU drawn one by one; more are drawn as one piece for each group."""


DOWN_HOSTS = {"failed": "screen.hosts.several failed", "maintenance": "screen.hosts.several in maintenance"}
DOWN = NAMES["why a host is down"]
TILE, TEXT = "screen.hosts.used", "screen.hosts.used in text"


class Picture:
    """The hosts of a pool as drawn: the look of groups, the size of pieces, and the effect of hosts that are down."""

    def __init__(self, workbook: PlanView, pool: Pool, hosts: int) -> None:
        """``hosts`` is the total number of hosts shown."""
        self.workbook, self.pool = workbook, pool
        plan = self.plan = workbook.plan
        self.zoom = "large" if pool.hosts <= LARGE else "compact" if hosts <= COMPACT else "kinds"
        self.names = group_names(plan)
        self.letters = {g.id: g.letter for g in plan.groups} | {UNASSIGNED: "\u00b7"}
        self.colours = group_colours(workbook) | {UNASSIGNED: 0}
        self.profiles = {g.id: profile_in(plan, pool, g) for g in plan.groups}
        self.shares = Shares(plan, pool)
        self.known: dict[Any, tuple[str, str]] = workbook.once("hosts: shares", dict)
        """Texts of the shares on a GPU, by family and counts, cached for this plan."""
        failed, maintenance = workbook.failed.get(pool.id, ()), workbook.maintenance.get(pool.id, ())
        self.down = dict.fromkeys(failed, "failed") | dict.fromkeys(maintenance, "maintenance")
        """Number of a host -> the reason why it is down."""
        order = (maintenance, failed) if workbook.click == "maintain" else (failed, maintenance)
        self.back = [n for numbers in order for n in reversed(numbers)]
        """Hosts that are down, in the order in which to bring them back."""
        self.loads = pool.placement
        self.outcome = workbook.outcome(pool.id)
        self.arrivals = self._arrivals(self.outcome) if self.outcome else {}
        """Number of a host -> VMs that it receives; a VM that continues there is not one of them."""

    def _arrivals(self, outcome: Outcome) -> dict[int, list[str]]:
        where = {(group, vm): host for group, vm, _, host in (*outcome.evacuated, *outcome.moved)}
        where |= {(group, vm): host for group, vm, host in outcome.restarted}
        arrivals: dict[int, list[str]] = {}
        for (group, vm), host in where.items():
            if (group, vm) not in outcome.unplaced:
                arrivals.setdefault(host, []).append(self._vm(group, vm))
        return arrivals

    def _vm(self, group: str, vm: int) -> str:
        letter = self.letters[group]
        return f"{letter}{'.' if letter.isdigit() else ''}{vm}"

    def kinds(self) -> list[list[int]]:
        """Return groups of hosts with the same VMs, from 0, the most frequent first."""
        return self.workbook.once(f"kinds of {self.pool.id}", lambda: host_kinds(self.pool))

    def kind(self, members: list[int]) -> dict[str, Any]:
        """Return one tile for all hosts with the same VMs; a click takes one of them."""
        numbers, first = [index + 1 for index in members], members[0]
        running = [n for n in numbers if n not in self.down]
        loads, room = self.loads[first], self.pool.rooms[first]
        state, events = self._state(numbers, loads)
        word, spoken = (events or _use_word(loads, room, of) for of in (TILE, TEXT))
        vms = self._summary(loads)
        return {
            "number": running[0] if running else 0,
            "at": f"kind-{numbers[0]}",
            "head": f"\u00d7\u202f{number(len(members))}",
            "state": state,
            "all_down": not running,
            "word": word,
            "title": said("screen.hosts.numbers", hosts=runs(numbers)),
            "name": said("screen.hosts.like this", hosts=len(members), state=spoken, vms=vms),
            "gpus": self._gpus(first, loads, room),
            "back": next((n for n in self.back if n in numbers), 0),
        }

    def _state(self, numbers: Sequence[int], loads: Host) -> tuple[str, str]:
        """Return the state of hosts with the same VMs that leads, and what happens to them in words."""
        lost = Counter(self.down[n] for n in numbers if n in self.down)
        landing = sum(len(self.arrivals.get(number, ())) for number in numbers)
        events = [said(key, hosts=lost[why]) for why, key in DOWN_HOSTS.items() if lost[why]]
        if landing:
            events.append(said("screen.hosts.gets VMs", vms=landing))
        states = {"failed": lost["failed"], "maintenance": lost, "landing": landing, "spare": not loads}
        return next((state for state, holds in states.items() if holds), ""), ", ".join(events)

    def host(self, index: int) -> dict[str, Any]:
        """Return the tile of one host."""
        down, arrivals = self.down.get(index + 1, ""), self.arrivals.get(index + 1, [])
        running = None if down else self.outcome
        loads = running.hosts[index] if running else self.loads[index]
        room = self.pool.rooms[index]
        used, short, at = _use_word(loads, room, TILE), "", index + 1
        state, word = "", said("screen.hosts.running") if self.outcome else used
        if down:
            state, word = down, DOWN[down]
        elif arrivals:
            names, count = ", ".join(arrivals), said("screen.hosts.VMs", vms=len(arrivals))
            state, word = "landing", said("screen.hosts.gets", what=names if len(arrivals) <= 3 else count)
            short = f"+{names if len(names) <= SHORT_NAMES else count}"
        elif not loads:
            state, word = "spare", self._idle(index)
        spoken = _use_word(loads, room, TEXT) if word == used else word
        title, free = said("screen.hosts.host is", host=at, state=spoken), self._free(loads, room)
        return {
            "number": index + 1,
            "at": f"host-{index + 1}",
            "head": said("screen.hosts.host", host=at) if self.zoom == "large" else str(at),
            "state": state,
            "word": word,
            "short": short or word,
            "title": f"{title}. {free}" if free else title,
            "name": said("screen.hosts.host holds", host=at, state=spoken, vms=self._summary(loads)),
            "gpus": self._gpus(index, loads, room),
        }

    def _idle(self, index: int) -> str:
        """Return the role of a host without a VM: spare, or for the demand beyond the best arrangement."""
        pool = self.pool
        empty = [at for at, loads in enumerate(pool.placement) if not loads]
        ordered = index in empty[: pool.hosts_for_demand - pool.hosts_at_best]
        return said("screen.hosts.for orders" if ordered else "screen.hosts.spare")

    def _summary(self, loads: Host) -> str:
        vms = Counter(group for group, _ in _vms(loads))
        none = said("screen.hosts.no VM")
        return ", ".join(f"{number(n)} x {self.names[g]}" for g, n in sorted(vms.items())) or none

    def _free(self, loads: Host, room: Room) -> str:
        """Return the free CPU and memory of a host, where they are counted."""
        requests = {request.group: request for request in self.pool.requests}
        on_it = [requests[group] for group, _ in _vms(loads)]
        counted = (
            ("screen.hosts.vCPUs free", room.vcpus, sum(r.vcpus for r in on_it)),
            ("screen.hosts.memory free", room.memory_gib, sum(r.memory_gib for r in on_it)),
        )
        return ", ".join(said(key, free=most - used, of=most) for key, most, used in counted if most)

    def _gpus(self, index: int, loads: Host, room: Room) -> list[dict[str, Any]]:
        return [self._gpu(index, at, load) for at, load in enumerate(on_each_gpu(loads, room.gpus))]

    def _gpu(self, index: int, at: int, load: Load | None) -> dict[str, Any]:
        used = load and (self._shared_gpu(load) if load.family else self._whole_gpu(load))
        gpu = used or _gpu([], 1, True, said("screen.hosts.free"))
        return gpu | {"title": said("screen.hosts.GPU", gpu=at + 1, what=gpu["title"])}

    def _whole_gpu(self, load: Load) -> dict[str, Any]:
        slot = load.slots[0]
        what = self.profiles.get(slot.group) or said("screen.hosts.whole GPU")
        key = "screen.hosts.VM on GPUs" if load.gpus > 1 else "screen.hosts.VM on it"
        piece = self._piece(slot.group, 1, self.letters[slot.group])
        title = said(key, what=what, group=self.names[slot.group], vm=slot.vm, gpus=load.gpus)
        return _gpu([piece], 0, False, title)

    def _piece(self, group: str, weight: int, text: str) -> dict[str, Any]:
        return {"text": text, "colour": self.colours[group], "weight": weight}

    def _shared_gpu(self, load: Load) -> dict[str, Any]:
        left = self.shares.left_mb(load)
        layout, room_for = self._shared_words(load, left)
        who = self._people(load)
        if self.zoom == "large" and len(load.slots) <= SHOWN_PARTS:
            size, letters = self.shares.piece_mb, self.letters
            pieces = [self._piece(s.group, size(s.group), letters[s.group]) for s in load.slots]
        else:
            pieces = self._by_group(load)
        title = f"{layout}. {who}. {room_for or said('screen.hosts.no room')}"
        return _gpu(pieces, left, bool(room_for), title)

    def _people(self, load: Load) -> str:
        people: dict[str, list[int]] = {}
        for slot in load.slots:
            people.setdefault(slot.group, []).append(slot.vm)
        return ", ".join(f"{self.names[g]} {runs(vms)}" for g, vms in people.items())

    def _by_group(self, load: Load) -> list[dict[str, Any]]:
        """Return one piece for each group; where there are more than two, the letters of the two largest."""
        shares = self.shares.of(load)
        largest = sorted(shares, key=lambda group: -shares[group].mb)[:2]
        pieces = []
        for group, (vms, mb) in shares.items():
            letter = self.letters[group] if group in largest else ""
            many = self.zoom == "large" and len(shares) <= 2 and vms > 1
            pieces.append(self._piece(group, mb, f"{letter}\u00d7{vms}" if many else letter))
        return pieces

    def _shared_words(self, load: Load, left: int) -> tuple[str, str]:
        """Return (contents of a shared GPU, VMs that it still has room for)."""
        family = load.family
        assert family is not None
        if family.capacity:
            allocated = sum(slot.weight for slot in load.slots)
            free = family.capacity - allocated
            room = said("screen.hosts.MB free", free=free) if free else ""
            return said("screen.hosts.allocated", memory=allocated), room
        counts = tuple(sum(slot.profile == name for slot in load.slots) for name in family.profiles)
        key = self.pool.gpu, family.name, counts
        if key not in self.known:
            self.known[key] = (
                layout_words(self.plan.home(self.pool), family, counts),
                room_words(family, counts),
            )
        layout, fitting = self.known[key]
        return layout, said("screen.hosts.room for", free=left, what=fitting) if fitting else ""


class Arriving(Picture):
    """The hosts of a pool as VMs are powered on; hosts that are down wait meanwhile."""

    def __init__(self, workbook: PlanView, pool: Pool, hosts: int, play: Play) -> None:
        super().__init__(workbook, pool, hosts)
        self.play, self.outcome, self.down, self.back = play, None, {}, []
        self.loads = (*play.cluster.hosts(), *[()] * (pool.hosts - len(play.cluster.rooms)))
        self.places = play.cluster.by_gpu()
        self.new = play.now if play.now and play.now.spot else None
        """The VM that was powered on last, if it runs."""
        self.arrivals = {}
        if self.new and self.new.spot:
            self.arrivals[self.new.spot.host + 1] = [self._vm(*self._named(self.new))]

    def _named(self, step: Step) -> tuple[str, int]:
        return self.play.cluster.requests[step.kind].group, step.vm

    def kinds(self) -> list[list[int]]:
        """Return the kinds with the host that has just got a VM first."""
        just = [n - 1 for n in self.arrivals]
        kinds = host_kinds(replace(self.pool, placement=self.loads))
        others = ([index for index in members if index not in just] for members in kinds)
        return [members for members in (just, *others) if members]

    def _idle(self, index: int) -> str:
        return said("screen.hosts.empty" if index < len(self.places) else "screen.hosts.reserved")

    def _gpus(self, index: int, loads: Host, room: Room) -> list[dict[str, Any]]:
        per_gpu = self.places[index] if index < len(self.places) else [None] * room.gpus
        return [self._gpu(index, at, load) for at, load in enumerate(per_gpu)]

    def _gpu(self, index: int, at: int, load: Load | None) -> dict[str, Any]:
        gpu = super()._gpu(index, at, load)
        if load and load.family and not load.family.capacity:
            gpu = self._as_it_filled(index, at, load, gpu["parts"])
        spot = self.new.spot if self.new else None
        return gpu | {"new": bool(spot and spot.host == index and at in spot.gpus)}

    def _is_new(self, slot: Slot) -> dict[str, bool]:
        return {"new": True} if self.new and slot[:2] == self._named(self.new) else {}

    def _as_it_filled(self, index: int, at: int, load: Load, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a shared GPU with each share where it began, and the VMs that may join it."""
        joins, places = self.play.joins(index, at), self.play.places(index, at)
        room = said("screen.hosts.joins", what=" or ".join(joins)) if joins else said("screen.hosts.no room")
        starts: dict[str, list[int]] = {}
        for slot, (start, _) in zip(load.slots, places, strict=False):
            starts.setdefault(slot.profile, []).append(start)
        counts = Counter(slot.profile for slot in load.slots)
        on_it = [
            said("screen.hosts.at", profile=name, places=places_words(starts[name]))
            if places
            else f"{n} x {name}"
            for name, n in counts.items()
        ]
        what = f"{', '.join(on_it)}. {self._people(load)}. {room}"
        title = said("screen.hosts.GPU", gpu=at + 1, what=what)
        if not places:
            if len(parts) == len(load.slots):
                parts = [part | self._is_new(slot) for part, slot in zip(parts, load.slots, strict=True)]
            return _gpu(parts, self.shares.left_mb(load), bool(joins), title)
        drawn, end = list[dict[str, Any]](), 0
        for slot, (start, size) in zip(load.slots, places, strict=True):
            gap = [{"text": "", "gap": "free" if joins else "rest", "weight": start - end}]
            piece = self._piece(slot.group, size, self.letters[slot.group])
            drawn += [*gap * (start > end), piece | self._is_new(slot)]
            end = start + size
        return _gpu(drawn, self.play.region(index, at) - end, bool(joins), title)


def _gpu(pieces: list[dict[str, Any]], left: int, usable: bool, title: str) -> dict[str, Any]:
    """Return a GPU: its pieces, what is left, free or stranded, and its text."""
    return {"parts": pieces, "free": left if usable else 0, "rest": 0 if usable else left, "title": title}


def _vms(loads: Host) -> set[tuple[str, int]]:
    return {(slot.group, slot.vm) for load in loads for slot in load.slots}


def _use_word(loads: Host, room: Room, key: str) -> str:
    """Return the used GPUs of a host: ``4/4`` on a narrow tile, ``4 of 4`` in text."""
    return said(key if loads else "screen.hosts.spare", gpus=sum(load.gpus for load in loads), of=room.gpus)
