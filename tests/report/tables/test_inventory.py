"""The tables of hosts already there: their notes by case, and that they agree with the plan."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.table import records
from gpuplan.report.tables.inventory import hosts_there, inventory
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, existing: str, priorities: tuple[int, int] = (1, 1), **hardware: Any) -> Plan:
    """Ten VMs with a GPU by passthrough and four with a quarter, on hosts of four."""
    groups = [
        {"id": "one", "people": 10, "access": "passthrough", "priority": priorities[0]},
        {"id": "two", "people": 4, "gpus_each": 0.25, "priority": priorities[1]},
    ]
    made = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": existing, **hardware}
    return make_plan(from_dict({"groups": groups, "hardware": made}), catalog)


@pytest.mark.parametrize(
    ("existing", "priorities", "said"),
    [
        ("A: 1 x 4", (1, 1), "they join the Passthrough cluster"),
        ("A: 1 x 4", (1, 2), "By priority"),
        ("A: 1 x 4", (1, 1), "for the other"),
        ("A: 8 x 4", (1, 2), "as failover capacity only"),
        ("A: 2 x 4 t4-16gb", (1, 1), "form a separate cluster"),
    ],
)
def test_what_is_said_of_hosts_already_there(
    catalog: Catalog, existing: str, priorities: tuple[int, int], said: str
) -> None:
    plan = planned(catalog, existing, priorities)
    notes = inventory(plan).notes
    assert any(said in note for note in notes), notes
    assert all(notes)


def test_the_tables_agree_with_the_plan(catalog: Catalog) -> None:
    plan = planned(catalog, "A: 1 x 4; B: 2 x 2", (1, 2))
    assert plan.inventory is not None
    kinds = records(hosts_there(plan))
    assert [(row["kind"], row["hosts"], row["gpus_per_host"]) for row in kinds] == [("A", 1, 4), ("B", 2, 2)]
    assert sum(row["gpus_used"] for row in kinds) == sum(kind.gpus_used for kind in plan.inventory.kinds)
    rows = records(inventory(plan))
    assert sum(row["vms"] for row in rows) == 14
    assert all(row["there"] + row["rest"] == row["vms"] for row in rows)
    nothing = make_plan(from_dict({"groups": [{"id": "a", "people": 3}]}), catalog)
    assert not inventory(nothing).rows and not inventory(nothing).notes
