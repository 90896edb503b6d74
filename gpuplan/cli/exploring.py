"""``gpuplan explore``: many designs for the same demand."""

import argparse
from dataclasses import replace

from gpuplan.analysis.break_even import to_win
from gpuplan.analysis.candidates import Space, default_space
from gpuplan.analysis.explore import explore
from gpuplan.catalog import Catalog
from gpuplan.cli.options import catalog_of, print_answer, read_numbers, read_scenario, refusal, tell_progress
from gpuplan.cli.terminal import clear_bar
from gpuplan.facts import did_you_mean
from gpuplan.plan import make_plan
from gpuplan.report import beside_winner, exploration_csv, exploration_dict, exploration_text
from gpuplan.scenario import Problem, Scenario, ScenarioError, show
from gpuplan.wording import said

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
        on = {"workers": args.workers, "engine": args.engine, "scheduler": args.scheduler}
        folders = (args.catalog,) if args.catalog else ()
        result = explore(scenario, catalog, space, **on, progress=tell, folders=folders)
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


def _space(args: argparse.Namespace, scenario: Scenario, catalog: Catalog) -> Space:
    """Return the space to explore: the default, with the given parts in its place."""
    problems = [
        Problem(
            f"--{name}", show(given), said("terminal.catalog id", name=name, meant=did_you_mean(given, table))
        )
        for name, table in (("gpu", catalog.gpus), ("server", {**catalog.servers, ANY_SERVER: None}))
        for given in getattr(args, name)
        if given not in table
    ]
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
