"""Costs of a million tokens, and of a user a month, for the groups that a language model serves."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuplan.locales import written
from gpuplan.models.demand.working_hours import growth_factor
from gpuplan.models.llm.token_cost import million_tokens_cost, prompt_share, tokens_per_year, user_month_cost
from gpuplan.plan.cost import Costs
from gpuplan.plan.inputs import derived
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.trail import Trail
from gpuplan.plan.working_week import Week
from gpuplan.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TokenCost:
    """Cost of a group's tokens at the use of its users over the year, on average over the analysis period."""

    id: str
    name: str
    year_cost: float
    """Of the group's share of the design."""
    prompt_share: float
    tokens_in: float
    """A year."""
    tokens_out: float
    million_in: float
    million_out: float
    user_month: float | None
    """None where a request rate is stated, without a number of users."""
    gpu_hours: float
    """A year, of the replicas while they run."""
    load_share: float
    """Of the planned load, on average over the hours that the replicas run."""
    users: float | None
    """On average over the years; None as for a user a month."""


def token_costs(
    trail: Trail,
    scenario: Scenario,
    serving: Mapping[str, Serving],
    costs: Costs | None,
    by_season: Mapping[str, Mapping[str, Week]],
    users: Mapping[str, Mapping[str, Week]],
) -> dict[str, TokenCost]:
    """Return the cost of the tokens of each group, by its id; the weeks are of its VMs, and of its users."""
    if costs is None:
        return {}
    totals = {group.id: group.total for group in costs.groups}
    here = trail.saying(currency=costs.currency)
    return {
        id: _token_cost(here, scenario, service, costs, by_season, _busy(service, users))
        for id, service in serving.items()
        if service.replicas and totals.get(id)
    }


def _grown(scenario: Scenario, group_id: str, costs: Costs) -> float:
    """Return a group's mean size over the years relative to the first; growth that no host can hold is ignored."""
    growth = next(group.growth for group in scenario.groups if group.id == group_id) or 0.0
    most = (costs.growth_left_out or costs.years + 1) - 2
    factors = [growth_factor(min(year, most), growth=growth) for year in range(costs.years)]
    return sum(factors) / costs.years


def _busy(made: Serving, users: Mapping[str, Mapping[str, Week]]) -> float:
    """Share of the users at the peak who are active on average over the hours of the year."""
    loads = [season[made.id].loads for season in users.values()]
    planned = max(float(load.max()) for load in loads)
    if not planned:  # a stated rate without users: by its hours
        return sum(float(season[made.id].on.any(axis=0).mean()) for season in users.values()) / len(users)
    return min(1.0, sum(float(load.mean()) for load in loads) / len(loads) / planned)


def _token_cost(
    trail: Trail,
    scenario: Scenario,
    made: Serving,
    costs: Costs,
    by_season: Mapping[str, Mapping[str, Week]],
    busy: float,
) -> TokenCost:
    at = f"groups.{made.id}"
    here, total = trail.about(at, name=made.name), trail[f"{at}.cost"]
    running = sum(float(season[made.id].loads.mean()) for season in by_season.values()) / len(by_season)
    asks, requests, grown = made.asks, max(1.0, made.found.requests), _grown(scenario, made.id, costs)
    share = here.compute(
        "prompt_share",
        prompt_share,
        prompt_s=derived(f"groups/{made.id}/time_of_a_prompt", made.prompt_s, "time of a prompt"),
        step_s=derived(f"groups/{made.id}/time_of_a_step", made.step_s, "time of a step"),
        tokens_out=derived(f"groups/{made.id}/tokens_out", float(asks["tokens_out"]), "tokens of an answer"),
        requests=derived(f"groups/{made.id}/requests_of_a_replica", requests, "requests of a replica"),
    )
    out = here.compute(
        "tokens_out_a_year",
        tokens_per_year,
        replica_tokens=trail[f"{at}.llm_replica_tokens"],
        replicas=derived(f"groups/{made.id}/replicas", made.replicas * grown, "replicas over the years"),
        load_share=derived(f"groups/{made.id}/load_share", busy, "load over the year"),
    )
    ratio = float(asks["tokens_in"]) / float(asks["tokens_out"])
    prices = {}
    for way, part, tokens in (("in", share.value, out.value * ratio), ("out", 1 - share.value, out.value)):
        cost = million_tokens_cost(float(total.value) / costs.years, share=part, tokens=tokens)
        words = {"years": costs.years, "ratio": f" x {written(ratio, 'g')}" if way == "in" else ""}
        inputs = {"cost": total, "share": share, "tokens": out}
        prices[way] = here.record(f"million_{way}", million_tokens_cost, cost, inputs, words=words)
    month, people = None, None
    if asks["requests_per_s"] is None and asks["people"]:
        people = asks["people"] * grown
        value = user_month_cost(float(total.value), years=costs.years, users=people)
        users = derived(f"groups/{made.id}/users", people, "users over the years")
        month = here.record(
            "user_month", user_month_cost, value, cost=total, users=users, words={"years": costs.years}
        )
    return TokenCost(
        made.id,
        made.name,
        float(total.value) / costs.years,
        float(share.value),
        out.value * ratio,
        out.value,
        float(prices["in"].value),
        float(prices["out"].value),
        None if month is None else float(month.value),
        running * made.gpus * 8760 * grown,
        busy * made.replicas / running,
        people,
    )
