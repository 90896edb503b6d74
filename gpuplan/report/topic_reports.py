"""Cost, demand and network of a plan, each as plain data and as text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.customer import earnings
from gpuplan.analysis.demand import Methods, chance_curve, methods, rule_answers, week_demand
from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.analysis.rent_or_buy import no_rental, posture_costs, purchase_plan, rent_or_buy, rent_terms
from gpuplan.analysis.silos import silo_costs, silos
from gpuplan.analysis.simulation import PoolSimulation, simulation_dict
from gpuplan.analysis.variants import standing
from gpuplan.facts import BASES, Fact
from gpuplan.locales import spoken, written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.hosts import WholePool, whole_pools
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.plan.training.llm_job import job_curves
from gpuplan.plan.training.speed import many_tcp_rate, round_trip, tcp_rate
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.figures import Figures, total_words, waits
from gpuplan.report.plan_data import as_json, costs_dict, fields_of, power_dict
from gpuplan.report.tables import cost, demand, network, platform
from gpuplan.report.tables.alternatives import alternative_words, rent_by_year
from gpuplan.report.tables.alternatives import alternatives as alternatives_table
from gpuplan.report.tables.demand import believe_words, years_left_out
from gpuplan.report.tables.models import token_costs
from gpuplan.report.tables.network import curve_network, network_name
from gpuplan.report.tables.purchases import growth_tables
from gpuplan.report.text import Content, chapter, fitted, page, pairs
from gpuplan.wording import AGGREGATION_NAMES, NAMES, RULE_NAMES, amount, basis_word, moment, said, week_hours


def cost_dict(plan: Plan) -> dict[str, Any]:
    """Return the cost of a plan and of its alternatives as plain JSON values, unrounded and all finite.

    Keys ``name``, ``costs`` (as in ``plan_dict``, its materials apart), ``bill_of_materials``, ``power``,
    ``silos``, ``rent_or_buy``, ``no_rental`` (why there is nothing to compare with), ``postures`` and ``alternatives``; with
    growth ``purchases`` and ``purchase_steps``; with a margin also ``internal``, what the seller pays and earns by part.
    """
    money_of, rent = costs_dict(plan) or {}, rent_or_buy(plan)
    bought = money_of.pop("materials", [])
    earned = [fields_of(part) | {"earned": part.earned} for part in earnings(plan)]
    return as_json(
        name=plan.scenario.name,
        costs=money_of or None,
        bill_of_materials=bought,
        power=power_dict(plan.power),
        silos=silo_costs(plan),
        rent_or_buy=rent,
        no_rental="" if rent or plan.costs is None else no_rental(plan),
        postures=posture_costs(plan),
        alternatives=alternatives(plan),
        **growth_tables(plan),
        **({"internal": earned} if earned else {}),
    )


@spoken
def cost_text(plan: Plan) -> str:
    """Return the cost of a plan as text."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return page(plan.scenario.name, said("cost.nothing bought"))
    unit, years = fitted(cost.cost_by_year(plan))
    prices = "; ".join(said("cost.price unknown", item=item) for item in costs.unknown)
    unknown = said("cost.prices unknown", prices=prices) if prices else ""
    return page(
        plan.scenario.name,
        _answer(plan, costs),
        chapter(years, title=said("cost.payments by year", unit=unit, currency=costs.currency)),
        chapter(cost.cost_by_part(plan), before=cost.ranges_words(plan)),
        cost.cost_by_group(plan),
        token_costs(plan),
        chapter(cost.bill_of_materials(plan), below=("rule", "sources")),
        chapter(cost.prices(plan).without("name"), unknown, before=_known(costs)),
        platform.power(use),
        pairs(platform.power_points(use)),
        chapter(alternatives_table(plan), *alternative_words(plan), below=("gives_up",)),
        _rent_by_year(plan),
        *growth_tables(plan).values(),
        _internal(plan),
    )


def _answer(plan: Plan, costs: Costs) -> str:
    lists = {"excludes": costs.excludes, "lapsed": [p.name for p in costs.lapsed], "outside": costs.outside}
    more = cost.headlines(plan) | {name: "; ".join(items) for name, items in lists.items()}
    more |= {"grown": cost.hosts_over_years(costs), "use": cost.use_words(plan)}
    rows = Figures(plan).tiles("cost", costs=costs, **more)
    return chapter("", pairs(row[:2] for row in rows), cost.growth_words(costs))


def _known(costs: Costs) -> str:
    counts = Counter(price.fact.basis for price in costs.prices)
    kinds = ", ".join(f"{counts[basis]} {basis_word(basis)}" for basis in BASES if counts[basis])
    known = {"prices": len(costs.prices), "old": sum(price.old for price in costs.prices)}
    day, unknown = written_day(costs.as_of), len(costs.unknown)
    return said("cost.prices known", **known, kinds=kinds, day=day, unknown=unknown)


def _rent_by_year(plan: Plan) -> str:
    rentals = rent_terms(plan)
    if not rentals:
        return ""
    unit, paid = fitted(rent_by_year(rentals, added_up=True))
    return chapter(paid, title=said("cost.rent to date", unit=unit, currency=rentals[0].currency))


def _internal(plan: Plan) -> str:
    table = cost.margin(plan)
    if table is None:
        return ""
    margin = plan.scenario.internal.margin or 0
    return chapter(table, before=said("cost.with a margin", unit=table.columns[1].unit, margin=margin))


ENDED = NAMES["end of simulation"]


def demand_dict(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> dict[str, Any]:
    """Return the demand of a plan as plain JSON values, all finite."""
    against = silos(plan)
    inputs, alone, pooled = plan.scenario.demand, against.together, against.pool
    names = ("season", "peak_gpus", "sum_of_peaks_gpus", "everybody_gpus")
    return as_json(
        rule=inputs.rule,
        stated_gpus=inputs.stated_gpus,
        gpus_demanded=plan.totals.gpus_demanded,
        groups_gpus=plan.lines["demand.groups_gpus"].value,
        rules=demand.rules(rule_answers(plan)),
        weeks=[
            {name: getattr(week, name) for name in names}
            | {"peak_at": moment(week.peak_quarter), "utc_offsets_min": dict(week.offsets_min)}
            | {"quarter_hours_gpus": dict(week.gpus)}
            for week in week_demand(plan)
        ],
        mixes=[
            {"pool": pool.pool, "when": week_hours(want.mix.quarters), "season": want.mix.season}
            | {"mean_gpus": want.mix.gpus, "gpus": want.gpus, "requests": dict(want.requests)}
            | {"hosts": hosts, "sized_for": at == pool.chosen}
            for pool in plan.hours
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ],
        methods=[_methods(plan, methods(plan, pool)) for pool in _asked(plan)],
        silos={
            "groups": demand.silos(plan, against),
            "together": {"gpus": alone.installed_gpus, "hosts": alone.hosts}
            | {"utilisation": alone.utilisation},
            "pool": {"gpus_demanded": pooled.gpus, "hosts": pooled.hosts}
            | {"gpus": pooled.installed_gpus, "utilisation": pooled.utilisation},
        },
        purchase_plan=demand.growth(purchase_plan(plan)),
        simulated=[simulation_dict(simulation) for simulation in simulations],
        **(
            {"leftover": demand.leftover(plan), "hours": demand.leftover_hours(plan)} if plan.leftover else {}
        ),
    )


def _asked(plan: Plan) -> dict[str, WholePool]:
    """The pools that some group asks for GPUs of; a stated total may have GPUs of no group."""
    kinds = {group.pool for group in plan.groups if group.mode}
    return {kind: pool for kind, pool in whole_pools(plan.pools).items() if kind in kinds}


def _methods(plan: Plan, found: Methods) -> dict[str, Any]:
    renamed = {"chance": "chance_installed"}
    answers = (fields_of(answer).items() for answer in found.answers)
    shown: dict[str, Any] = {"pool": found.pool, "rule": found.target.rule, "load_gpus": found.load_gpus}
    shown |= {"installed_gpus": found.gpus, "believe": found.believe}
    shown["answers"] = [{renamed.get(name, name): value for name, value in fields} for fields in answers]
    return shown | {"curve": chance_curve(plan, found.pool)}


@spoken
def demand_text(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> str:
    """Return the demand of a plan as text for a terminal."""
    if not plan.groups:
        return page(plan.scenario.name, total_words(plan))
    years = purchase_plan(plan)
    inputs = plan.scenario.demand
    key = "demand.planned" if inputs.stated_gpus is None else "demand.planned and stated"
    text = Figures(plan).said(key, rule=RULE_NAMES[inputs.rule].lower(), stated=inputs.stated_gpus)
    wrong = standing(plan).words
    return page(
        plan.scenario.name,
        f"{text} {said('standing.sentence', wrong=wrong)}" if wrong else text,
        demand.peak_words(plan),
        _queue(plan),
        demand.rules(rule_answers(plan)),
        demand.week(plan),
        demand.leftover(plan),
        demand.leftover_hours(plan),
        (_methods_text(plan, methods(plan, kind), pool.name) for kind, pool in _asked(plan).items()),
        (_simulation(plan, simulation) for simulation in simulations),
        demand.silos(plan, silos(plan)),
        chapter(demand.growth(years), years_left_out(len(years), plan.scenario.demand.years)),
    )


def _queue(plan: Plan) -> str:
    if (chances := waits(plan)) is None:
        return ""
    now, after = chances
    return Figures(plan).said("demand.queue", now=now, after=after)


def _methods_text(plan: Plan, found: Methods, name: str) -> str:
    target, bursts = found.target, burst_fact(plan.catalog)
    measured = plan.scenario.demand.peakedness is not None
    believed = believe_words(found.believe, float(bursts.low or 1), float(bursts.high or 1), measured)
    about = f"{believed} {said('demand.one pool')}"
    return chapter(demand.methods(found), about, title=f"{name}: {target.words}")


def _simulation(plan: Plan, simulation: PoolSimulation) -> str:
    result = simulation.simulated
    figures = said("demand.simulation", result=result, ended=ENDED[result.ended], share=0.95)
    growing = [said("demand.simulation still growing")] if result.growing else []
    when = said("demand.busiest hours" if simulation.when == "busiest" else "demand.whole week")
    key = "demand.simulated with hosts down" if simulation.down else "demand.simulated on"
    title = said(key, of=simulation, when=when)
    about = " ".join((figures, *growing, said("demand.simulation without bursts")))
    return chapter(demand.simulated(plan, simulation_dict(simulation)), about, title=title)


def network_dict(plan: Plan) -> dict[str, Any]:
    """Return the network of a plan as plain JSON values, all finite; ``scaling`` by number of hosts."""
    scenario, catalog, inputs = plan.scenario, plan.catalog, plan.scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    return as_json(
        link={name: getattr(inputs, name) for name in ("link_gbit_s", "transport", "mtu_bytes")}
        | {"round_trip_us": trip.value, "round_trip_basis": trip.basis, "tcp_gbit_s": tcp.value}
        | {"tcp_low_gbit_s": tcp.low, "tcp_high_gbit_s": tcp.high, "tcp_basis": tcp.basis},
        remote=[fields_of(use) | {"slowdown": 1 / use.kept} for use in plan.network.remote],
        training=plan.network.training,
        rules=plan.network.rules,
        carried=carried(scenario, catalog),
        scaling=[
            {"link_gbit_s": curve.link_gbit_s, "transport": curve.transport}
            | {"network": curve_network(curve), "aggregation": curve.aggregation}
            | {"links": curve.links, "chosen": curve.chosen}
            | fields_of(step)
            for curve in job_curves(scenario, catalog)
            for step in curve.steps
        ],
        claims=claims(scenario, catalog),
        cabling=plan.cabling,
    )


@spoken
def network_text(plan: Plan) -> str:
    """Return the network of a plan as text for a terminal."""
    scenario, catalog = plan.scenario, plan.catalog
    jobs, hosts = plan.network.asked, max(2, scenario.training.hosts)
    job, claimed = plan.network.training[-1], tcp_rate(scenario, catalog, CLAIMED_GBIT_S)
    how = job.spread or AGGREGATION_NAMES[scenario.training.aggregation]
    scaling = "network.scaling of" if plan.network.job_named else "network.scaling of an example"
    title, rate = said(scaling, work=job.workload_name, how=how), amount(claimed.value, claimed.unit)
    return page(
        scenario.name,
        _link(plan),
        _remote(plan),
        network.rules(plan),
        network.carried_work(carried(scenario, catalog), hosts),
        chapter(network.training(plan).without("work", "basis"), *map(_job, jobs)),
        chapter(network.scaling(job_curves(scenario, catalog)), title=title),
        chapter(network.vendor_claims(claims(scenario, catalog)), said("network.claimed", tcp=rate)),
        _fabric(plan.cabling),
    )


def _link(plan: Plan) -> str:
    scenario, catalog, inputs = plan.scenario, plan.catalog, plan.scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    many = many_tcp_rate(scenario, catalog)
    network = network_name(inputs.link_gbit_s, inputs.transport)
    trip_key = "network.round trip assumed" if inputs.latency_us is None else "network.round trip"
    tcp_key = "network.tcp" if many == tcp else "network.tcp of many"
    link = said("network.link in short", network=network, mtu=inputs.mtu_bytes)
    rate = said(tcp_key, tcp=_fact(tcp), many=amount(many.value, many.unit))
    return " ".join((link, said(trip_key, trip=_fact(trip)), rate))


def _fact(fact: Fact) -> str:
    key = "network.fact" if fact.low is None or fact.high is None else "network.fact with range"
    return said(key, value=amount(fact.value, fact.unit), basis=basis_word(fact.basis), fact=fact)


def _remote(plan: Plan) -> str:
    table = network.remote_gpus(plan).without("work")
    if not table.rows:
        return chapter(table.title, said("network.no remote here"))
    return chapter(table, *map(_work, plan.network.remote))


def _work(use: RemoteUse) -> str:
    key = "network.remote work" if use.chosen else "network.remote work as usual"
    return _with_changes(said(key, use=use), use.changes)


def _with_changes(sentence: str, changes: Sequence[str]) -> str:
    return f"{sentence} {said('network.would help', changes='; '.join(changes))}" if changes else sentence


def _job(use: TrainingUse) -> str:
    key = "network.job of a model" if use.per_gpu and use.mfu and use.memory_gib else "network.job"
    return _with_changes(said(key, use=use), use.changes)


def _fabric(fabric: Cabling | None) -> Iterator[Content]:
    if fabric is None:
        yield chapter(said("network.fabric"), said("network.no fabric"))
        return
    yield chapter(network.cabling(fabric), title=said("network.fabric"))
    settings = (said("network.setting", setting=setting) for setting in fabric.settings)
    yield chapter(said("network.fabric settings"), *settings)
    yield network.part_failures(fabric)
