"""A customer's factors: right where runs agree, shrunk where they are few or unlike, and what five runs of a source tell."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from gpuplan.analysis.benchmarks import Result, customer
from gpuplan.analysis.benchmarks.customer import (
    SPREADS,
    Factor,
    Own,
    calibrate,
    calibrated,
    of_design,
    planned_run,
    write_factors,
    write_own,
)
from gpuplan.analysis.llm_predictions import Prediction, predict
from gpuplan.analysis.llm_runs import Run, runs_of
from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.llm_parts import speeds_of
from gpuplan.scenario import Problem, ScenarioError, load_scenario

RUN = Run("x", "Llama-3.1-8B", "H100", tp=1, isl=1024, osl=256, concurrency=16)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(load_scenario("assistant"))


def own(*logs: float, run: Run = RUN, quantity: str = "tpot_ms") -> Own:
    return Own({quantity: [(replace(run, id=f"r{n}"), log) for n, log in enumerate(logs)]})


def test_without_runs_nothing_changes() -> None:
    assert Own({}).factor("tpot_ms", RUN) == Factor(1.0, 1.0)
    assert own(0.3).factor("tpot_ms", replace(RUN, id="r0")) == Factor(1.0, 1.0), (
        "a run does not tell of itself"
    )


@pytest.mark.parametrize("quantity", SPREADS)
def test_one_run_by_hand(quantity: str) -> None:
    spread, log = SPREADS[quantity], 0.2
    alike = spread.all**2 + spread.model**2 + spread.near**2
    found = own(log, quantity=quantity).factor(quantity, RUN)
    assert math.log(found.value) == pytest.approx(log * alike / (alike + spread.noise**2))


@pytest.mark.parametrize("quantity", SPREADS)
def test_many_runs_that_agree_are_believed_and_narrow_the_range(quantity: str) -> None:
    found = [own(*[0.25] * n, quantity=quantity).factor(quantity, RUN) for n in (1, 5, 100)]
    assert found[0].value < found[1].value < found[2].value < math.exp(0.25)
    assert found[2].value == pytest.approx(math.exp(0.25), rel=0.03)
    assert 1 > found[0].width > found[1].width > found[2].width > 0


def test_another_model_and_another_load_tell_less() -> None:
    runs = own(*[0.25] * 5)
    same, far, other = (
        math.log(runs.factor("tpot_ms", replace(RUN, id="n", **change)).value)
        for change in ({}, {"concurrency": 512.0, "isl": 16000.0}, {"model": "Qwen3-32B"})
    )
    assert same > far > other > 0


def test_an_outlier_says_no_more_than_the_most() -> None:
    for quantity, spread in SPREADS.items():
        assert own(9.0, quantity=quantity).factor(quantity, RUN).value == pytest.approx(
            own(spread.most, quantity=quantity).factor(quantity, RUN).value
        )


def test_a_run_is_left_out_as_if_it_were_not_there() -> None:
    logs = (0.25, -0.1, 0.05, 0.2)
    runs = [replace(RUN, id=f"r{n}", concurrency=2.0**n) for n in range(4)]
    whole = Own({"tpot_ms": list(zip(runs, logs, strict=True))})
    for n, run in enumerate(runs):
        others = Own({"tpot_ms": [pair for m, pair in enumerate(zip(runs, logs, strict=True)) if m != n]})
        assert whole.factor("tpot_ms", run).value == pytest.approx(others.factor("tpot_ms", run).value)


def test_thousands_of_runs_are_fitted_at_once() -> None:
    runs = [replace(RUN, id=f"r{n}", concurrency=1.0 + n % 64) for n in range(3000)]
    many = Own({"tpot_ms": [(run, 0.1) for run in runs]})
    assert all(1.08 < many.factor("tpot_ms", run).value < 1.11 for run in runs[::100])


def test_runs_that_scatter_widen_the_range() -> None:
    calm, wild = (own(*logs).factor("tpot_ms", RUN).width for logs in ([0.0] * 6, [0.3, -0.3] * 3))
    assert wild > calm


def test_a_prediction_is_moved_with_its_range() -> None:
    old = Prediction("n", "tpot_ms", 12.0, 10.0, 8.0, 12.5)
    new = own(*[0.2] * 20).refitted(RUN, old)
    assert new.predicted and new.low and new.high and new.low < new.predicted < new.high
    assert 10 < new.predicted < 12.3 and new.high / new.low < old.high / old.low  # type: ignore[operator]
    nothing = Prediction("n", "tpot_ms", 12.0, why="x")
    assert own(0.2).refitted(RUN, nothing) is nothing


def spread_five(runs: Sequence[Run]) -> set[str]:
    """Five runs, spread by load: from the lightest to the heaviest, ties by their names."""
    by_load = sorted(
        runs, key=lambda r: ((r.concurrency or 0) / r.all_gpus, r.isl or 0, r.model, r.gpu, r.id)
    )
    return {by_load[round((n + 0.5) * len(by_load) / 5 - 0.5)].id for n in range(5)}


@pytest.fixture(scope="module")
def published(catalog: Catalog) -> dict[str, tuple[Run, list[Prediction]]]:
    """Published runs that serve as they come, in loops or offline, with their predictions."""
    runs = {run.id: (run, []) for run in runs_of(catalog) if run.mode not in ("static", "disaggregated")}
    for each in predict(catalog, [run for run, _ in runs.values()]):
        runs[each.source_id][1].append(each)
    return runs  # type: ignore[return-value]


def played(
    published: dict[str, tuple[Run, list[Prediction]]], quantity: str, by: Callable[[Run], object], least: int
) -> dict[object, tuple[float, float]]:
    """Median error of the other runs of each source, or of each part of one, before and after five of its runs."""
    runs = {id: run for id, (run, _) in published.items()}
    parts: dict[object, list[Prediction]] = defaultdict(list)
    for each in (each for _, predictions in published.values() for each in predictions):
        if each.quantity == quantity and each.predicted:
            parts[by(runs[each.source_id])].append(each)
    found = {}
    for part, rows in parts.items():
        if len(rows) < least:
            continue
        five = spread_five([runs[each.source_id] for each in rows])
        fit = calibrated(runs.values(), [each for each in rows if each.source_id in five])
        rest = [each for each in rows if each.source_id not in five]
        after = [fit.refitted(runs[each.source_id], each) for each in rest]
        found[part] = (median(abs(p.error or 0) for p in rest), median(abs(p.error or 0) for p in after))
    return found


@pytest.mark.parametrize(("quantity", "most"), [("tpot_ms", 0.08), ("ttft_ms", 0.20), ("tokens_per_s", 0.15)])
def test_after_five_runs_of_a_model_on_a_board_its_others_are_known(
    published: dict[str, tuple[Run, list[Prediction]]], quantity: str, most: float
) -> None:
    """A customer: one model, board, engine and precision of a source. In the median of them the aim is reached."""
    found = played(
        published, quantity, lambda r: (r.source, r.model, r.gpu, r.framework, r.precision_weights), 10
    )
    assert len(found) > 20
    assert median(after for _, after in found.values()) < most, found
    assert median(after for _, after in found.values()) < median(before for before, _ in found.values())


def test_five_runs_of_a_whole_source_do_little_harm(
    published: dict[str, tuple[Run, list[Prediction]]],
) -> None:
    """A source of many models and boards is no single customer: what five runs say of others is shrunk."""
    for quantity, harm in (("tpot_ms", 0.08), ("ttft_ms", 0.25)):
        found = played(published, quantity, lambda r: r.source, 12)
        assert all(after < before + harm for before, after in found.values()), found


def test_what_a_result_does_not_name_comes_from_its_group(plan: Plan) -> None:
    bare = Result(Run("f.json", "", "", isl=2000, osl=400, concurrency=8, tpot_ms=20), "sglang", "f.json")
    run = of_design(bare, plan).run
    assert run == replace(planned_run(plan, "assistant"), id="f.json", concurrency=8, mode="", tpot_ms=20)
    stated = replace(bare.run, model="meta-llama/Llama-3.1-8B-Instruct", gpu="A100", tp=4, framework="sglang")
    other = of_design(replace(bare, run=stated), plan)
    assert (other.group, other.run.gpu, other.run.gpus, other.run.framework) == ("", "A100", 4, "sglang")


def test_a_part_of_a_gpu_stays_one_though_the_tool_names_a_whole(plan: Plan) -> None:
    group = replace(plan.scenario.groups[0], model="llama-3.1-8b", replica_gpus=0.5, people=10)
    small = make_plan(replace(plan.scenario, groups=(group,)))
    bare = Result(Run("f.json", "", "", tp=1, isl=2000, osl=400, concurrency=2, tpot_ms=20), "vllm", "f.json")
    assert of_design(bare, small).run.gpus == 0.5
    assert of_design(replace(bare, run=replace(bare.run, tp=2)), small).run.gpus == 2
    found = calibrate(small.catalog, [bare], small)
    whole = predict(small.catalog, [replace(found.results[0].run, gpus=1.0)])
    assert (found.predictions[0].predicted or 0) > 1.4 * (whole[0].predicted or 0), "half the bandwidth"


def test_a_result_that_may_be_of_several_groups_is_refused_with_their_names(plan: Plan) -> None:
    group = plan.scenario.groups[0]
    two = make_plan(
        replace(plan.scenario, groups=(*plan.scenario.groups, replace(group, id="coder", name="Coder")))
    )
    bare = Result(Run("f.json", "", "", isl=2000, osl=400, concurrency=8, tpot_ms=20), "sglang", "f.json")
    with pytest.raises(CatalogError, match=r"f\.json.*assistant, coder"):
        of_design(bare, two)
    assert of_design(replace(bare, group="coder"), two).group == "coder"


def results(plan: Plan, factor: float) -> list[Result]:
    """Runs of the group at several loads that take ``factor`` times as long as predicted."""
    base = replace(planned_run(plan, "assistant"), mode="concurrency")
    made = []
    for n in (1, 3, 6, 12, 24):
        run = replace(base, id=f"c{n}", concurrency=float(n), tpot_ms=1.0, ttft_ms=1.0)
        by = {p.quantity: p.predicted or 0 for p in predict(plan.catalog, [run])}
        made.append(
            Result(replace(run, **{name: factor * value for name, value in by.items()}), "vllm", f"c{n}")
        )
    return made


def test_a_slower_customer_needs_more_and_a_faster_one_less(plan: Plan) -> None:
    same, slow, fast = (calibrate(plan.catalog, results(plan, factor), plan) for factor in (1.0, 1.2, 0.8))
    count = [each.again.llm.serving["assistant"] for each in (same, slow, fast) if each.again]
    gpus = [made.replicas * made.gpus for made in (plan.llm.serving["assistant"], *count)]
    assert gpus[0] == gpus[1] and gpus[3] <= gpus[1] <= gpus[2]
    assert count[2].found.time_per_token_ms.value < count[1].found.time_per_token_ms.value
    for each in (slow, fast):
        errors = [abs(p.error or 0) for p in each.predictions], [abs(p.error or 0) for p in each.refitted]
        assert median(errors[1]) < median(errors[0])


def test_promises_that_are_missed_with_own_runs_are_marked_in_the_plan(plan: Plan) -> None:
    found = calibrate(plan.catalog, results(plan, 4.0), plan)
    assert found.again and found.again.llm.serving["assistant"].standing == "missed"
    assert plan.llm.serving["assistant"].standing != "missed"


def test_a_design_that_cannot_be_planned_again_says_why(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Plan:
        raise ScenarioError([Problem("groups.assistant.model", "x", "too slow")])

    monkeypatch.setattr(customer, "make_plan", refused)
    found = calibrate(plan.catalog, results(plan, 1.0), plan)
    assert found.again is None and "groups.assistant" in found.why


def test_factors_are_kept_for_their_model_and_board(tmp_path: Path, plan: Plan) -> None:
    found = calibrate(plan.catalog, results(plan, 1.2))
    write_factors(tmp_path, plan.catalog, found.runs, found.own)
    mine = load_catalog(tmp_path)
    own, other = (
        speeds_of(mine, model, plan.scenario.hardware.gpu) for model in ("llama-3.3-70b", "qwen3-32b")
    )
    assert own.own_step > 1 and own.own_width < 1 and other.own_step == 1


def test_factors_become_a_catalog_that_opens_and_keep_what_is_there(tmp_path: Path, catalog: Catalog) -> None:
    folder = tmp_path / "mine"
    for model, step in (("llama-3.1-8b", 1.2), ("qwen3-32b", 0.9), ("llama-3.1-8b", 1.3)):
        item = {f"llm-own/{model}/h100-sxm5-80gb": {"own_step": step, "own_first": 2.0}}
        assert write_own(folder, item, 5) == ("sources.csv", "assumptions.csv")
    mine = load_catalog(folder)
    found = [speeds_of(mine, model, "h100-sxm5-80gb") for model in ("llama-3.1-8b", "qwen3-32b")]
    assert [(each.own_step, each.own_first) for each in found] == [(1.3, 2), (0.9, 2)]
    assert speeds_of(mine) == speeds_of(catalog) == speeds_of(mine, "llama-3.1-8b", "l40s-48gb")
