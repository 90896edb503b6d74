"""Results that the browser sends: each file is read under its name and kept nowhere."""

from __future__ import annotations

import json

from benchmark_results import Measured, vllm

from gpuplan.app.validating import Validating
from gpuplan.plan import make_plan
from gpuplan.scenario import load_scenario


def test_a_file_is_read_and_removed_and_an_error_leaves_the_others() -> None:
    changes: list[int] = []
    work, plan = Validating(lambda: changes.append(1)), make_plan(load_scenario("assistant"))
    for name, content in (("assistant--c1.json", vllm(Measured())), ("bad.json", {"x": 1})):
        data = json.dumps(content).encode()
        assert work.receive(name, len(data), 0, data)
        work.compare(plan)
        assert not list(work.folder.iterdir())
    assert "bad.json" in work.error and len(work.results) == 1 and changes
    work.forget_all()
    assert not work.results and work.found is None
