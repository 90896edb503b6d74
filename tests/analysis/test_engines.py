"""Engines: the same results here, in other processes and in parts of any size."""

from __future__ import annotations

import pytest

from gpuplan.analysis.engines import Engine
from gpuplan.catalog import Catalog


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (1, 4), (2, 2)])
def test_every_task_is_done_once(catalog: Catalog, workers: int, chunk: int) -> None:
    with Engine(catalog, workers=workers) as engine:
        for _ in range(2):  # the processes stay for the next round
            parts = list(engine.each(getattr, ["digest", "folders", "digest"], chunk))
            done = sorted(str(value) for part in parts for value in part)
            assert done == sorted(map(str, (catalog.digest, catalog.digest, catalog.folders)))


def test_few_tasks_start_no_process(catalog: Catalog) -> None:
    with Engine(catalog, workers=4) as engine:
        assert list(engine.each(getattr, ["digest"])) == [[catalog.digest]]
        assert engine._pool is None
