"""``gpuplan plan``, ``network``, ``cost``, ``sensitivity``, ``compare``, ``demand``, ``traffic``, ``explore`` and ``boards``: answers about designs."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpuplan.analysis.break_even import to_win
from gpuplan.analysis.candidates import Space, default_space
from gpuplan.analysis.compare import FEWEST, MOST, compare_plans
from gpuplan.analysis.customer import customer_scenario
from gpuplan.analysis.explore import explore
from gpuplan.analysis.llm_traffic import played, traffic_of
from gpuplan.analysis.mending import mended
from gpuplan.analysis.same_work import same_work
from gpuplan.analysis.sensitivity import thresholds, tornado
from gpuplan.analysis.simulation import PoolSimulation, hosts_to_simulate, simulate_pool, simulation_dict
from gpuplan.catalog import Catalog
from gpuplan.cli.options import (
    catalog_of,
    engine_options,
    plan_of,
    print_answer,
    read_numbers,
    read_scenario,
    refusal,
    tell_progress,
)
from gpuplan.cli.terminal import clear_bar
from gpuplan.facts import did_you_mean
from gpuplan.plan import Plan, fail_hosts, make_plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.report import (
    beside_winner,
    boards_csv,
    boards_dict,
    boards_text,
    compare_dict,
    compare_text,
    cost_dict,
    cost_text,
    demand_dict,
    demand_text,
    exploration_csv,
    exploration_dict,
    exploration_text,
    failure_dict,
    failure_text,
    network_dict,
    network_text,
    plan_dict,
    plan_text,
    sensitivity_dict,
    sensitivity_text,
)
from gpuplan.report.llm_report import traffic_dict, traffic_text
from gpuplan.scenario import Problem, Scenario, ScenarioError, show
from gpuplan.simulation.jobs import Progress
from gpuplan.wording import said

AT_ENDS = 0.6
"""Share of the work of ``gpuplan sensitivity`` that plans the ends of ranges; the rest looks for where the hosts change."""


def _shown_plan(args: argparse.Namespace) -> Plan:
    """Return the plan of a scenario, or of the customer's version."""
    catalog, scenario = catalog_of(args), read_scenario(args.file, args.model_config)
    plan = make_plan(scenario, catalog)  # errors name the scenario, not a version made from it
    return make_plan(customer_scenario(scenario, catalog), catalog) if args.customer else plan


def run_plan(args: argparse.Namespace) -> int:
    plan = _shown_plan(args)
    if not args.fail:
        plan = mended(plan) if args.mend else plan
        return print_answer(args, plan_dict, plan_text, plan)
    lost: dict[str, set[int]] = {}
    for failure in args.fail:
        cluster, colon, listed = failure.partition(":")
        if not colon or not all(host.strip().isdecimal() for host in listed.split(",")):
            raise refusal(said("terminal.cluster and hosts"), "--fail", failure)
        lost.setdefault(cluster, set()).update(int(host) for host in listed.split(","))
    if len(lost) > 1:
        raise refusal(said("terminal.single cluster"), "--fail", " ".join(args.fail))
    ((cluster, failed),) = lost.items()
    hosts = tuple(sorted(failed))
    found = (plan, plan.pool(cluster), hosts, fail_hosts(plan, cluster, hosts))
    return print_answer(args, failure_dict, failure_text, *found)


def run_network(args: argparse.Namespace) -> int:
    return print_answer(args, network_dict, network_text, plan_of(args))


def run_cost(args: argparse.Namespace) -> int:
    return print_answer(args, cost_dict, cost_text, _shown_plan(args))


def run_sensitivity(args: argparse.Namespace) -> int:
    plan = plan_of(args)

    def planned(done: int, of: int) -> None:
        tell_progress(args, done=AT_ENDS * done / of, step=said("terminal.inputs planned", done=done, of=of))

    def looked(done: int, of: int) -> None:
        share = AT_ENDS + (1 - AT_ENDS) * done / of
        tell_progress(args, done=share, step=said("terminal.inputs tried", done=done, of=of))

    bars, limits = tornado(plan, planned), thresholds(plan, looked)
    answer = (plan, bars, limits)
    return print_answer(args, sensitivity_dict, sensitivity_text, *answer, key="sensitivity")


def run_compare(args: argparse.Namespace) -> int:
    if not FEWEST <= len(args.files) <= MOST or args.files.count("-") > 1:
        raise refusal(said("terminal.designs", fewest=FEWEST, most=MOST), "file", str(len(args.files)))
    catalog = catalog_of(args)
    scenarios = [read_scenario(file, args.model_config) for file in args.files]
    comparison = compare_plans([make_plan(scenario, catalog) for scenario in scenarios])
    return print_answer(args, compare_dict, compare_text, comparison)


def run_demand(args: argparse.Namespace) -> int:
    args.hosts = args.hosts.split(",") if args.hosts else []
    read_numbers(args, "--around", "--down", "--seed", "--hosts")
    plan = plan_of(args)
    simulations = list(_simulations(plan, args)) if args.simulate else []
    if args.progress:
        return 0
    return print_answer(args, demand_dict, demand_text, plan, simulations)


def _simulations(plan: Plan, args: argparse.Namespace) -> Iterator[PoolSimulation]:
    """Return simulations, one for each pool and number of hosts; with ``--progress`` each is reported as it ends."""
    runs: list[tuple[str, int | None]] = []
    for pool in whole_pools(plan.pools):
        around = hosts_to_simulate(plan, pool, args.around) if args.around else (None,)
        runs += [(pool, count) for count in args.hosts or around]
    for at, (pool_id, count) in enumerate(runs):

        def tell(progress: Progress, at: int = at) -> bool:
            done = (at + min(1.0, progress.requests / progress.most_requests)) / len(runs)
            return tell_progress(
                args, done=done, step=f"{at + 1} of {len(runs)} host counts", requests=progress.requests
            )

        try:
            simulation = simulate_pool(
                plan, pool_id, hosts=count, down=args.down, when=args.when, seed=args.seed, progress=tell
            )
        except ValueError as error:
            if args.around:
                continue  # too few for the largest request: the curve begins later
            raise refusal(f"cannot simulate {pool_id}: {error}") from None
        if args.progress:
            tell_progress(args, done=(at + 1) / len(runs), simulation=simulation_dict(simulation))
        yield simulation


def run_traffic(args: argparse.Namespace) -> int:
    plan = make_plan(read_scenario(args.file, args.model_config), catalog_of(args))
    served = [group for group, serving in plan.llm.serving.items() if serving.replicas]
    if not served:
        raise refusal(said("terminal.LLM workload"), "file", args.file)
    groups = [traffic_of(plan, group) for group in served]
    return print_answer(args, traffic_dict, traffic_text, plan, [(of, played(of)) for of in groups])


ANY_SERVER = "any"


def run_explore(args: argparse.Namespace) -> int:
    read_numbers(args, "--workers")
    catalog = catalog_of(args)
    scenario = read_scenario(args.file, args.model_config)
    make_plan(scenario, catalog)  # errors of the design itself come first
    space = _space(args, scenario, catalog)

    def tell(done: int, of: int) -> None:
        tell_progress(args, done=done / of, step=f"{done} of {of} designs planned")

    try:
        result = explore(scenario, catalog, space, progress=tell, **engine_options(args))
    except ValueError as error:
        raise refusal(f"cannot explore: {error}") from None
    if args.progress:
        tell_progress(args, done=1, exploration=exploration_dict(result, scenario))
        return 0
    if args.csv:
        clear_bar()
        print(exploration_csv(result, scenario), end="")
        return 0
    other = beside_winner(result)
    conditions = to_win(scenario, catalog, result.winner, other) if result.winner and other else ()
    answer = (result, scenario, conditions, other)
    return print_answer(args, exploration_dict, exploration_text, *answer)


EVERY_BOARD = "all"


def run_boards(args: argparse.Namespace) -> int:
    catalog, scenario = catalog_of(args), read_scenario(args.file, args.model_config)
    make_plan(scenario, catalog)  # errors of the design itself come first
    if problems := [*_unknown("gpu", args.gpu, {**catalog.gpus, EVERY_BOARD: None})]:
        raise ScenarioError(problems)
    boards = [own for gpu in args.gpu for own in (catalog.gpus if gpu == EVERY_BOARD else (gpu,))]

    def tell(done: int, of: int) -> None:
        tell_progress(args, done=done / of, step=said("terminal.boards planned", done=done, of=of))

    cards = same_work(scenario, catalog, boards, tell, workers=0)
    answer = (cards, scenario)
    return print_answer(args, boards_dict, boards_text, *answer, key="boards", as_csv=boards_csv)


def _unknown(name: str, values: Iterable[str], table: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem for each value of an option that the catalog does not have."""
    for given in values:
        if given not in table:
            words = said("terminal.catalog id", name=name, meant=did_you_mean(given, table))
            yield Problem(f"--{name}", show(given), words)


def _space(args: argparse.Namespace, scenario: Scenario, catalog: Catalog) -> Space:
    """Return the space to explore: the default, with the given parts in its place."""
    problems = [*_unknown("gpu", args.gpu, catalog.gpus)]
    problems += _unknown("server", args.server, {**catalog.servers, ANY_SERVER: None})
    try:
        read_numbers(args, "--gpus-per-host", "--link", "--failures")
    except ScenarioError as error:
        problems += error.problems
    if problems:
        raise ScenarioError(problems)
    usual = default_space(scenario, catalog)
    servers = ["" if server == ANY_SERVER else server for server in args.server]
    given = {"gpus": args.gpu, "servers": servers, "gpus_per_host": args.gpus_per_host}
    given |= {"sharing": args.sharing, "links": args.link, "host_failures": args.failures}
    return replace(usual, **{name: tuple(dict.fromkeys(values)) for name, values in given.items() if values})
