"""Hardware of a host: its server, the boards that carry its GPUs, and which boards a server takes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.scenario import Scenario
from gpuplan.wording import said, some_of


def server_of(scenario: Scenario, catalog: Catalog) -> Item | None:
    """The server that is chosen."""
    return catalog.servers[scenario.hardware.server] if scenario.hardware.server else None


def maker_of(server: Item) -> str | None:
    """The maker of a server; None for one that several build."""
    maker = str(server.value("vendor"))
    return None if maker == "any" else maker


def architecture_of(catalog: Catalog, gpu: str) -> Mapping[str, Any]:
    """Return the properties of all boards of a GPU's architecture; empty where the catalog does not know it."""
    name = str(catalog.gpus[gpu].value("architecture")).lower()
    return next((row.cells for row in catalog.rows("architectures") if row.id == name), {})


@lru_cache(maxsize=256)  # each size of a replica asks
def sum_rates(catalog: Catalog, gpu: str) -> tuple[Row, ...]:
    """Return measured rates of sums inside a host: of the board, or without NVLink of one of its architecture without it."""
    rows = catalog.rows("nccl_rates")
    own = tuple(row for row in rows if row["gpu"] == gpu)
    if own or catalog.gpus[gpu].value("nvlink_gb_s"):
        return own
    kind = catalog.gpus[gpu].value("architecture")
    alike = (row["gpu"] for row in rows if not catalog.gpus[row["gpu"]].value("nvlink_gb_s"))
    other = next((id for id in alike if catalog.gpus[id].value("architecture") == kind), None)
    return tuple(row for row in rows if row["gpu"] == other)


def vsphere_profile(catalog: Catalog, gpu: str, profile: str) -> str:
    """Return the assumed name of a vGPU profile in vSphere."""
    return f"{architecture_of(catalog, gpu).get('vgpu_prefix', 'nvidia')}_{profile.lower()}"


def has_nvswitch(scenario: Scenario, catalog: Catalog) -> bool:
    """True if NVSwitch joins the GPUs of a host: more than four modules, later than SXM2 (``rules/nvswitch-hosts``).

    Where no server is chosen, it has at least the modules of the smallest that takes the GPU.
    """
    hardware, server = scenario.hardware, server_of(scenario, catalog)
    sizes = [fit.gpus for (_, gpu), fit in _fits(catalog).items() if gpu == hardware.gpu]
    modules = server.value("max_gpus_sxm") if server else min(sizes, default=0)
    form = catalog.gpus[hardware.gpu].value("form_factor")
    return form in ("SXM4", "SXM5", "SXM6") and max(int(modules or 0), hardware.gpus_per_host) > 4


def needs_crx(scenario: Scenario, catalog: Catalog) -> bool:
    """True if vGPUs of these hosts share NVSwitch by Fabric Manager CRX (``rules/nvswitch-crx``)."""
    architecture = architecture_of(catalog, scenario.hardware.gpu)
    return has_nvswitch(scenario, catalog) and bool(architecture.get("nvswitch_crx"))


def gpus_per_board(scenario: Scenario, catalog: Catalog) -> int:
    """GPUs on one board."""
    return gpus_of_board(catalog.gpus[scenario.hardware.gpu])


def gpus_of_board(gpu: Item) -> int:
    """GPUs on one board of a model."""
    return int(gpu.value("gpus_per_board") or 1)


def boards(scenario: Scenario, catalog: Catalog, gpus: int | None = None) -> int:
    """Boards that carry these GPUs, else the boards of a new host."""
    hardware = scenario.hardware
    return boards_of(catalog, hardware.gpu, hardware.gpus_per_host if gpus is None else gpus)


def boards_of(catalog: Catalog, gpu: str, gpus: int) -> int:
    """Boards of a model that carry this many GPUs."""
    return -(-gpus // gpus_of_board(catalog.gpus[gpu]))


class Fit(NamedTuple):
    """A row of the catalog that has a server with a board, with its basis."""

    gpus: int
    """Most GPUs of this model in one server."""
    basis: str
    sources: tuple[str, ...]
    whole: bool
    """True if the GPUs come together on one baseboard, so that fewer are not sold."""


def fit_of(catalog: Catalog, server: str, gpu: str) -> Fit | None:
    """Return the GPUs of a model that a server takes; None where no row of the catalog has the two together."""
    return _fits(catalog).get((server, gpu))


@lru_cache(maxsize=128)  # each candidate on a server of any make asks
def takers(gpu: str, catalog: Catalog) -> tuple[str, ...]:
    """Return the servers of the catalog that take a board."""
    return tuple(server for server in catalog.servers if fit_of(catalog, server, gpu))


def known_takers(scenario: Scenario, catalog: Catalog) -> str:
    """Name the servers that are known to take the board of a scenario; empty without any."""
    names = [catalog.servers[server].name for server in takers(scenario.hardware.gpu, catalog)]
    return said("check.known servers", servers=some_of(names)) if names else ""


@lru_cache(maxsize=8)  # each candidate of `explore` asks: without it the rows are read thousands of times
def _fits(catalog: Catalog) -> Mapping[tuple[str, str], Fit]:
    fits = {}
    for row in catalog.rows("server_gpus"):
        gpu = catalog.gpus[row["gpu"]]
        whole = str(gpu.value("form_factor")).startswith("SXM")
        most = int(row["boards"]) * gpus_of_board(gpu)
        fits[str(row["server"]), gpu.id] = Fit(most, row.basis, row.sources, whole)
    return fits
