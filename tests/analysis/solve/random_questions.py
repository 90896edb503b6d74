"""Random small questions to solve, and their answer by trying everything."""

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

from gpuplan.analysis.candidates import asked
from gpuplan.analysis.option import chosen_for, unmet, unpriced
from gpuplan.analysis.solve.designs import Design, Space, space_of
from gpuplan.analysis.solve.quantities import Quantity, quantity_of
from gpuplan.analysis.variants import outcome, standing
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import Group, Hardware, Scenario

BOARDS = (
    "l40s-48gb",
    "h100-nvl-94gb",
    "h100-pcie-80gb",
    "rtx-pro-6000-96gb-server",
    "a100-pcie-80gb",
    "l4-24gb",
)
MOST = 10
"""Amount up to which everything is tried."""


def random_question(seed: int, catalog: Catalog) -> tuple[Scenario, Space, Quantity]:
    """Return a scenario with limits of which some bind, a space of a few designs, and what is to be much."""
    random = Random(seed)
    boards = [gpu for gpu in BOARDS if gpu in catalog.gpus]
    own = random.choice(boards)
    users = Group(
        "users",
        name="Users",
        use_case=random.choice(["small-workstation", "dev-test", "inference"]),
        people=random.randint(2, 7),
        active_share=random.choice([0.5, 1.0]),
        gpus_each=random.choice([0.25, 0.5, 1, 2]),
        growth=random.choice([None, None, 0.3]),
    )
    others = Group("others", name="Others", use_case="dev-test", people=random.randint(1, 6), gpus_each=0.5)
    scenario = Scenario(
        name=f"Question {seed}",
        groups=(users, others)[: random.randint(1, 2)],
        hardware=Hardware(gpu=own, gpus_per_host=random.choice([2, 4])),
        prices=tuple((f"gpus/{gpu}", float(random.randint(2, 40) * 1000)) for gpu in boards),
    )
    scenario = scenario.with_value("availability.host_failures", random.randint(0, 1))
    whole = space_of(scenario, catalog, boards=random.sample(boards, 3))
    hosts = random.sample(whole.hosts, min(3, len(whole.hosts)))
    space = Space(tuple(hosts), (25, random.choice([10, 100])), (3, random.choice([1, 5])))
    plan = make_plan(scenario, catalog, check=False)
    limits = _limits(random, plan)
    return _with(scenario, limits), space, quantity_of(scenario, "users:users")


def _with(scenario: Scenario, limits: dict[str, Any]) -> Scenario:
    for name, value in limits.items():
        scenario = scenario.with_value(f"limits.{name}", value)
    return scenario


def _limits(random: Random, plan: Plan) -> dict[str, Any]:
    """Return limits near the figures of a plan."""
    costs, power = plan.costs, plan.power
    assert costs and power
    near = {
        "budget": round(costs.net_present * random.uniform(0.6, 1.6)),
        "budget_start": round(costs.cash[0] * random.uniform(0.6, 1.6)),
        "power_kw": round(power.peak_w / 1000 * random.uniform(0.7, 2), 1),
        "racks": max(1, round(power.racks * random.uniform(0.7, 2))),
        "rack_units": max(1, round(power.rack_units_u * random.uniform(0.7, 2))),
        "ports": random.randint(8, 40),
    }
    first = random.choice(["budget", "budget_start", "power_kw", "rack_units"])
    limits = {
        name: near[name] for name in sorted({first, *random.sample(sorted(near), random.randint(0, 2))})
    }
    if "budget" in limits and "budget_start" in limits:
        limits["budget_start"] = min(limits["budget_start"], limits["budget"])
    return limits


def answers(
    scenario: Scenario, catalog: Catalog, space: Space, quantity: Quantity
) -> dict[int, list[tuple[float, Design, Plan]]]:
    """Return of each amount every design within the limits with its cost, planned one by one without any saving."""
    found: dict[int, list[tuple[float, Design, Plan]]] = {}
    for steps in range(1, MOST + 1):
        wanted = quantity.at(scenario, steps)
        every = dict.fromkeys((asked(scenario), *space.hosts))  # the design as asked is one of them
        for hosts, link, term in product(every, space.links, space.terms):
            design = Design(replace(hosts, link_gbit_s=link), term)
            plan = outcome(design.apply(wanted, catalog), catalog).plan
            if plan is None or [*unmet(plan, chosen_for(scenario, hosts))] or unpriced(plan.costs):
                continue
            if any(each.met is False for each in plan.within) or not standing(plan).valid:
                continue
            assert plan.costs
            found.setdefault(steps, []).append((plan.costs.net_present, design, plan))
    return found
