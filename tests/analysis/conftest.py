"""What the tests of the exploration share: an example, a small exploration of it, and a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from explored import SPACE

from gpuplan import load_scenario
from gpuplan.analysis.explore import explore
from gpuplan.analysis.ranking import Exploration
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario


@pytest.fixture(scope="module")
def starter() -> Scenario:
    """The starter example."""
    return load_scenario("starter")


@pytest.fixture(scope="module")
def found(starter: Scenario, catalog: Catalog) -> Exploration:
    """The small space explored for it."""
    return explore(starter, catalog, SPACE, workers=1)


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a dask cluster of one worker in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as local:
        yield local.scheduler_address
