"""The command line: ``gpuplan plan``, ``demand``, ``network``, ``cost``, ``explore``, ``sensitivity``, ``compare``, ``report``, ``audit`` and others."""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gpuplan import __version__
from gpuplan.analysis.compare import FEWEST, MOST, compare_plans
from gpuplan.analysis.explore import SHARING, Space, default_space, explore, to_win
from gpuplan.analysis.sensitivity import thresholds, tornado
from gpuplan.analysis.simulation import WHEN, Trial, trial, trial_dict, trial_hosts
from gpuplan.audit import (
    FORMATS,
    Comparison,
    Jobs,
    Samples,
    TraceError,
    audit,
    compare,
    read_trace,
    suggest_groups,
    suggested_scenario,
)
from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.models.demand.simulation import Progress
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.customer import customer_scenario
from gpuplan.report import (
    KINDS,
    audit_dict,
    audit_text,
    beside_winner,
    calibration_dict,
    calibration_text,
    catalog_text,
    compare_dict,
    compare_text,
    cost_dict,
    cost_text,
    demand_dict,
    demand_text,
    design_files,
    exploration_csv,
    exploration_dict,
    exploration_text,
    network_dict,
    network_text,
    plan_dict,
    plan_text,
    sensitivity_dict,
    sensitivity_text,
)
from gpuplan.report.template import left_out_text, read_template
from gpuplan.report.untrusted import TemplateError
from gpuplan.scenario import (
    MAX_FILE_BYTES,
    MAX_GPUS,
    Field,
    Problem,
    Scenario,
    ScenarioError,
    decode_scenario,
    example_names,
    field_of,
    from_dict,
    json_schema,
    load_scenario,
    one_line,
    parse_value,
    scenario_path,
    show,
    shown_name,
)
from gpuplan.wording import amount

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
CUSTOMER = "what the customer may see: prices as they are sold, no internal notes and no margin"
ANY_SERVER = "any"
"""Stands for a server of any make among those to explore."""

OPTIONS = {
    "hosts": Field("--hosts", "", "int", None, 1, 10_000),
    "around": Field("--around", "", "int", 0, 0, 1_000),
    "down": Field("--down", "", "int", 0, 0, 10_000),
    "seed": Field("--seed", "", "int", 1, 0, 1_000_000_000),
    "installed": Field("--installed", "", "int", None, 1, MAX_GPUS),
    "largest": Field("--largest", "", "number", None, 0, MAX_GPUS),
    "skip": Field("--skip", "", "share", 0, 0, 0.9),
    "wait_min": replace(field_of("demand.wait_min"), path="--wait-min"),
    "share": replace(field_of("demand.chance"), path="--share"),
    "workers": Field("--workers", "", "int", 0, 0, 1_000),
    "gpus_per_host": replace(field_of("hardware.gpus_per_host"), path="--gpus-per-host"),
    "link": replace(field_of("network.link_gbit_s"), path="--link"),
    "failures": replace(field_of("availability.host_failures"), path="--failures"),
    "sessions": Field("--sessions", "", "int", 0, 0, 10_000),
    "idle": Field("--idle", "", "number", 30, 1, 10_000),
}
"""Options that hold a number, and what each may be."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0, 2 for bad input, 1 where there is nothing to show or a fit has moved, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know every character of a name
            stream.reconfigure(errors="replace")
    args = _parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except (ScenarioError, CatalogError, TraceError) as error:
        lines = str(error).splitlines()
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        print("\n".join([*lines[:MOST_LINES], *more]), file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gpuplan", description="Size shared-GPU clusters on vSphere, with a source behind every number."
    )
    parser.add_argument("--version", action="version", version=f"gpuplan {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    examples = ", ".join(example_names())

    plan = commands.add_parser("plan", help="print the design for a scenario")
    plan.add_argument("file", help=f"scenario file (YAML or JSON), or an example: {examples}")
    plan.add_argument("--json", action="store_true", help="print the whole plan as JSON")
    plan.add_argument("--customer", action="store_true", help=CUSTOMER)
    plan.set_defaults(run=_plan)

    wanted = commands.add_parser(
        "demand", help="print who wants GPUs when, how many are enough, and silos against a pool"
    )
    wanted.add_argument("file", help=f"scenario file (- reads it from the input), or an example: {examples}")
    wanted.add_argument(
        "--simulate", action="store_true", help="simulate the groups on the hosts of the plan"
    )
    wanted.add_argument(
        "--when", choices=WHEN, default="busiest", help="simulate the busiest hours or the week"
    )
    wanted.add_argument(
        "--hosts", metavar="N,N", help="simulate with so many hosts (default: those of the plan)"
    )
    wanted.add_argument(
        "--around", default=0, metavar="N", help="simulate with up to N hosts fewer and more, too"
    )
    wanted.add_argument("--down", default=0, help="hosts that are down all the time")
    wanted.add_argument("--seed", default=1, help="where the random numbers start (default 1)")
    wanted.add_argument("--json", action="store_true", help="print everything as JSON")
    wanted.add_argument("--progress", action="store_true", help="print one line of JSON for each step done")
    wanted.set_defaults(run=_demand)

    network = commands.add_parser(
        "network", help="print what the network does to remote GPUs and to training, and the fabric"
    )
    network.add_argument("file", help=f"scenario file (- reads it from the input), or an example: {examples}")
    network.add_argument("--json", action="store_true", help="print everything as JSON")
    network.set_defaults(run=_network)

    costed = commands.add_parser(
        "cost",
        help="print what it costs by year, part and group, the bill of materials, prices, and rent or buy",
    )
    costed.add_argument("file", help=f"scenario file (- reads it from the input), or an example: {examples}")
    costed.add_argument("--json", action="store_true", help="print everything as JSON")
    costed.add_argument("--customer", action="store_true", help=CUSTOMER)
    costed.set_defaults(run=_cost)

    explored = commands.add_parser(
        "explore", help="plan and rank many designs for the same demand, with the reason for each that loses"
    )
    explored.add_argument(
        "file", help=f"scenario file (- reads it from the input), or an example: {examples}"
    )
    for option, words in (
        (
            "--gpu",
            "look at this GPU model only; repeat for more (default: those that replace the one asked for)",
        ),
        ("--server", f"look at this server only, or '{ANY_SERVER}'; repeat for more"),
        ("--gpus-per-host", "look at so many GPUs per host only; repeat for more"),
        ("--link", "look at links of so many Gbit/s only; repeat for more"),
        ("--failures", "look at so many host failures to tolerate only; repeat for more"),
    ):
        explored.add_argument(
            option,
            action="append",
            default=[],
            metavar="ID" if option in ("--gpu", "--server") else "N",
            help=words,
        )
    explored.add_argument(
        "--sharing",
        action="append",
        default=[],
        choices=SHARING,
        help="how all groups reach their GPUs; repeat for more",
    )
    explored.add_argument("--workers", default=0, metavar="N", help="processes (default: one for each core)")
    explored.add_argument(
        "--engine",
        choices=("processes", "dask"),
        default="processes",
        help="where to plan (default processes)",
    )
    explored.add_argument("--scheduler", default="", metavar="ADDRESS", help="of the dask cluster to use")
    form = explored.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--csv", action="store_true", help="print every design as a row of CSV")
    form.add_argument("--progress", action="store_true", help="print one line of JSON for each step done")
    explored.set_defaults(run=_explore)

    sensed = commands.add_parser(
        "sensitivity",
        help="print which inputs move cost and hosts most, and where the number of hosts changes",
    )
    sensed.add_argument("file", help=f"scenario file (- reads it from the input), or an example: {examples}")
    form = sensed.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--progress", action="store_true", help="print one line of JSON for each step done")
    sensed.set_defaults(run=_sensitivity)

    beside = commands.add_parser("compare", help=f"print {FEWEST} to {MOST} designs in columns")
    beside.add_argument(
        "files", nargs="+", metavar="file", help=f"scenario files (- reads one from the input), or {examples}"
    )
    beside.add_argument("--json", action="store_true", help="print everything as JSON")
    beside.set_defaults(run=_compare)

    kept = commands.add_parser(
        "report", help="write what a customer keeps: design document, deck, workbook, scenario, Terraform"
    )
    kept.add_argument("file", help=f"scenario file (- reads it from the input), or an example: {examples}")
    kept.add_argument(
        "--to",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder to write to (- with --progress puts the files into the last line, in base64)",
    )
    kept.add_argument(
        "--only", action="append", choices=tuple(KINDS), default=[], help="only this; may be given again"
    )
    kept.add_argument(
        "--internal",
        action="store_true",
        help="the files of your own version, with internal notes and margin (default: the version for the customer)",
    )
    kept.add_argument(
        "--docx-template", type=Path, metavar="FILE", help="a document of yours whose styles are taken"
    )
    kept.add_argument(
        "--pptx-template", type=Path, metavar="FILE", help="a deck of yours whose layouts are taken"
    )
    kept.add_argument("--progress", action="store_true", help="print one line of JSON for each file made")
    kept.set_defaults(run=_report)

    audited = commands.add_parser(
        "audit", help="print how GPUs are used today, from a file of jobs or of samples"
    )
    audited.add_argument("file", type=Path, help="CSV or JSON file, packed with gzip or not")
    audited.add_argument(
        "--name", default="", help="what the file is called, if it is kept under another name"
    )
    audited.add_argument(
        "--format", choices=FORMATS, default="auto", help="what the file is (default: by its header)"
    )
    audited.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="WHAT=NAME",
        help="column that holds submit, start, end, duration, gpus, group, user, time, gpu or percent",
    )
    audited.add_argument(
        "--time-zone", default="UTC", help="of times without offset, and of the hours shown (default UTC)"
    )
    audited.add_argument("--installed", help="GPUs there are today")
    audited.add_argument("--largest", metavar="GPUS", help="leave out jobs with more GPUs")
    audited.add_argument(
        "--skip",
        default=0,
        metavar="SHARE",
        help="first share of the period to leave out of curves and hours",
    )
    audited.add_argument(
        "--scenario", type=Path, metavar="OUT", help="write the suggested groups as a scenario file"
    )
    audited.add_argument(
        "--on",
        metavar="FILE",
        help=f"replay the jobs on the hosts of this scenario (- reads it from the input), or of {examples}",
    )
    audited.add_argument(
        "--base",
        metavar="FILE",
        help="scenario whose hardware and platform the groups get (- reads it from the input)",
    )
    audited.add_argument(
        "--wait-min", help="wait that is too long, in minutes (default: that of the scenario of --on)"
    )
    audited.add_argument(
        "--share", help="share of the jobs that may wait longer (default: that of the scenario of --on)"
    )
    audited.add_argument("--json", action="store_true", help="print everything as JSON")
    audited.add_argument("--progress", action="store_true", help="print one line of JSON for each step done")
    audited.set_defaults(run=_audit)

    calibrate = commands.add_parser(
        "calibrate", help="fit the network models to the published measurements again, and print their errors"
    )
    calibrate.add_argument("--json", action="store_true", help="print everything as JSON")
    calibrate.set_defaults(run=_calibrate)

    catalog = commands.add_parser("catalog", help="list GPUs, servers, software and rules with their sources")
    catalog.add_argument("query", nargs="?", default="", help="a table, an id, or a word to search for")
    catalog.set_defaults(run=_catalog)

    schema = commands.add_parser("schema", help="print the JSON Schema of a scenario file")
    schema.set_defaults(run=_schema)

    app = commands.add_parser("app", help="serve the workbook as a web app")
    app.add_argument("file", nargs="?", help=f"scenario to open with (a file, or {examples})")
    app.add_argument("--customer", action="store_true", help="open every page in the customer view")
    app.add_argument("--host", default="localhost", help="address to listen on (default localhost)")
    app.add_argument("--port", type=int, default=8866, help="port to listen on (default 8866)")
    app.add_argument(
        "--token",
        help=f"token that visitors need; prefer the variable {TOKEN}, which ps does not show; made up and printed if "
        "--host is not localhost and none is given",
    )
    app.add_argument(
        "--base-url",
        metavar="PATH",
        help=f"path prefix behind a proxy (default: the variable {BASE_URL}, or /)",
    )
    app.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="trust the X-Forwarded-For and X-Forwarded-Proto headers of this proxy; may be repeated (default: none; "
        "under JupyterHub, this machine)",
    )
    app.add_argument(
        "--other",
        action="append",
        default=[],
        metavar="PATH",
        help="path of another gpuplan server on the same host name; pages move there if this one fails; may be repeated",
    )
    app.add_argument(
        "--sessions",
        default="0",
        metavar="NUMBER",
        help="pages that may be open at once (default: as many as free memory and open files allow)",
    )
    app.add_argument(
        "--idle",
        default="30",
        metavar="MINUTES",
        help="how long to keep the session of a page that stopped responding, such as a sleeping laptop's (default 30)",
    )
    app.add_argument(
        "--metrics",
        action="store_true",
        help="serve Prometheus metrics at BASE-URL/metrics, to signed-in users",
    )
    app.add_argument("--json-log", action="store_true", help="write each line of the log as a JSON object")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    app.add_argument("--verbose", action="store_true", help="also log requests and sessions")
    app.set_defaults(run=_app)

    for command in (
        plan,
        wanted,
        network,
        costed,
        explored,
        sensed,
        beside,
        kept,
        audited,
        calibrate,
        catalog,
        app,
    ):
        command.add_argument(
            "--catalog",
            type=Path,
            dest="folder",
            metavar="DIR",
            help="folder with rows of your own that add to or replace the catalog's",
        )
    return parser


def _plan(args: argparse.Namespace) -> int:
    catalog = load_catalog(*_folders(args))
    plan = make_plan(_seen(load_scenario(args.file), catalog, args), catalog)
    if args.json:
        print(json.dumps(plan_dict(plan), allow_nan=False, indent=2))
    else:
        print(plan_text(plan), end="")
    return 0


def _network(args: argparse.Namespace) -> int:
    catalog = load_catalog(*_folders(args))
    plan = make_plan(_scenario(args.file), catalog)
    if args.json:
        print(json.dumps(network_dict(plan), allow_nan=False, indent=2))
    else:
        print(network_text(plan), end="")
    return 0


def _seen(scenario: Scenario, catalog: Catalog, args: argparse.Namespace) -> Scenario:
    """What of a scenario is shown: all of it, or the customer's version."""
    if not args.customer:
        return scenario
    make_plan(scenario, catalog)  # what is wrong with the scenario is said of it, not of what is made from it
    return customer_scenario(scenario, catalog)


def _cost(args: argparse.Namespace) -> int:
    catalog = load_catalog(*_folders(args))
    plan = make_plan(_seen(_scenario(args.file), catalog, args), catalog)
    if args.json:
        print(json.dumps(cost_dict(plan), allow_nan=False, indent=2))
    else:
        print(cost_text(plan), end="")
    return 0


def _report(args: argparse.Namespace) -> int:
    plan = make_plan(_scenario(args.file), load_catalog(*_folders(args)))
    templates = {kind: _template(getattr(args, f"{kind}_template"), kind) for kind in ("docx", "pptx")}
    try:
        files = design_files(
            plan,
            args.only or tuple(KINDS),
            internal=args.internal,
            tell=lambda done, step: _tell(args, done=done, step=step),
            docx_template=templates["docx"],
            pptx_template=templates["pptx"],
        )
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    except ValueError as error:
        raise ScenarioError([Problem("", "", f"cannot make the files: {error}")]) from None
    if args.progress and args.to == Path("-"):
        _tell(args, done=1, files={name: base64.b64encode(made).decode() for name, made in files.items()})
        return 0
    try:
        for name, content in files.items():
            path = args.to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise ScenarioError([Problem("", "", f"cannot write {path}: {error.strerror}")]) from None
    if args.progress:
        _tell(args, done=1, files=sorted(files))
    else:
        for name in files:
            print(args.to / name)
    return 0


def _missing(error: ModuleNotFoundError) -> ScenarioError:
    return ScenarioError(
        [Problem("", "", f'cannot make the files: {error.name} is missing: pip install "gpuplan[export]"')]
    )


def _template(path: Path | None, kind: str) -> bytes | None:
    """The user's template, if there is one; what was left out of it is said."""
    if path is None:
        return None
    try:
        checked = read_template(path, kind)
    except OSError as error:
        raise ScenarioError([Problem("", "", f"cannot read {_name(path)}: {error.strerror}")]) from None
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    except TemplateError as error:
        raise ScenarioError([Problem("", "", f"{_name(path)} was not taken: {error}")]) from None
    if checked.left_out:
        print(f"{_name(path)} is used. {left_out_text(checked.left_out)}", file=sys.stderr)
    return checked.file


def _explore(args: argparse.Namespace) -> int:
    _numbers(args, "workers")
    catalog = load_catalog(*_folders(args))
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
        raise ScenarioError([Problem("", "", f"cannot explore: {error}")]) from None
    if args.progress:
        _tell(args, done=1, exploration=exploration_dict(found, scenario))
        return 0
    if args.csv:
        print(exploration_csv(found, scenario), end="")
        return 0
    other = beside_winner(found)
    conditions = to_win(scenario, catalog, found.winner, other) if found.winner and other else ()
    if args.json:
        print(json.dumps(exploration_dict(found, scenario, conditions, other), allow_nan=False, indent=2))
    else:
        print(exploration_text(found, scenario, conditions, other), end="")
    return 0


def _space(args: argparse.Namespace, scenario: Scenario, catalog: Catalog) -> Space:
    """What is explored: the default, with the parts that are given instead."""
    problems = [
        Problem(f"--{name}", show(given), f"an id of 'gpuplan catalog {name}s'")
        for name, known in (("gpu", catalog.gpus), ("server", {**catalog.servers, ANY_SERVER: None}))
        for given in getattr(args, name)
        if given not in known
    ]
    numbers: dict[str, tuple[int, ...]] = {}
    for name in ("gpus_per_host", "link", "failures"):
        spec, read = OPTIONS[name], []
        for given in getattr(args, name):
            try:
                read.append(parse_value(spec, given, spec.path))
            except ScenarioError as error:
                problems += error.problems
        numbers[name] = tuple(dict.fromkeys(read))
    if problems:
        raise ScenarioError(problems)
    usual = default_space(scenario, catalog)
    return Space(
        gpus=tuple(dict.fromkeys(args.gpu)) or usual.gpus,
        servers=tuple(dict.fromkeys("" if s == ANY_SERVER else s for s in args.server)) or usual.servers,
        gpus_per_host=numbers["gpus_per_host"] or usual.gpus_per_host,
        sharing=tuple(dict.fromkeys(args.sharing)) or usual.sharing,
        links=numbers["link"] or usual.links,
        host_failures=numbers["failures"] or usual.host_failures,
    )


def _sensitivity(args: argparse.Namespace) -> int:
    plan = make_plan(_scenario(args.file), load_catalog(*_folders(args)))

    def tell(done: int, of: int) -> None:
        _tell(args, done=0.9 * done / of, step=f"{done} of {of} inputs planned")

    bars = tornado(plan, tell)
    _tell(args, done=0.9, step="Looking for where the hosts change")
    limits = thresholds(plan)
    if args.progress:
        _tell(args, done=1, sensitivity=sensitivity_dict(plan, bars, limits))
    elif args.json:
        print(json.dumps(sensitivity_dict(plan, bars, limits), allow_nan=False, indent=2))
    else:
        print(sensitivity_text(plan, bars, limits), end="")
    return 0


def _compare(args: argparse.Namespace) -> int:
    if not FEWEST <= len(args.files) <= MOST or args.files.count("-") > 1:
        raise ScenarioError(
            [
                Problem(
                    "file",
                    show(len(args.files)),
                    f"{FEWEST} to {MOST} designs, at most one of them from the input",
                )
            ]
        )
    catalog = load_catalog(*_folders(args))
    found = compare_plans([make_plan(_scenario(file), catalog) for file in args.files])
    if args.json:
        print(json.dumps(compare_dict(found), allow_nan=False, indent=2))
    else:
        print(compare_text(found), end="")
    return 0


def _calibrate(args: argparse.Namespace) -> int:
    found = calibration_dict(load_catalog(*_folders(args)))
    if args.json:
        print(json.dumps(found, allow_nan=False, indent=2))
    else:
        print(calibration_text(found), end="")
    return MOVED if found["moved"] else 0


def _numbers(args: argparse.Namespace, *names: str) -> None:
    """Read options that hold numbers; all that are wrong are named."""
    problems: list[Problem] = []
    for name in names:
        spec, given = OPTIONS[name], getattr(args, name)
        try:
            setattr(args, name, None if given is None else parse_value(spec, given, spec.path))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)


def _demand(args: argparse.Namespace) -> int:
    _numbers(args, "around", "down", "seed")
    counts = args.hosts.split(",") if args.hosts else []
    args.hosts = [parse_value(OPTIONS["hosts"], text, "--hosts") for text in counts]
    catalog = load_catalog(*_folders(args))
    plan = make_plan(_scenario(args.file), catalog)
    trials = list(_trials(plan, args)) if args.simulate else []
    if args.progress:
        return 0
    if args.json:
        print(json.dumps(demand_dict(plan, trials), allow_nan=False, indent=2))
    else:
        print(demand_text(plan, trials), end="")
    return 0


def _trials(plan: Plan, args: argparse.Namespace) -> Iterator[Trial]:
    """Simulations, one for each pool and number of hosts; with ``--progress`` told as they go."""
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
            raise ScenarioError([Problem("", "", f"cannot simulate {pool_id}: {error}")]) from None
        if args.progress:
            _tell(args, done=(at + 1) / len(runs), trial=trial_dict(found))
        yield found


def _tell(args: argparse.Namespace, **line: Any) -> bool:
    """Print a line of progress, if it is asked for."""
    if args.progress:
        print(json.dumps(line, allow_nan=False), flush=True)
    return True


def _audit(args: argparse.Namespace) -> int:
    _numbers(args, "installed", "largest", "skip", "wait_min", "share")
    catalog = load_catalog(*_folders(args))
    target = _scenario(args.on) if args.on else None
    base = _scenario(args.base) if args.base else target or from_dict({})
    name = shown_name(args.name or args.file.name)
    _tell(args, step=f"Reading {name}")
    trace = _trace(args)
    _tell(args, step="Counting hours and groups")
    try:
        found = audit(trace, time_zone=args.time_zone, installed_gpus=args.installed, skip_share=args.skip)
    except ValueError as error:
        raise ScenarioError([Problem("", "", f"cannot audit {name}: {error}")]) from None
    suggestions = suggest_groups(found, gpus_per_host=base.hardware.gpus_per_host)
    made, why = None, "samples name no jobs, so they give no groups"
    if suggestions:
        try:
            made = suggested_scenario(base, found, suggestions, name)
        except ValueError as error:
            suggestions, why = (), str(error)
            found = replace(found, notes=(*found.notes, f"No groups for a scenario: {why}"))
    if target and not isinstance(trace, Jobs):
        raise ScenarioError(
            [Problem("--on", args.on, "only jobs can be replayed, and this file holds samples")]
        )
    if args.scenario:
        if made is None:
            raise ScenarioError([Problem("--scenario", _name(args.scenario), why)])
        _write(args.scenario, made)
    comparison, left_out = None, 0
    if target and isinstance(trace, Jobs):
        comparison, left_out = _replayed(trace, target, catalog, args)
    data = audit_dict(found, suggestions, comparison, left_out) if args.progress or args.json else {}
    if args.progress:
        _tell(args, audit=data, scenario=made.to_dict() if made else None)
    elif args.json:
        print(json.dumps(data, allow_nan=False, indent=2))
    else:
        print(audit_text(found, suggestions, comparison, left_out), end="")
    return 0


def _name(path: Path) -> str:
    """A path as a message shows it."""
    return one_line(str(path))


def _write(path: Path, scenario: Scenario) -> None:
    try:
        path.write_text(scenario.to_yaml(), encoding="utf-8")
    except (OSError, ValueError) as error:
        allowed = f"a file that can be written ({getattr(error, 'strerror', None) or error})"
        raise ScenarioError([Problem("--scenario", _name(path), allowed)]) from None


def _trace(args: argparse.Namespace) -> Jobs | Samples:
    """The jobs or samples of the file; where nobody names groups each user is one."""
    wrong = [text for text in args.column if "=" not in text]
    if wrong:
        raise ScenarioError(
            [Problem("--column", wrong[0], "what it holds and its name, such as gpus=num_gpus")]
        )
    columns = dict(text.split("=", 1) for text in args.column)
    trace = read_trace(args.file, format=args.format, columns=columns or None, time_zone=args.time_zone)
    if isinstance(trace, Jobs) and trace.users and "group" not in trace.reading.columns:
        columns |= {"group": trace.reading.columns["user"]}
        trace = read_trace(args.file, format=args.format, columns=columns, time_zone=args.time_zone)
    if args.largest is not None and isinstance(trace, Jobs):
        trace = trace.where(trace.gpus <= args.largest)
        if not len(trace.gpus):
            raise ScenarioError(
                [Problem("--largest", show(args.largest), "a size that some job of the file has")]
            )
    return trace


def _replayed(
    jobs: Jobs, target: Scenario, catalog: Catalog, args: argparse.Namespace
) -> tuple[Comparison, int]:
    """(the jobs replayed on the hosts of a scenario, jobs left out because they ask for more than all of them have)."""
    asked = target.demand
    rooms = [room.gpus for pool in make_plan(target, catalog).pools for room in pool.rooms]
    fits = jobs.gpus <= sum(rooms)
    if not fits.any():
        there = f"{amount(sum(rooms), 'GPU')} in all, and the smallest job asks for {jobs.gpus.min():g}"
        raise ScenarioError([Problem("--on", args.on, f"hosts on which a job fits; these have {there}")])
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
        raise ScenarioError([Problem("", "", f"cannot replay these jobs: {error}")]) from None
    return found, int((~fits).sum())


def _scenario(file: str) -> Scenario:
    """The scenario in a file, of an example, or from the input."""
    if file == "-":
        return decode_scenario(sys.stdin.buffer.read(MAX_FILE_BYTES + 1))
    return load_scenario(file)


def _catalog(args: argparse.Namespace) -> int:
    text = catalog_text(load_catalog(*_folders(args)), args.query)
    if not text:
        print(f"Nothing in the catalog matches {args.query!r}.", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def _schema(args: argparse.Namespace) -> int:
    print(json.dumps(json_schema(), indent=2))
    return 0


def _app(args: argparse.Namespace) -> int:
    catalog = load_catalog(*_folders(args))
    _numbers(args, "sessions", "idle")
    token = os.environ.pop(TOKEN, None)  # the sessions, which inherit the variables, need not know it
    base_url = os.environ.get(BASE_URL, "/") if args.base_url is None else args.base_url
    if not re.fullmatch(r"[\w./~-]*", base_url, re.ASCII):
        raise ScenarioError(
            [Problem("--base-url", base_url, "a path of letters, digits, '/', '.', '~', '_' and '-'")]
        )
    if args.file:
        make_plan(load_scenario(args.file), catalog)  # a bad file is refused here, not in a browser tab
    try:
        sockets = _hub_sockets()
        from gpuplan.app.serve import serve
    except ModuleNotFoundError as error:
        print(
            f'The app is not installed ({error.name} is missing): pip install "gpuplan[app]"', file=sys.stderr
        )
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
    at = urlsplit(os.environ.get(HUB_URL, ""))
    if at.port:
        from tornado.netutil import bind_sockets

        with contextlib.suppress(OSError):  # the server tries again, and says what is wrong
            return bind_sockets(at.port, at.hostname or None, backlog=1024)
    return []


def _folders(args: argparse.Namespace) -> tuple[Path, ...]:
    return (args.folder,) if args.folder else ()


if __name__ == "__main__":
    sys.exit(main())
