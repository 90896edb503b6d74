"""The command line: ``gpuplan plan``, ``demand``, ``network``, ``cost``, ``explore``, ``sensitivity``, ``compare``, ``report``, ``audit`` and others.

A command is a row of ``COMMANDS``: its help, its options and what it runs. What it needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gpuplan import __version__

if TYPE_CHECKING:
    from gpuplan.analysis.explore import Space
    from gpuplan.analysis.simulation import Trial
    from gpuplan.audit.trace import Jobs, Samples
    from gpuplan.audit.use import Comparison
    from gpuplan.catalog import Catalog
    from gpuplan.models.demand.simulation import Progress
    from gpuplan.plan import Plan
    from gpuplan.scenario import Field, Scenario, ScenarioError

_T = TypeVar("_T")

BAD_INPUT = 2
MOVED = 1
"""A fit gives other parameters than the catalog holds."""
MOST_LINES = 20
"""Things wrong with a file that are said at once."""
INTERRUPTED = 130
"""Somebody pressed Ctrl-C."""
TOKEN, BASE_URL = "GPUPLAN_TOKEN", "GPUPLAN_BASE_URL"
"""Variables that hold what ``gpuplan app`` may be given as ``--token`` and ``--base-url``."""
HUB_URL = "JUPYTERHUB_SERVICE_URL"
"""Variable in which a Hub says where its service listens."""
ANY_SERVER = "any"
"""Stands for a server of any make among those to explore."""


class Command(NamedTuple):
    """A command: what it is for, the options that it takes, and what it runs."""

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    catalog: bool = True
    """Whether it takes a folder with rows of the user's own."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0, 2 for bad input, 1 where there is nothing to show or a fit has moved, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know every character of a name
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if argv is None else argv
    args = _parser(next((word for word in words if not word.startswith("-")), "")).parse_args(words)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _bad_input() as error:
        lines = str(error).splitlines()
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        print("\n".join([*lines[:MOST_LINES], *more]), file=sys.stderr)
        return BAD_INPUT


def _bad_input() -> tuple[type[Exception], ...]:
    """Errors that name what the user can put right."""
    from gpuplan.audit.trace import TraceError
    from gpuplan.catalog import CatalogError
    from gpuplan.scenario import ScenarioError

    return ScenarioError, CatalogError, TraceError


def _parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """The parser, with the options of the command that is chosen, or of all: some have choices that take time to load."""
    parser = argparse.ArgumentParser(
        prog="gpuplan", description="Size shared-GPU clusters on vSphere, with a source behind every number."
    )
    parser.add_argument("--version", action="version", version=f"gpuplan {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, command in COMMANDS.items():
        options = commands.add_parser(name, help=command.help)
        options.set_defaults(run=command.run)
        if chosen not in (name, None):
            continue
        command.options(options)
        if command.catalog:
            words = "folder with rows of your own that add to or replace the catalog's"
            options.add_argument("--catalog", type=Path, dest="folder", metavar="DIR", help=words)
    return parser


# ---- options that several commands take


def _examples() -> str:
    from gpuplan.scenario import example_names

    return ", ".join(example_names())


def _takes_file(command: argparse.ArgumentParser) -> None:
    words = f"scenario file (- reads it from the input), or an example: {_examples()}"
    command.add_argument("file", help=words)


def _takes_json(command: argparse._ActionsContainer, what: str = "everything") -> None:
    command.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def _takes_progress(command: argparse._ActionsContainer, of: str = "step done") -> None:
    command.add_argument("--progress", action="store_true", help=f"print one line of JSON for each {of}")


def _takes_customer(command: argparse.ArgumentParser) -> None:
    words = "what the customer may see: prices as they are sold, no internal notes and no margin"
    command.add_argument("--customer", action="store_true", help=words)


def _takes_file_and_json(command: argparse.ArgumentParser) -> None:
    _takes_file(command)
    _takes_json(command)


def _number_options() -> dict[str, Field]:
    """Options that hold a number, and what each may be."""
    from dataclasses import replace

    from gpuplan.scenario import MAX_GPUS, Field, field_of

    inputs = {
        "--wait-min": "demand.wait_min",
        "--share": "demand.chance",
        "--gpus-per-host": "hardware.gpus_per_host",
        "--link": "network.link_gbit_s",
        "--failures": "availability.host_failures",
    }
    options = (
        Field("--hosts", "", "int", None, 1, 10_000),
        Field("--around", "", "int", 0, 0, 1_000),
        Field("--down", "", "int", 0, 0, 10_000),
        Field("--seed", "", "int", 1, 0, 1_000_000_000),
        Field("--installed", "", "int", None, 1, MAX_GPUS),
        Field("--largest", "", "number", None, 0, MAX_GPUS),
        Field("--skip", "", "share", 0, 0, 0.9),
        Field("--workers", "", "int", 0, 0, 1_000),
        Field("--sessions", "", "int", 0, 0, 10_000),
        Field("--idle", "", "number", 30, 1, 10_000),
        *(replace(field_of(path), path=option) for option, path in inputs.items()),
    )
    return {option.path: option for option in options}


def _numbers(args: argparse.Namespace, *options: str) -> None:
    """Read options that hold one number or several; all that are wrong are named."""
    from gpuplan.scenario import ScenarioError, parse_value

    known, problems = _number_options(), []
    for option in options:
        name = option[2:].replace("-", "_")
        given = getattr(args, name)
        read = []
        for one in given if isinstance(given, list) else [given]:
            try:
                read.append(None if one is None else parse_value(known[option], one, option))
            except ScenarioError as error:
                problems += error.problems
        setattr(args, name, read if isinstance(given, list) else next(iter(read), None))
    if problems:
        raise ScenarioError(problems)


# ---- what commands share


def _print(args: argparse.Namespace, data: Callable[[], Any], text: Callable[[], str]) -> int:
    """Print an answer as JSON or as text, whichever is asked for."""
    if args.json:
        print(json.dumps(data(), allow_nan=False, indent=2))
    else:
        print(text(), end="")
    return 0


def _tell(args: argparse.Namespace, **line: Any) -> bool:
    """Print a line of progress, if it is asked for."""
    if args.progress:
        print(json.dumps(line, allow_nan=False), flush=True)
    return True


def _refusal(message: str, path: str = "", given: str = "") -> ScenarioError:
    """The error that says what is wrong: with an option and what it was given, or on the whole."""
    from gpuplan.scenario import Problem, ScenarioError

    return ScenarioError([Problem(path, given, message)])


def _name(path: Path) -> str:
    """A path as a message shows it."""
    from gpuplan.scenario import one_line

    return one_line(str(path))


def _catalog_of(args: argparse.Namespace) -> Catalog:
    from gpuplan.catalog import load_catalog

    return load_catalog(*_folders(args))


def _folders(args: argparse.Namespace) -> tuple[Path, ...]:
    return (args.folder,) if args.folder else ()


def _scenario(file: str) -> Scenario:
    """The scenario in a file, of an example, or from the input."""
    from gpuplan.scenario import MAX_FILE_BYTES, decode_scenario, load_scenario

    if file == "-":
        return decode_scenario(sys.stdin.buffer.read(MAX_FILE_BYTES + 1))
    return load_scenario(file)


def _plan_of(args: argparse.Namespace) -> Plan:
    from gpuplan.plan import make_plan

    catalog = _catalog_of(args)
    return make_plan(_scenario(args.file), catalog)


def _plan_shown(args: argparse.Namespace, scenario: Scenario, catalog: Catalog) -> Plan:
    """The plan of a scenario, or of the customer's version of it."""
    from gpuplan.plan import make_plan
    from gpuplan.plan.customer import customer_scenario

    plan = make_plan(scenario, catalog)  # what is wrong is said of the scenario, not of what is made from it
    return make_plan(customer_scenario(scenario, catalog), catalog) if args.customer else plan


# ---- gpuplan plan, network, cost, sensitivity, compare


def _plan_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", help=f"scenario file (YAML or JSON), or an example: {_examples()}")
    _takes_json(command, "the whole plan")
    _takes_customer(command)


def _plan(args: argparse.Namespace) -> int:
    from gpuplan.report import plan_dict, plan_text
    from gpuplan.scenario import load_scenario

    catalog = _catalog_of(args)
    plan = _plan_shown(args, load_scenario(args.file), catalog)
    return _print(args, lambda: plan_dict(plan), lambda: plan_text(plan))


def _network(args: argparse.Namespace) -> int:
    from gpuplan.report import network_dict, network_text

    plan = _plan_of(args)
    return _print(args, lambda: network_dict(plan), lambda: network_text(plan))


def _cost_options(command: argparse.ArgumentParser) -> None:
    _takes_file_and_json(command)
    _takes_customer(command)


def _cost(args: argparse.Namespace) -> int:
    from gpuplan.report import cost_dict, cost_text

    catalog = _catalog_of(args)
    plan = _plan_shown(args, _scenario(args.file), catalog)
    return _print(args, lambda: cost_dict(plan), lambda: cost_text(plan))


def _sensitivity_options(command: argparse.ArgumentParser) -> None:
    _takes_file(command)
    form = command.add_mutually_exclusive_group()
    _takes_json(form)
    _takes_progress(form)


def _sensitivity(args: argparse.Namespace) -> int:
    from gpuplan.analysis.sensitivity import thresholds, tornado
    from gpuplan.report import sensitivity_dict, sensitivity_text

    plan = _plan_of(args)

    def tell(done: int, of: int) -> None:
        _tell(args, done=0.9 * done / of, step=f"{done} of {of} inputs planned")

    bars = tornado(plan, tell)
    _tell(args, done=0.9, step="Looking for where the hosts change")
    limits = thresholds(plan)
    if args.progress:
        _tell(args, done=1, sensitivity=sensitivity_dict(plan, bars, limits))
        return 0
    return _print(
        args, lambda: sensitivity_dict(plan, bars, limits), lambda: sensitivity_text(plan, bars, limits)
    )


def _compare_options(command: argparse.ArgumentParser) -> None:
    words = f"scenario files (- reads one from the input), or {_examples()}"
    command.add_argument("files", nargs="+", metavar="file", help=words)
    _takes_json(command)


def _compare(args: argparse.Namespace) -> int:
    from gpuplan.analysis.compare import FEWEST, MOST, compare_plans
    from gpuplan.plan import make_plan
    from gpuplan.report import compare_dict, compare_text

    if not FEWEST <= len(args.files) <= MOST or args.files.count("-") > 1:
        allowed = f"{FEWEST} to {MOST} designs, at most one of them from the input"
        raise _refusal(allowed, "file", str(len(args.files)))
    catalog = _catalog_of(args)
    found = compare_plans([make_plan(_scenario(file), catalog) for file in args.files])
    return _print(args, lambda: compare_dict(found), lambda: compare_text(found))


# ---- gpuplan demand


def _demand_options(command: argparse.ArgumentParser) -> None:
    from gpuplan.analysis.simulation import WHEN

    _takes_file(command)
    add = command.add_argument
    add("--simulate", action="store_true", help="simulate the groups on the hosts of the plan")
    add("--when", choices=WHEN, default="busiest", help="simulate the busiest hours or the week")
    add("--hosts", metavar="N,N", help="simulate with so many hosts (default: those of the plan)")
    add("--around", default=0, metavar="N", help="simulate with up to N hosts fewer and more, too")
    add("--down", default=0, help="hosts that are down all the time")
    add("--seed", default=1, help="where the random numbers start (default 1)")
    _takes_json(command)
    _takes_progress(command)


def _demand(args: argparse.Namespace) -> int:
    from gpuplan.report import demand_dict, demand_text

    _numbers(args, "--around", "--down", "--seed")
    args.hosts = args.hosts.split(",") if args.hosts else []
    _numbers(args, "--hosts")
    plan = _plan_of(args)
    trials = list(_trials(plan, args)) if args.simulate else []
    if args.progress:
        return 0
    return _print(args, lambda: demand_dict(plan, trials), lambda: demand_text(plan, trials))


def _trials(plan: Plan, args: argparse.Namespace) -> Iterator[Trial]:
    """Simulations, one for each pool and number of hosts; with ``--progress`` told as they go."""
    from gpuplan.analysis.simulation import trial, trial_dict, trial_hosts

    runs: list[tuple[str, int | None]] = []
    for pool in plan.pools:
        around = trial_hosts(plan, pool.id, args.around) if args.around else (None,)
        runs += [(pool.id, count) for count in args.hosts or around]
    for at, (pool_id, count) in enumerate(runs):

        def tell(progress: Progress, at: int = at) -> bool:
            done = (at + min(1.0, progress.requests / progress.most_requests)) / len(runs)
            return _tell(args, done=done, requests=progress.requests)

        try:
            found = trial(
                plan, pool_id, hosts=count, down=args.down, when=args.when, seed=args.seed, progress=tell
            )
        except ValueError as error:
            if args.around:
                continue  # too few for the largest request: the curve begins later
            raise _refusal(f"cannot simulate {pool_id}: {error}") from None
        if args.progress:
            _tell(args, done=(at + 1) / len(runs), trial=trial_dict(found))
        yield found


# ---- gpuplan explore


def _explore_options(command: argparse.ArgumentParser) -> None:
    from gpuplan.analysis.explore import SHARING

    gpu = "look at this GPU model only; repeat for more (default: those that replace the one asked for)"
    _takes_file(command)
    for option, unit, words in (
        ("--gpu", "ID", gpu),
        ("--server", "ID", f"look at this server only, or '{ANY_SERVER}'; repeat for more"),
        ("--gpus-per-host", "N", "look at so many GPUs per host only; repeat for more"),
        ("--link", "N", "look at links of so many Gbit/s only; repeat for more"),
        ("--failures", "N", "look at so many host failures to tolerate only; repeat for more"),
    ):
        command.add_argument(option, action="append", default=[], metavar=unit, help=words)
    words = "how all groups reach their GPUs; repeat for more"
    command.add_argument("--sharing", action="append", default=[], choices=SHARING, help=words)
    command.add_argument("--workers", default=0, metavar="N", help="processes (default: one for each core)")
    engines, words = ("processes", "dask"), "where to plan (default processes)"
    command.add_argument("--engine", choices=engines, default="processes", help=words)
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help="of the dask cluster to use")
    form = command.add_mutually_exclusive_group()
    _takes_json(form)
    form.add_argument("--csv", action="store_true", help="print every design as a row of CSV")
    _takes_progress(form)


def _explore(args: argparse.Namespace) -> int:
    from gpuplan.analysis.explore import explore, to_win
    from gpuplan.plan import make_plan
    from gpuplan.report import beside_winner, exploration_csv, exploration_dict, exploration_text

    _numbers(args, "--workers")
    catalog = _catalog_of(args)
    scenario = _scenario(args.file)
    make_plan(scenario, catalog)  # what is wrong with the design itself is said first
    space = _space(args, scenario, catalog)

    def tell(done: int, of: int) -> None:
        _tell(args, done=done / of, step=f"{done} of {of} designs planned")

    try:
        found = explore(
            scenario,
            catalog,
            space,
            workers=args.workers,
            engine=args.engine,
            scheduler=args.scheduler,
            progress=tell,
            folders=_folders(args),
        )
    except ValueError as error:
        raise _refusal(f"cannot explore: {error}") from None
    if args.progress:
        _tell(args, done=1, exploration=exploration_dict(found, scenario))
        return 0
    if args.csv:
        print(exploration_csv(found, scenario), end="")
        return 0
    other = beside_winner(found)
    conditions = to_win(scenario, catalog, found.winner, other) if found.winner and other else ()
    return _print(
        args,
        lambda: exploration_dict(found, scenario, conditions, other),
        lambda: exploration_text(found, scenario, conditions, other),
    )


def _space(args: argparse.Namespace, scenario: Scenario, catalog: Catalog) -> Space:
    """What is explored: the default, with the parts that are given instead."""
    from gpuplan.analysis.explore import Space, default_space
    from gpuplan.scenario import Problem, ScenarioError, show

    problems = [
        Problem(f"--{name}", show(given), f"an id of 'gpuplan catalog {name}s'")
        for name, known in (("gpu", catalog.gpus), ("server", {**catalog.servers, ANY_SERVER: None}))
        for given in getattr(args, name)
        if given not in known
    ]
    try:
        _numbers(args, "--gpus-per-host", "--link", "--failures")
    except ScenarioError as error:
        problems += error.problems
    if problems:
        raise ScenarioError(problems)
    usual = default_space(scenario, catalog)
    return Space(
        gpus=_once(args.gpu) or usual.gpus,
        servers=_once("" if s == ANY_SERVER else s for s in args.server) or usual.servers,
        gpus_per_host=_once(args.gpus_per_host) or usual.gpus_per_host,
        sharing=_once(args.sharing) or usual.sharing,
        links=_once(args.link) or usual.links,
        host_failures=_once(args.failures) or usual.host_failures,
    )


def _once(given: Iterable[_T]) -> tuple[_T, ...]:
    """What is given, each once, in its order."""
    return tuple(dict.fromkeys(given))


# ---- gpuplan report


def _report_options(command: argparse.ArgumentParser) -> None:
    from gpuplan.report import KINDS

    _takes_file(command)
    add = command.add_argument
    words = "folder to write to (- with --progress puts the files into the last line, in base64)"
    add("--to", type=Path, required=True, metavar="DIR", help=words)
    words = "only this; may be given again"
    add("--only", action="append", choices=tuple(KINDS), default=[], help=words)
    words = "the files of your own version, with internal notes and margin (default: the version for the customer)"
    add("--internal", action="store_true", help=words)
    add("--docx-template", type=Path, metavar="FILE", help="a document of yours whose styles are taken")
    add("--pptx-template", type=Path, metavar="FILE", help="a deck of yours whose layouts are taken")
    _takes_progress(command, "file made")


def _report(args: argparse.Namespace) -> int:
    import base64

    from gpuplan.report import KINDS, design_files

    plan = _plan_of(args)
    templates = {f"{kind}_template": _template(args, kind) for kind in ("docx", "pptx")}
    try:
        files = design_files(
            plan,
            args.only or tuple(KINDS),
            internal=args.internal,
            tell=lambda done, step: _tell(args, done=done, step=step),
            **templates,
        )
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    except ValueError as error:
        raise _refusal(f"cannot make the files: {error}") from None
    if args.progress and args.to == Path("-"):
        _tell(args, done=1, files={name: base64.b64encode(made).decode() for name, made in files.items()})
        return 0
    try:
        for name, content in files.items():
            path = args.to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise _refusal(f"cannot write {path}: {error.strerror}") from None
    if args.progress:
        _tell(args, done=1, files=sorted(files))
    else:
        for name in files:
            print(args.to / name)
    return 0


def _missing(error: ModuleNotFoundError) -> ScenarioError:
    return _refusal(f'cannot make the files: {error.name} is missing: pip install "gpuplan[export]"')


def _template(args: argparse.Namespace, kind: str) -> bytes | None:
    """The user's template, if there is one; what was left out of it is said."""
    from gpuplan.report.template import left_out_text, read_template
    from gpuplan.report.untrusted import TemplateError

    path: Path | None = getattr(args, f"{kind}_template")
    if path is None:
        return None
    try:
        checked = read_template(path, kind)
    except OSError as error:
        raise _refusal(f"cannot read {_name(path)}: {error.strerror}") from None
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    except TemplateError as error:
        raise _refusal(f"{_name(path)} was not taken: {error}") from None
    if checked.left_out:
        print(f"{_name(path)} is used. {left_out_text(checked.left_out)}", file=sys.stderr)
    return checked.file


# ---- gpuplan audit


def _audit_options(command: argparse.ArgumentParser) -> None:
    from gpuplan.audit.trace import FORMATS

    add, path = command.add_argument, Path
    add("file", type=path, help="CSV or JSON file, packed with gzip or not")
    add("--name", default="", help="what the file is called, if it is kept under another name")
    words = "what the file is (default: by its header)"
    add("--format", choices=FORMATS, default="auto", help=words)
    words = "column that holds submit, start, end, duration, gpus, group, user, time, gpu or percent"
    add("--column", action="append", default=[], metavar="WHAT=NAME", help=words)
    words = "of times without offset, and of the hours shown (default UTC)"
    add("--time-zone", default="UTC", help=words)
    add("--installed", help="GPUs there are today")
    add("--largest", metavar="GPUS", help="leave out jobs with more GPUs")
    words = "first share of the period to leave out of curves and hours"
    add("--skip", default=0, metavar="SHARE", help=words)
    add("--scenario", type=path, metavar="OUT", help="write the suggested groups as a scenario file")
    words = f"replay the jobs on the hosts of this scenario (- reads it from the input), or of {_examples()}"
    add("--on", metavar="FILE", help=words)
    words = "scenario whose hardware and platform the groups get (- reads it from the input)"
    add("--base", metavar="FILE", help=words)
    words = "wait that is too long, in minutes (default: that of the scenario of --on)"
    add("--wait-min", help=words)
    words = "share of the jobs that may wait longer (default: that of the scenario of --on)"
    add("--share", help=words)
    _takes_json(command)
    _takes_progress(command)


def _audit(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from gpuplan.audit.trace import Jobs
    from gpuplan.audit.use import audit, suggest_groups, suggested_scenario
    from gpuplan.report import audit_dict, audit_text
    from gpuplan.scenario import from_dict, shown_name

    _numbers(args, "--installed", "--largest", "--skip", "--wait-min", "--share")
    catalog = _catalog_of(args)
    target = _scenario(args.on) if args.on else None
    base = _scenario(args.base) if args.base else target or from_dict({})
    name = shown_name(args.name or args.file.name)
    _tell(args, step=f"Reading {name}")
    trace = _trace(args)
    _tell(args, step="Counting hours and groups")
    try:
        found = audit(trace, time_zone=args.time_zone, installed_gpus=args.installed, skip_share=args.skip)
    except ValueError as error:
        raise _refusal(f"cannot audit {name}: {error}") from None
    suggestions = suggest_groups(found, gpus_per_host=base.hardware.gpus_per_host)
    made, why = None, "samples name no jobs, so they give no groups"
    if suggestions:
        try:
            made = suggested_scenario(base, found, suggestions, name)
        except ValueError as error:
            suggestions, why = (), str(error)
            found = replace(found, notes=(*found.notes, f"No groups for a scenario: {why}"))
    comparison, left_out = None, 0
    if target and not isinstance(trace, Jobs):
        raise _refusal("only jobs can be replayed, and this file holds samples", "--on", args.on)
    if args.scenario:
        _write(args.scenario, made, why)
    if target and isinstance(trace, Jobs):
        comparison, left_out = _replayed(trace, target, catalog, args)
    data = audit_dict(found, suggestions, comparison, left_out) if args.progress or args.json else {}
    if args.progress:
        _tell(args, audit=data, scenario=made.to_dict() if made else None)
        return 0
    return _print(args, lambda: data, lambda: audit_text(found, suggestions, comparison, left_out))


def _write(path: Path, scenario: Scenario | None, why: str) -> None:
    """Write the scenario that an audit suggests, or say why it suggests none."""
    if scenario is None:
        raise _refusal(why, "--scenario", _name(path))
    try:
        path.write_text(scenario.to_yaml(), encoding="utf-8")
    except (OSError, ValueError) as error:
        allowed = f"a file that can be written ({getattr(error, 'strerror', None) or error})"
        raise _refusal(allowed, "--scenario", _name(path)) from None


def _trace(args: argparse.Namespace) -> Jobs | Samples:
    """The jobs or samples of the file; where nobody names groups each user is one."""
    from gpuplan.audit.trace import Jobs, read_trace
    from gpuplan.scenario import show

    wrong = [text for text in args.column if "=" not in text]
    if wrong:
        raise _refusal("what it holds and its name, such as gpus=num_gpus", "--column", wrong[0])
    columns = dict(text.split("=", 1) for text in args.column)
    trace = read_trace(args.file, format=args.format, columns=columns or None, time_zone=args.time_zone)
    if isinstance(trace, Jobs) and trace.users and "group" not in trace.reading.columns:
        columns |= {"group": trace.reading.columns["user"]}
        trace = read_trace(args.file, format=args.format, columns=columns, time_zone=args.time_zone)
    if args.largest is not None and isinstance(trace, Jobs):
        trace = trace.where(trace.gpus <= args.largest)
        if not len(trace.gpus):
            raise _refusal("a size that some job of the file has", "--largest", show(args.largest))
    return trace


def _replayed(
    jobs: Jobs, target: Scenario, catalog: Catalog, args: argparse.Namespace
) -> tuple[Comparison, int]:
    """(the jobs replayed on the hosts of a scenario, jobs left out because they ask for more than all of them have)."""
    from gpuplan.audit.use import compare
    from gpuplan.plan import make_plan
    from gpuplan.wording import amount

    asked = target.demand
    rooms = [room.gpus for pool in make_plan(target, catalog).pools for room in pool.rooms]
    fits = jobs.gpus <= sum(rooms)
    if not fits.any():
        there = f"{amount(sum(rooms), 'GPU')} in all, and the smallest job asks for {jobs.gpus.min():g}"
        raise _refusal(f"hosts on which a job fits; these have {there}", "--on", args.on)
    try:
        found = compare(
            jobs.where(fits),
            hosts=rooms,
            policy=target.platform.assignment,
            wait_limit_h=(asked.wait_min if args.wait_min is None else args.wait_min) / 60,
            share=asked.chance if args.share is None else args.share,
            progress=lambda what: _tell(args, step=what),
        )
    except ValueError as error:
        raise _refusal(f"cannot replay these jobs: {error}") from None
    return found, int((~fits).sum())


# ---- gpuplan calibrate, catalog, schema


def _calibrate(args: argparse.Namespace) -> int:
    from gpuplan.report import calibration_dict, calibration_text

    found = calibration_dict(_catalog_of(args))
    _print(args, lambda: found, lambda: calibration_text(found))
    return MOVED if found["moved"] else 0


def _catalog_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("query", nargs="?", default="", help="a table, an id, or a word to search for")


def _catalog(args: argparse.Namespace) -> int:
    from gpuplan.report import catalog_text

    text = catalog_text(_catalog_of(args), args.query)
    if not text:
        print(f"Nothing in the catalog matches {args.query!r}.", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def _schema(args: argparse.Namespace) -> int:
    from gpuplan.scenario import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0


# ---- gpuplan app


def _app_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", nargs="?", help=f"scenario to open with (a file, or {_examples()})")
    add("--customer", action="store_true", help="open every page in the customer view")
    add("--host", default="localhost", help="address to listen on (default localhost)")
    add("--port", type=int, default=8866, help="port to listen on (default 8866)")
    add(
        "--token",
        help=f"token that visitors need; prefer the variable {TOKEN}, which ps does not show; made up and printed if "
        "--host is not localhost and none is given",
    )
    words = f"path prefix behind a proxy (default: the variable {BASE_URL}, or /)"
    add("--base-url", metavar="PATH", help=words)
    add(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="trust the X-Forwarded-For and X-Forwarded-Proto headers of this proxy; may be repeated (default: none; "
        "under JupyterHub, this machine)",
    )
    words = "path of another gpuplan server on the same host name; pages move there if this one fails; may be repeated"
    add("--other", action="append", default=[], metavar="PATH", help=words)
    words = "pages that may be open at once (default: as many as free memory and open files allow)"
    add("--sessions", default="0", metavar="NUMBER", help=words)
    words = "how long to keep the session of a page that stopped responding, such as a sleeping laptop's (default 30)"
    add("--idle", default="30", metavar="MINUTES", help=words)
    words = "serve Prometheus metrics at BASE-URL/metrics, to signed-in users"
    add("--metrics", action="store_true", help=words)
    add("--json-log", action="store_true", help="write each line of the log as a JSON object")
    add("--no-browser", action="store_true", help="do not open a browser")
    add("--verbose", action="store_true", help="also log requests and sessions")


def _app(args: argparse.Namespace) -> int:
    import re

    from gpuplan.plan import make_plan
    from gpuplan.scenario import load_scenario, scenario_path

    catalog = _catalog_of(args)
    _numbers(args, "--sessions", "--idle")
    token = os.environ.pop(TOKEN, None)  # the sessions, which inherit the variables, need not know it
    base_url = os.environ.get(BASE_URL, "/") if args.base_url is None else args.base_url
    if not re.fullmatch(r"[\w./~-]*", base_url, re.ASCII):
        raise _refusal("a path of letters, digits, '/', '.', '~', '_' and '-'", "--base-url", base_url)
    if args.file:
        make_plan(load_scenario(args.file), catalog)  # a bad file is refused here, not in a browser tab
    try:
        sockets = _hub_sockets()
        from gpuplan.app.serve import serve
    except ModuleNotFoundError as error:
        missing = f"The app is not installed ({error.name} is missing)"
        print(f'{missing}: pip install "gpuplan[app]"', file=sys.stderr)
        return BAD_INPUT
    return serve(
        scenario=scenario_path(args.file) if args.file else None,
        catalog=args.folder,
        customer=args.customer,
        host=args.host,
        port=args.port,
        token=args.token or token,
        base_url=base_url,
        proxies=tuple(args.trusted_proxy),
        others=tuple(args.other),
        sessions=args.sessions,
        idle_s=60 * args.idle,
        metrics=args.metrics,
        json_log=args.json_log,
        open_browser=not args.no_browser,
        verbose=args.verbose,
        sockets=sockets,
    )


def _hub_sockets() -> list[Any]:
    """Listen where a Hub wants its service, before imports that take seconds: it waits for an answer, but not for a port."""
    import contextlib
    from urllib.parse import urlsplit

    at = urlsplit(os.environ.get(HUB_URL, ""))
    if at.port:
        from tornado.netutil import bind_sockets

        with contextlib.suppress(OSError):  # the server tries again, and says what is wrong
            return bind_sockets(at.port, at.hostname or None, backlog=1024)
    return []


COMMANDS = {
    "plan": Command("print the design for a scenario", _plan_options, _plan),
    "demand": Command(
        "print who wants GPUs when, how many are enough, and silos against a pool", _demand_options, _demand
    ),
    "network": Command(
        "print what the network does to remote GPUs and to training, and the fabric",
        _takes_file_and_json,
        _network,
    ),
    "cost": Command(
        "print what it costs by year, part and group, the bill of materials, prices, and rent or buy",
        _cost_options,
        _cost,
    ),
    "explore": Command(
        "plan and rank many designs for the same demand, with the reason for each that loses",
        _explore_options,
        _explore,
    ),
    "sensitivity": Command(
        "print which inputs move cost and hosts most, and where the number of hosts changes",
        _sensitivity_options,
        _sensitivity,
    ),
    "compare": Command("print 2 to 4 designs in columns", _compare_options, _compare),
    "report": Command(
        "write what a customer keeps: design document, deck, workbook, scenario, Terraform",
        _report_options,
        _report,
    ),
    "audit": Command(
        "print how GPUs are used today, from a file of jobs or of samples", _audit_options, _audit
    ),
    "calibrate": Command(
        "fit the network models to the published measurements again, and print their errors",
        _takes_json,
        _calibrate,
    ),
    "catalog": Command(
        "list GPUs, servers, software and rules with their sources", _catalog_options, _catalog
    ),
    "schema": Command(
        "print the JSON Schema of a scenario file", lambda command: None, _schema, catalog=False
    ),
    "app": Command("serve the workbook as a web app", _app_options, _app),
}


if __name__ == "__main__":
    sys.exit(main())
