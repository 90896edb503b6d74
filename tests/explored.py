"""What the tests of the exploration look at: a small space, and single options in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.analysis.candidates import Space, asked, default_space
from gpuplan.analysis.option import assess
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

SPACE = Space(
    gpus=("v100-pcie-32gb", "a40-48gb", "a100-sxm4-80gb"),
    servers=("dell-r740xd", "dell-r750xa", "dell-xe8545"),
    gpus_per_host=(2, 4),
    sharing=("as asked", "vgpu"),
    links=(10, 100),
    host_failures=(0, 1, 2),
)


def one_way(scenario: Scenario, catalog: Catalog) -> Space:
    """The boards and servers of the usual space, shared, joined and spared as the scenario asks."""
    own = asked(scenario)
    return replace(
        default_space(scenario, catalog),
        sharing=("as asked",),
        links=(own.link_gbit_s,),
        host_failures=(own.host_failures,),
    )


def alone(scenario: Scenario, *sharing: str) -> Space:
    """The design as it stands, shared in several ways."""
    own = asked(scenario)
    return Space(
        (own.gpu,), (own.server,), (own.gpus_per_host,), sharing, (own.link_gbit_s,), (own.host_failures,)
    )


def reasons(scenario: Scenario, catalog: Catalog, **changes: Any) -> str:
    """Why the design as it stands is out, with some changes."""
    return "; ".join(assess(scenario, catalog, replace(asked(scenario), **changes)).reasons)
