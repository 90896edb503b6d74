"""The command line: ``gpuplan plan``, ``gpuplan catalog``, ``gpuplan app``, ``gpuplan schema``."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gpuplan import __version__
from gpuplan.catalog import CatalogError, load_catalog
from gpuplan.fields import ScenarioError
from gpuplan.plan import make_plan
from gpuplan.report import catalog_text, plan_dict, plan_text
from gpuplan.scenario import example_names, json_schema, load_scenario, scenario_path

BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0, or 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know every character of a name
            stream.reconfigure(errors="replace")
    args = _parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except (ScenarioError, CatalogError) as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
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
    plan.set_defaults(run=_plan)

    catalog = commands.add_parser("catalog", help="list GPUs, servers, software and rules with their sources")
    catalog.add_argument("query", nargs="?", default="", help="a table, an id, or a word to search for")
    catalog.set_defaults(run=_catalog)

    schema = commands.add_parser("schema", help="print the JSON Schema of a scenario file")
    schema.set_defaults(run=_schema)

    app = commands.add_parser("app", help="serve the workbook as a web app")
    app.add_argument("file", nargs="?", help=f"scenario to open with (a file, or {examples})")
    app.add_argument("--host", default="localhost", help="address to listen on (default localhost)")
    app.add_argument("--port", type=int, default=8866, help="port to listen on (default 8866)")
    app.add_argument("--token", help="ask for this token; beyond localhost one is made if none is given")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    app.add_argument("--verbose", action="store_true", help="print the server's log")
    app.set_defaults(run=_app)

    for command in (plan, catalog, app):
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
    plan = make_plan(load_scenario(args.file), catalog)
    if args.json:
        print(json.dumps(plan_dict(plan), allow_nan=False, indent=2))
    else:
        print(plan_text(plan), end="")
    return 0


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
    if args.file:
        make_plan(load_scenario(args.file), catalog)  # a bad file is refused here, not in a browser tab
    try:
        from gpuplan.app.serve import serve
    except ModuleNotFoundError as error:
        print(
            f'The app is not installed ({error.name} is missing): pip install "gpuplan[app]"', file=sys.stderr
        )
        return BAD_INPUT
    return serve(
        scenario=scenario_path(args.file) if args.file else None,
        catalog=args.folder,
        host=args.host,
        port=args.port,
        token=args.token,
        open_browser=not args.no_browser,
        verbose=args.verbose,
    )


def _folders(args: argparse.Namespace) -> tuple[Path, ...]:
    return (args.folder,) if args.folder else ()


if __name__ == "__main__":
    sys.exit(main())
