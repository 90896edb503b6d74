"""``gpuplan solve``: the best design within limits, with its certificate."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gpuplan.analysis.solve import Found, Frontier, Progress, Solution, frontier, quantity_of, solve
from gpuplan.analysis.solve.frontier import POINTS
from gpuplan.cli import INTERRUPTED
from gpuplan.cli.options import (
    catalog_of,
    engine_options,
    path_text,
    print_answer,
    read_numbers,
    read_scenario,
    refusal,
    tell_progress,
)
from gpuplan.facts import own_rows
from gpuplan.report.solve_report import (
    in_progress,
    partial_solution,
    solution_csv,
    solution_dict,
    solution_text,
)
from gpuplan.scenario import Scenario
from gpuplan.wording import said

LIMITS = {
    row["option"]: row["number"] for row in own_rows("words/options") if row["number"].startswith("limits.")
}
"""Option -> the limit that it states."""
NOTHING_FOUND = 1


FIRST = 0.7
"""Share of the work that the solution is, where the frontier follows it."""


def run_solve(args: argparse.Namespace) -> int:
    catalog, scenario = catalog_of(args), _limited(args)
    most, first = getattr(args, "for"), FIRST if args.frontier else 1.0
    quantity = quantity_of(scenario, most or args.least or "cost")
    so_far: list[Solution] = []

    def searched(progress: Progress) -> None:
        now = partial_solution(scenario, catalog, quantity, progress)
        same = so_far and (so_far[-1].best, so_far[-1].bound) == (now.best, now.bound)
        so_far.append(now)
        data = solution_dict(now)
        more = {} if same or not args.progress else {"solution": data}
        tell_progress(args, done=first * progress.done / progress.of, step=in_progress(data), **more)

    def reached(points: Sequence[Found]) -> None:
        share = first + (1 - first) * len(points) / POINTS
        tell_progress(args, done=min(1.0, share), step=said("terminal.points", points=len(points)))

    code, curve = 0, None
    on = engine_options(args) | {"seconds": args.seconds}
    try:
        found = solve(scenario, catalog, maximise=most, minimise=args.least, told=searched, **on)
        so_far.append(found)
        if args.frontier:
            if args.progress:
                tell_progress(args, done=first, solution=solution_dict(found))
            steps = found.best.steps if most and found.best else 0
            curve = frontier(scenario, catalog, maximise=most, most=steps, told=reached, **on)
    except KeyboardInterrupt:
        if not so_far:
            raise
        code = INTERRUPTED
    except ValueError as error:
        raise refusal(str(error)) from None
    return max(code, _answer(args, so_far[-1], curve))


def _answer(args: argparse.Namespace, found: Solution, curve: Frontier | None) -> int:
    if args.to and found.design:
        _write(args.to, found.design)
    print_answer(args, solution_dict, solution_text, found, curve, key="solution", as_csv=solution_csv)
    return NOTHING_FOUND * (found.best is None and not args.progress)


def _limited(args: argparse.Namespace) -> Scenario:
    """Return the scenario with the limits of the options in place of its own."""
    scenario = read_scenario(args.file, args.model_config)
    read_numbers(args, *LIMITS, "--seconds", "--workers", currency=scenario.cost.currency)
    for option, path in LIMITS.items():
        value = getattr(args, option[2:].replace("-", "_"))
        value = ", ".join(value) if isinstance(value, list) else value
        if value not in (None, ""):
            scenario = scenario.with_value(path, value)
    return scenario


def _write(path: Path, design: Scenario) -> None:
    try:
        path.write_text(design.to_yaml(), encoding="utf-8")
    except OSError as error:
        raise refusal(f"cannot write {path_text(path)}: {error.strerror}") from None
    print(f"Wrote {path_text(path)}", file=sys.stderr)
