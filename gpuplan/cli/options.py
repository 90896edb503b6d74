"""Options and answers that several commands share."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.cli.terminal import clear_bar, coloured, show_bar
from gpuplan.facts import own_rows
from gpuplan.locales import SPOKEN, locale_of
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.llm.own_models import own_model
from gpuplan.scenario import (
    MAX_FILE_BYTES,
    Field,
    Problem,
    Scenario,
    ScenarioError,
    decode_scenario,
    field_of,
    load_scenario,
    one_line,
    parse_value,
)


def _number_options() -> dict[str, Field]:
    """Return options that hold a number, and their limits: as an input of the scenario, or of a kind and range."""
    options = {}
    for row in own_rows("words/options"):
        match row["number"].split():
            case [path]:
                options[row["option"]] = replace(field_of(path), path=row["option"])
            case [kind, low, high]:
                options[row["option"]] = Field(row["option"], "", kind, None, float(low), float(high))
    return options


def read_numbers(args: argparse.Namespace, *options: str, currency: str = "") -> None:
    """Read options that hold one number or several, money in a currency; all invalid ones are named."""
    specs = _number_options()
    problems: list[Problem] = []
    for option in options:
        name = option[2:].replace("-", "_")
        value = getattr(args, name)
        read = []
        for one in value if isinstance(value, list) else [value]:
            try:
                read.append(None if one is None else parse_value(specs[option], one, option, currency))
            except ScenarioError as error:
                problems += error.problems
        setattr(args, name, read if isinstance(value, list) else next(iter(read), None))
    if problems:
        raise ScenarioError(problems)


def print_answer(
    args: argparse.Namespace,
    as_data: Callable[..., Any],
    as_text: Callable[..., str],
    *answer: Any,
    key: str = "",
    as_csv: Callable[..., str] | None = None,
) -> int:
    """Print an answer as text, JSON or CSV, or under its ``key`` as the last line of progress, by the user's choice."""
    if key and args.progress:
        tell_progress(args, done=1, **{key: as_data(*answer)})
        return 0
    clear_bar()
    if args.json:
        print(json.dumps(as_data(*answer), allow_nan=False, indent=2))
    elif as_csv and args.csv:
        print(as_csv(*answer), end="")
    else:
        print(coloured(as_text(*answer)), end="")
    return 0


def engine_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return where designs are planned, and with which catalog beside the shipped one, as a search takes them."""
    names = ("workers", "engine", "scheduler")
    return {name: getattr(args, name) for name in names} | {
        "folders": (args.catalog,) if args.catalog else ()
    }


def tell_progress(args: argparse.Namespace, **line: Any) -> bool:
    """Print a line of progress, if requested; else a terminal shows a bar."""
    if args.progress:
        print(json.dumps(line, allow_nan=False), flush=True)
    elif line.keys() & {"done", "step"}:
        show_bar(str(line.get("step", "")), line.get("done"))
    return True


def refusal(message: str, path: str = "", given: str = "") -> ScenarioError:
    """Return the error that states the problem: with an option and its value, or on the whole."""
    return ScenarioError([Problem(path, given, message)])


def path_text(path: Path) -> str:
    """Return a path for a message."""
    return one_line(str(path))


def catalog_of(args: argparse.Namespace) -> Catalog:
    """Return the shipped catalog, with the user's own folder over it."""
    return load_catalog(args.catalog) if args.catalog else load_catalog()


def read_scenario(file: str, configs: Sequence[str] = ()) -> Scenario:
    """Return the scenario in a file, of an example, or from the input, with models; output then follows its locale."""
    scenario = (
        decode_scenario(sys.stdin.buffer.read(MAX_FILE_BYTES + 1)) if file == "-" else load_scenario(file)
    )
    SPOKEN.set(locale_of(scenario))
    return with_configs(scenario, configs)


def with_configs(scenario: Scenario, configs: Sequence[str]) -> Scenario:
    """Return a scenario with the models of these files, each ``FILE`` or ``NAME=FILE``; what was read of them is said."""
    for config in configs or ():
        name, _, file = config.rpartition("=")
        model = own_model(file, name)
        print(model.words, file=sys.stderr)
        scenario = model.put_in(scenario)
    return scenario


def plan_of(args: argparse.Namespace, stated: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan of the named scenario, with some inputs as stated; None leaves one as it is."""
    catalog, scenario = catalog_of(args), read_scenario(args.file, args.model_config)
    for path, value in (stated or {}).items():
        scenario = scenario if value is None else scenario.with_value(path, value)
    return make_plan(scenario, catalog)
