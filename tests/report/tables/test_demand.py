"""The tables of the demand hold what was worked out."""

from __future__ import annotations

from gpuplan import Plan
from gpuplan.analysis import demand as worked_out
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.analysis.silos import silos
from gpuplan.analysis.simulation import simulate_pool, simulation_dict
from gpuplan.report.table import records, texts
from gpuplan.report.tables import demand


def test_rules_and_methods(example: Plan) -> None:
    answers = worked_out.rule_answers(example)
    assert [row["gpus"] for row in records(demand.rules(answers))] == [a.gpus for a in answers]
    assert sum("(chosen)" in row[0] for row in texts(demand.rules(answers))) == 1
    found = worked_out.methods(example, example.pools[0].id)
    assert [row["chance"] for row in records(demand.methods(found))] == [a.chance for a in found.answers]


def test_silos_add_up_to_all_of_them(example: Plan) -> None:
    found = silos(example)
    table = demand.silos(example, found)
    assert sum(row["hosts"] for row in records(table)) == found.together.hosts
    assert [cell.value for cell in list(table.cells())[-1]][3:5] == [
        abs(found.saved_hosts),
        abs(found.saved_gpus),
    ]


def test_years_simulations_and_the_week(example: Plan) -> None:
    years = purchase_plan(example)
    assert [row["hosts_bought"] for row in records(demand.growth(years))] == [y.hosts_bought for y in years]
    seen = simulate_pool(example, example.pools[0].id)
    told = records(demand.simulated(example, simulation_dict(seen)))
    assert told[-1]["requests"] == seen.simulated.overall.requests
    assert len(demand.week(example).rows) == sum(len(pool.needed) for pool in example.hours)
