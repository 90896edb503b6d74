"""Candidates: designs that an architect would compare for one demand, and why some cannot be built."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.scenario import Scenario
from gpuplan.wording import MODE_NAMES, amount, capital, number

SHARING = ("as asked", "vgpu", "passthrough", "mig", "bitfusion")
"""How GPUs reach those groups whose access mode is left to the rules; by the rules, or all of them in one mode."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A design to try: what it changes in a scenario."""

    gpu: str
    server: str
    """Empty for a server of any make."""
    gpus_per_host: int
    sharing: str
    link_gbit_s: int
    host_failures: int

    def apply(self, scenario: Scenario) -> Scenario:
        """The scenario with this design. Hosts already there hold the GPU of the scenario and join no other."""
        changes: dict[str, Any] = {
            "hardware.gpu": self.gpu,
            "hardware.server": self.server or None,
            "hardware.gpus_per_host": self.gpus_per_host,
            "network.link_gbit_s": self.link_gbit_s,
            "availability.host_failures": self.host_failures,
        }
        if self.gpu != scenario.hardware.gpu and scenario.hardware.existing_hosts:
            changes |= {"hardware.existing_hosts": 0, "hardware.existing_gpus_per_host": None}
        if self.sharing != SHARING[0]:
            changes |= {f"groups.{g.id}.access": self.sharing for g in scenario.groups if g.access == "auto"}
        if self.sharing == "bitfusion":
            changes["platform.bitfusion"] = True
        for path, value in changes.items():
            if scenario.get(path) != value:
                scenario = scenario.with_value(path, value)
        return scenario

    def label(self, catalog: Catalog) -> str:
        """The design in a few words."""
        server = catalog.servers[self.server].name if self.server else "any server"
        sharing = "" if self.sharing == SHARING[0] else f", all {MODE_NAMES[self.sharing]}"
        return (
            f"{self.gpus_per_host} x {catalog.gpus[self.gpu].name} in {server}{sharing}, {self.link_gbit_s} Gbit/s, "
            f"N+{self.host_failures}"
        )


def asked(scenario: Scenario) -> Candidate:
    """The design as the scenario has it."""
    given = scenario.hardware
    return Candidate(
        given.gpu,
        given.server or "",
        given.gpus_per_host,
        SHARING[0],
        scenario.network.link_gbit_s,
        scenario.availability.host_failures,
    )


@dataclass(frozen=True, slots=True)
class Space:
    """What is combined into candidates."""

    gpus: tuple[str, ...]
    servers: tuple[str, ...]
    gpus_per_host: tuple[int, ...]
    sharing: tuple[str, ...]
    links: tuple[int, ...]
    host_failures: tuple[int, ...]


def candidates(space: Space) -> tuple[Candidate, ...]:
    """Every combination of a space, each once."""
    parts = (getattr(space, field.name) for field in fields(space))  # in the order of those of a candidate
    return tuple(dict.fromkeys(Candidate(*each) for each in itertools.product(*parts)))


PER_HOST = (2, 4, 8, 16)
LINKS_GBIT_S = (10, 25, 100)
FAILURES = (1, 2)
MOST_GPUS = 8
MOST_COMBINED = 1_500


def default_space(scenario: Scenario, catalog: Catalog) -> Space:
    """What an architect would compare for a scenario.

    Boards that replace the one asked for, those with a price and then the nearest in age first; for them the server asked
    for and the roomiest of each kind; numbers of GPUs that hold the largest VM; the usual links; one and two failures.
    """
    own = asked(scenario)
    gpus = _boards(scenario, catalog)
    servers = _servers(own, gpus, catalog)
    largest = max((group.gpus_each for group in scenario.groups), default=1)
    room = max(_most(gpu, server, catalog) for gpu in gpus for server in servers)
    per_host = {own.gpus_per_host, *(n for n in PER_HOST if largest <= n <= room)}
    sharing = _sharing(scenario, catalog)
    links = {own.link_gbit_s, *LINKS_GBIT_S}
    failures = {own.host_failures, *FAILURES}
    others = len(servers) * len(per_host) * len(sharing) * len(links) * len(failures)
    return Space(
        gpus[: max(2, min(MOST_GPUS, MOST_COMBINED // others))],
        servers,
        tuple(sorted(per_host)),
        sharing,
        tuple(sorted(links)),
        tuple(sorted(failures)),
    )


def too_little(gpu: str, scenario: Scenario, catalog: Catalog) -> str:
    """Why a board does not replace the one that the demand is counted in; empty if it does."""
    mine, other = catalog.gpus[scenario.hardware.gpu], catalog.gpus[gpu]
    least = float(catalog_factor(catalog, "least_gpu_share").value)
    for parameter, what, unit in (
        ("memory_gib", "memory", "GiB"),
        ("fp16_tensor_tflops", "peak speed", "TFLOP/s"),
    ):
        wanted, has = mine.value(parameter), other.value(parameter)
        if wanted is not None and has is not None and float(has) < least * float(wanted):
            return f"{other.name} has {amount(has, unit)} of {what}, {mine.name} {amount(wanted, unit)}"
    return ""


def _boards(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """The board asked for, and those that replace it and that a server of the catalog takes."""
    own = scenario.hardware.gpu
    priced = {key for key, _ in scenario.prices} | {
        row["item"] for row in catalog.rows("prices") if row["use"] == "default"
    }
    year, fans = _year(own, catalog), {"passive", catalog.gpus[own].value("cooling") or "passive"}
    found = [
        gpu
        for gpu in catalog.gpus
        if gpu != own
        and (catalog.gpus[gpu].value("cooling") or "passive") in fans
        and not too_little(gpu, scenario, catalog)
        and any(_most(gpu, server, catalog) for server in catalog.servers)
    ]
    found.sort(key=lambda gpu: (f"gpus/{gpu}" not in priced, abs(_year(gpu, catalog) - year), gpu))
    return (own, *found)


def _year(gpu: str, catalog: Catalog) -> int:
    """Year in which a board came out; a late one where nobody says."""
    return int(str(catalog.gpus[gpu].value("launched") or "2025")[:4])


def _most(gpu: str, server: str, catalog: Catalog) -> int:
    """Most GPUs of a board that a server is known to hold; 0 if none."""
    bare = Scenario()
    given = replace(bare.hardware, gpu=gpu, server=server or None, gpus_per_host=1)
    if not server:
        return max(PER_HOST) if catalog.gpus[gpu].value("form_factor") == "PCIe" else 0
    return server_gpu_limit(replace(bare, hardware=given), catalog)[0] or 0


def _servers(own: Candidate, gpus: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """The server asked for, and for each form of board the one that holds most of them; of the same maker if there is one."""
    maker = catalog.servers[own.server].value("vendor") if own.server else None
    found = [own.server]
    for form in dict.fromkeys(str(catalog.gpus[gpu].value("form_factor")) for gpu in gpus[:MOST_GPUS]):
        boards = [gpu for gpu in gpus[:MOST_GPUS] if catalog.gpus[gpu].value("form_factor") == form]

        def worth(server: str, boards: Sequence[str] = boards) -> tuple[Any, ...]:
            return (
                max(_most(gpu, server, catalog) for gpu in boards),
                catalog.servers[server].value("vendor") == maker,
                server,
            )

        best = max(catalog.servers, key=worth)
        if best not in found:
            found.append(best)
    return tuple(found)


def _sharing(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Ways to share that the platform has, and that not every group rules out."""
    version = catalog.vsphere[scenario.platform.vsphere]
    free = [group for group in scenario.groups if group.access == "auto"]
    possible = {
        "vgpu": not any(group.isolation for group in free),
        "passthrough": all(group.gpus_each >= 1 for group in free),
        "mig": bool(version.value("mig_backed_vgpu")) and all(group.gpus_each <= 1 for group in free),
        "bitfusion": scenario.platform.bitfusion and all(group.remote_allowed for group in free),
    }
    return (SHARING[0], *(mode for mode in SHARING[1:] if free and possible[mode]))


def unfit(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> str:
    """Why a server is not known to hold the GPUs of a candidate, or a host not the largest VM; empty if they do.

    A server holds as many boards as the design as it stands puts into it, if they are of the same form and width.
    """
    mine, gpu = catalog.gpus[scenario.hardware.gpu], catalog.gpus[candidate.gpu]
    largest = max(scenario.groups, key=lambda group: group.gpus_each, default=None)
    if largest is not None and candidate.gpus_per_host < largest.gpus_each:
        return (
            f"A host has {amount(candidate.gpus_per_host, 'GPU')}, and a VM of {largest.name} needs {number(largest.gpus_each)} in "
            "one host"
        )
    if not candidate.server:
        alone = gpu.value("form_factor") != "PCIe"
        return f"{gpu.name} is part of a server: it takes a server that is known to hold it" if alone else ""
    alike = all(mine.value(name) == gpu.value(name) for name in ("form_factor", "slot_width"))
    own = scenario.hardware
    if alike and own.server == candidate.server and candidate.gpus_per_host <= own.gpus_per_host:
        return ""
    tried = replace(
        scenario,
        hardware=replace(
            own, gpu=candidate.gpu, server=candidate.server, gpus_per_host=candidate.gpus_per_host
        ),
    )
    limit, why = server_gpu_limit(tried, catalog)
    return capital(why) if limit is None or candidate.gpus_per_host > limit else ""
