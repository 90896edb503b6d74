"""Candidates: designs that an architect would compare for one demand, and why some cannot be built."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.analysis.variants import on_board
from gpuplan.catalog import Catalog
from gpuplan.plan.boards import memory_of
from gpuplan.plan.hardware import Fit, fit_of, takers
from gpuplan.plan.llm import uses_model
from gpuplan.plan.prices import PriceList, catalog_factor
from gpuplan.plan.sharing import unconfirmed_on
from gpuplan.plan.validation import host_limit
from gpuplan.scenario import KINDS_PATH, NEW_HOSTS, Group, Scenario, new_hosts_text, views
from gpuplan.wording import MODE_NAMES, amount, said

SHARING = ("as asked", "vgpu", "passthrough", "mig", "bitfusion")
"""Access modes for groups whose mode is left to the rules: by the rules, or all of them in one mode."""
PER_HOST = (2, 4, 8, 16)
LINKS_GBIT_S = (10, 25, 100)
MOST_GPUS = 10
MOST_COMBINED = 1_500


@dataclass(frozen=True, slots=True)
class Candidate:
    """A design to try, as changes to a scenario."""

    gpu: str
    server: str
    gpus_per_host: int
    sharing: str
    link_gbit_s: int
    host_failures: int

    def apply(self, scenario: Scenario, catalog: Catalog) -> Scenario:
        """Return the scenario with this design, its demand in GPUs of this board that do the same work."""
        changes: dict[str, Any] = {
            "hardware.gpu": self.gpu,
            "hardware.server": self.server or None,
            "hardware.gpus_per_host": self.gpus_per_host,
            "network.link_gbit_s": self.link_gbit_s,
            "availability.host_failures": self.host_failures,
        }
        if self.gpu != scenario.hardware.gpu:
            if scenario.hardware.existing:
                changes["hardware.existing"] = None
            scenario = on_board(scenario, catalog, self.gpu)
        if self.sharing != SHARING[0]:
            changes |= {f"groups.{group.id}.access": self.sharing for group in left_open(scenario)}
        if self.sharing == "bitfusion":
            changes["platform.bitfusion"] = True
        for path, value in changes.items():
            if scenario.get(path) != value:
                scenario = scenario.with_value(path, value)
        return scenario

    def label(self, catalog: Catalog) -> str:
        """The design in a few words."""
        server = catalog.servers[self.server].name if self.server else said("candidate.any server")
        shared = self.sharing != SHARING[0]
        sharing = said("candidate.all sharing", mode=MODE_NAMES[self.sharing]) if shared else ""
        counts = {"count": self.gpus_per_host, "link": self.link_gbit_s, "failures": self.host_failures}
        gpu = catalog.gpus[self.gpu].name
        return said("candidate.label", gpu=gpu, server=server, sharing=sharing, **counts)


@dataclass(frozen=True, slots=True)
class KindCandidate(Candidate):
    """A design with other hosts of a further kind, and all else as it is."""

    of: str = ""

    def apply(self, scenario: Scenario, catalog: Catalog) -> Scenario:
        """Return the scenario with these hosts, the demand of their groups in GPUs of their board."""
        rows = NEW_HOSTS.file_rows(scenario.hardware.kinds or "")
        mine = next(row for row in rows if row["name"] == self.of)
        if mine["gpu"] != self.gpu:
            scenario = on_board(scenario, catalog, self.gpu, self.of)
        mine |= {"gpu": self.gpu, "server": self.server or None, "gpus_per_host": self.gpus_per_host}
        return scenario.with_value(KINDS_PATH, new_hosts_text(rows))

    def label(self, catalog: Catalog) -> str:
        """The design in a few words, with the name of the kind of hosts that is another one."""
        return f"{self.of}: {super(KindCandidate, self).label(catalog)}"


def kind_of(candidate: Candidate) -> str:
    """Name of the kind of hosts that a candidate changes; empty for the first."""
    return candidate.of if isinstance(candidate, KindCandidate) else ""


def view_of(scenario: Scenario, candidate: Candidate) -> Scenario:
    """Return the view of a scenario with the hosts that a candidate changes."""
    return next(view for view in views(scenario) if view.hardware.of == kind_of(candidate))


def kind_candidates(scenario: Scenario, catalog: Catalog) -> Iterator[KindCandidate]:
    """Yield candidates for each further kind of hosts: other boards, servers and numbers of GPUs."""
    for view in views(scenario)[1:]:
        usual, own = default_space(view, catalog), asked(view)
        for gpu, server, count in itertools.product(usual.gpus, usual.servers, usual.gpus_per_host):
            design = replace(own, gpu=gpu, server=server, gpus_per_host=count)
            left_out = hopeless(view, catalog, design) or roomier(view, catalog, usual, design)
            if design != own and not left_out:
                parts = {field.name: getattr(design, field.name) for field in fields(design)}
                yield KindCandidate(**parts, of=view.hardware.of)


def asked(scenario: Scenario) -> Candidate:
    """Return the current design of the scenario."""
    hardware = scenario.hardware
    numbers = (scenario.network.link_gbit_s, scenario.availability.host_failures)
    return Candidate(hardware.gpu, hardware.server or "", hardware.gpus_per_host, SHARING[0], *numbers)


@dataclass(frozen=True, slots=True)
class Space:
    """Values that are combined into candidates."""

    gpus: tuple[str, ...]
    servers: tuple[str, ...]
    gpus_per_host: tuple[int, ...]
    sharing: tuple[str, ...]
    links: tuple[int, ...]
    host_failures: tuple[int, ...]


def candidates(space: Space) -> tuple[Candidate, ...]:
    """Return every combination of a space once."""
    parts = (getattr(space, field.name) for field in fields(space))  # in the order of those of a candidate
    return tuple(dict.fromkeys(Candidate(*values) for values in itertools.product(*parts)))


def default_space(scenario: Scenario, catalog: Catalog) -> Space:
    """Return the designs that an architect would compare for a scenario.

    Boards that replace the requested one, priced and sold ones and the nearest in age first; servers that take them,
    those of the same maker first; numbers of GPUs that hold the largest VM; the usual links; one more failure.
    """
    current = asked(scenario)
    gpus = usual_boards(scenario, catalog, not_offered(scenario, catalog))
    servers = _servers(current, gpus, catalog)
    rooms = {fit.gpus for gpu in gpus for server in servers if (fit := fit_of(catalog, server, gpu))}
    per_host = {current.gpus_per_host, *(n for n in PER_HOST if n <= max(rooms, default=0))}
    sharing = possible_sharing(scenario, catalog)
    links = {current.link_gbit_s, *LINKS_GBIT_S}
    failures = {current.host_failures, current.host_failures + 1}
    others = len(per_host) * len(sharing) * len(links) * len(failures)
    fits = {gpu: sum(fit_of(catalog, server, gpu) is not None for server in servers) for gpu in gpus}
    while len(gpus) > 2 and sum(fits[gpu] for gpu in gpus) * others > MOST_COMBINED:
        gpus = gpus[:-1]
    servers = tuple(s for s in servers if s == current.server or any(fit_of(catalog, s, gpu) for gpu in gpus))
    sizes, speeds = tuple(sorted(per_host)), tuple(sorted(links))
    return Space(gpus, servers, sizes, sharing, speeds, tuple(sorted(failures)))


def too_little(gpu: str, scenario: Scenario, catalog: Catalog) -> str:
    """Say why a board does not replace the one in which the demand is counted; empty if it does."""
    board, other = catalog.gpus[scenario.hardware.gpu], catalog.gpus[gpu]
    if board == other:
        return ""
    least = float(catalog_factor(catalog, "least_gpu_share").value)
    for parameter, what, unit in (
        ("memory_gib", "candidate.memory", "GiB"),
        ("fp16_tensor_tflops", "candidate.peak speed", "TFLOP/s"),
    ):
        wanted, has = board.value(parameter), other.value(parameter)
        if wanted is not None and has is not None and float(has) < least * float(wanted):
            sizes = {"has": amount(has, unit), "wanted": amount(wanted, unit)}
            return said("candidate.too little", other=other.name, what=said(what), gpu=board.name, **sizes)
    return imprecise(gpu, scenario, catalog)


def imprecise(gpu: str, scenario: Scenario, catalog: Catalog) -> str:
    """Say why a board does not serve groups that compute in double precision; empty if it does, or without any."""
    groups = [
        g.name for g in views(scenario)[0].groups if catalog.row("use_cases", g.use_case)["double_precision"]
    ]
    if not groups:
        return ""
    other, names = catalog.gpus[gpu], ", ".join(groups)
    double, single = other.value("fp64_tflops"), other.value("fp32_tflops")
    if double is None:
        return said("candidate.double precision not known", names=names, gpu=other.name)
    least = float(catalog_factor(catalog, "least_fp64_share").value)
    if single is None or float(double) >= least * float(single):
        return ""
    return said("candidate.double precision slow", names=names, gpu=other.name, double=double, single=single)


def too_small(gpu: str, scenario: Scenario, catalog: Catalog) -> str:
    """Say why a board does not serve groups that compute in double precision, or share GPUs with more memory than it has."""
    room, reasons = memory_of(catalog, scenario.hardware.gpu, gpu), [imprecise(gpu, scenario, catalog)]
    has, whole = (
        float(catalog.gpus[board].value("memory_gib") or 0) for board in (gpu, scenario.hardware.gpu)
    )
    for group in views(scenario)[0].groups:
        each, stated = float(group.gpus_each), uses_model(group) or group.profile or group.hosts
        if not stated and each < 1 < each * room - 1e-9:
            reasons.append(said("same.too large", group=group.name, needs=each * whole, has=has))
    return "; ".join(filter(None, reasons))


def not_offered(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Return boards that do not replace the requested one, or that no server of the catalog takes."""
    board = scenario.hardware.gpu
    others = (gpu for gpu in catalog.gpus if gpu != board)
    return tuple(gpu for gpu in others if too_little(gpu, scenario, catalog) or not takers(gpu, catalog))


def usual_boards(scenario: Scenario, catalog: Catalog, out: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the requested board and the others but those ``out``: those sold at a price that a source states first, then the nearest in age."""
    board = scenario.hardware.gpu
    defaults = (row for row in catalog.rows("prices") if row["use"] == "default")
    known = (row for row in defaults if set(row.sources) - {"gpuplan-method"})
    priced = {*dict(scenario.prices), *(row["item"] for row in known)}
    year, today = launched(board, catalog), PriceList(scenario, catalog).as_of
    others = (gpu for gpu in catalog.gpus if gpu != board and gpu not in out)
    boards = sorted(others, key=lambda gpu: (abs(launched(gpu, catalog) - year), gpu))
    boards.sort(key=lambda gpu: (f"gpus/{gpu}" not in priced, maybe_ended(gpu, catalog, today)))
    return (board, *boards[: MOST_GPUS - 1])


def launched(gpu: str, catalog: Catalog) -> int:
    """Return the year in which a board was launched; a late one where it is not stated."""
    return int(str(catalog.gpus[gpu].value("launched") or "2025")[:4])


def maybe_ended(gpu: str, catalog: Catalog, today: str) -> bool:
    """True if a board is no longer sold by its date, or is so old that it may not be."""
    if ended := catalog.gpus[gpu].value("end_of_sale"):
        return str(ended) <= today
    years = int(today[:4]) - launched(gpu, catalog)
    return years > float(catalog_factor(catalog, "board_sale_years").value)


def _servers(own: Candidate, gpus: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """Return the requested server, and for each board the largest one and the one nearest to the requested number.

    Of the same maker if it has one; where that is only derived, the largest known to take the board is added.
    """
    maker = catalog.servers[own.server].value("vendor") if own.server else None
    servers = {own.server: None}
    for gpu in gpus:
        fits = ((server, fit) for server in takers(gpu, catalog) if (fit := fit_of(catalog, server, gpu)))
        rooms = [_Room(fit.gpus, fit.basis != "derived", server) for server, fit in fits]
        same = [room for room in rooms if catalog.servers[room.server].value("vendor") == maker] or rooms
        if rooms:
            largest = max(same)
            near = max(same, key=lambda room: (room.gpus >= own.gpus_per_host, -room.gpus, *room[1:]))
            sure = max((room for room in rooms if room.sure and not largest.sure), default=largest)
            servers |= dict.fromkeys(room.server for room in (near, largest, sure))
    return tuple(servers)


class _Room(NamedTuple):
    gpus: int
    sure: bool
    server: str


def left_open(scenario: Scenario) -> list[Group]:
    """Groups of which neither access mode nor profile is decided."""
    return [group for group in scenario.groups if group.access == "auto" and not group.profile]


def possible_sharing(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Return the access modes that the platform has, without those that every group rules out."""
    version = catalog.vsphere[scenario.platform.vsphere]
    free = left_open(scenario)
    possible = {
        "vgpu": scenario.platform.vgpu_sizes == "equal" or not any(group.isolation for group in free),
        "passthrough": all(group.gpus_each >= 1 for group in free),
        "mig": bool(version.value("mig_backed_vgpu")) and all(group.gpus_each <= 1 for group in free),
        "bitfusion": scenario.platform.bitfusion
        and version.value("bitfusion_server") == "supported"
        and all(group.remote_allowed for group in free),
    }
    return (SHARING[0], *(mode for mode in SHARING[1:] if free and possible[mode]))


def unfit(scenario: Scenario, catalog: Catalog, candidate: Candidate, *, smaller: bool = False) -> str:
    """Say why no known server holds a candidate's GPUs, or no host the largest VM; else empty.

    A board with less memory or speed than the requested one is fit only where ``smaller`` ones are.
    """
    hardware = scenario.hardware
    as_stated = (candidate.gpu, candidate.server) == (hardware.gpu, hardware.server or "")
    lacking = too_small if smaller else too_little
    if candidate.gpu != hardware.gpu and (why := lacking(candidate.gpu, scenario, catalog)):
        return why
    stated = as_stated and candidate.gpus_per_host <= hardware.gpus_per_host
    if not stated and (why := _not_held(catalog, candidate)):
        return why
    same = candidate.gpu == hardware.gpu
    groups = views(scenario if same else on_board(scenario, catalog, candidate.gpu))[0].groups
    largest = max(groups, key=lambda group: group.gpus_each, default=None)
    if largest is None or candidate.gpus_per_host >= largest.gpus_each:
        return ""
    needed = {"group": largest.name, "needed": largest.gpus_each}
    return said("candidate.vm too large", gpus=candidate.gpus_per_host, **needed)


def _fault(fit: Fit | None, count: int) -> str:
    """Say by the end of a key why a server does not take so many of a board; empty if it does."""
    if fit is None:
        return "unknown"
    return "takes" if count > fit.gpus else "baseboard" * (fit.whole and count < fit.gpus)


def _not_held(catalog: Catalog, candidate: Candidate) -> str:
    """Say why a server is not known to be sold with the GPUs of a candidate; empty if it is."""
    gpu, count = catalog.gpus[candidate.gpu], candidate.gpus_per_host
    if not candidate.server:
        fits = [fit for server in takers(gpu.id, catalog) if (fit := fit_of(catalog, server, gpu.id))]
        if not all(_fault(fit, count) for fit in fits):
            return ""
        none = "candidate.no server takes so many" if fits else "candidate.no server takes"
        return said(none, count=count, gpu=gpu.name)
    fit, server = fit_of(catalog, candidate.server, candidate.gpu), catalog.servers[candidate.server].name
    if fault := _fault(fit, count):
        return said(f"candidate.{fault}", server=server, count=fit.gpus if fit else 0, gpu=gpu.name)
    return ""


class Misfit(NamedTuple):
    """Why a board and a server do not go together, in a few words."""

    words: str
    refused: bool
    """True if no plan takes the two together."""


def misfit(catalog: Catalog, server: str, gpu: str, count: int) -> Misfit | None:
    """Say in a few words why a server is not known to take so many of a board; None if it is."""
    limit, fit = host_limit(catalog, server, gpu, count), fit_of(catalog, server, gpu)
    if limit.most is not None and count > limit.most:
        return Misfit(said(f"misfit.{limit.key}", **limit.words), refused=True)
    if fault := _fault(fit, count):
        return Misfit(said(f"misfit.{fault}", count=fit.gpus if fit else 0), refused=False)
    return None


@lru_cache(maxsize=64)  # a page asks after each change
def server_misfits(catalog: Catalog, gpu: str, count: int) -> Mapping[str, Misfit]:
    """Return why servers are not known to take so many of a board, without those that do."""
    every = ((server, misfit(catalog, server, gpu, count)) for server in catalog.servers)
    return {server: why for server, why in every if why}


@lru_cache(maxsize=64)
def board_misfits(catalog: Catalog, server: str, count: int, version: str) -> Mapping[str, Misfit]:
    """Return why boards are not known to run in a server, or any, or on a version of vSphere, without those that do."""
    on = catalog.vsphere[version]
    found: dict[str, Misfit] = {}
    for id, gpu in catalog.gpus.items():
        if server and (why := misfit(catalog, server, id, count)):
            found[id] = why
        elif not takers(id, catalog):
            found[id] = Misfit(said("misfit.no server"), refused=False)
        elif unconfirmed_on(catalog, gpu, on):
            found[id] = Misfit(said("misfit.version", version=on.name), refused=False)
    return found


def roomier(scenario: Scenario, catalog: Catalog, space: Space, candidate: Candidate) -> bool:
    """True if a smaller server of the space takes as many of the board, so that the larger one is unnecessary."""
    current, fit = scenario.hardware.server or "", fit_of(catalog, candidate.server, candidate.gpu)
    if fit is None or candidate.server == current:
        return False
    others = (fit_of(catalog, server, candidate.gpu) for server in space.servers)
    return any(other and candidate.gpus_per_host <= other.gpus < fit.gpus for other in others)


def hopeless(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> bool:
    """True if a server and a board do not go together in any number."""
    hardware = scenario.hardware
    if (candidate.gpu, candidate.server) == (hardware.gpu, hardware.server or ""):
        return False
    if not candidate.server:
        return not takers(candidate.gpu, catalog)
    return fit_of(catalog, candidate.server, candidate.gpu) is None
