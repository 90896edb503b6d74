"""The command line: ``gpuplan plan``, ``demand``, ``network``, ``cost``, ``rehearse``, ``explore``, ``sensitivity``, ``compare``, ``report``, ``audit`` and others.

A command and its options are rows of ``data/words``; the module that runs it is loaded when it is chosen.
"""

import argparse
import io
import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from gpuplan import __version__
from gpuplan.cli.terminal import clear_bar, fit_to_terminal
from gpuplan.extensions import added
from gpuplan.facts import did_you_mean, own_rows

__all__ = ["BAD_INPUT", "COMMANDS", "INTERRUPTED", "main", "parser"]

BAD_INPUT = 2
MOST_LINES = 20
INTERRUPTED = 130
COMMANDS = {row["command"]: (row["module"], row["help"]) for row in own_rows("words/commands")}
"""Command -> its module, here or in the room that is named, where ``run_NAME`` runs it, and its help; its options are in ``data/words/options.csv``."""
KINDS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "flag": {"action": "store_true"},
    "many": {"action": "append", "default": []},
    "path": {"type": Path},
    "required path": {"type": Path, "required": True},
    "optional path": {"type": Path, "nargs": "?"},
    "paths": {"type": Path, "nargs": "*"},
    "whole": {"type": int},
    "text": {"default": ""},
    "required text": {"required": True},
    "optional": {"nargs": "?"},
    "optional text": {"nargs": "?", "default": ""},
    "several": {"nargs": "+"},
}
"""Kind of an option in that table -> its arguments for argparse."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0, 2 for bad input, 1 where there is nothing to show, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know every character of a name
            stream.reconfigure(errors="replace")
    if argv is None and sys.stdout.fileno() == 1:
        _keep_output()
    words = sys.argv[1:] if argv is None else argv
    try:
        if "report" in words:
            from gpuplan.cli.language import put_into_language

            put_into_language(words)
        args = parser(*(word for word in words if word in COMMANDS)).parse_args(words)
        fit_to_terminal()
        from gpuplan.locales import speaking

        with speaking(None):  # until a scenario is read
            code = int(args.run(args))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        clear_bar()
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _bad_input() as error:
        clear_bar()
        lines = str(error).splitlines()
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        print("\n".join([*lines[:MOST_LINES], *more]), file=sys.stderr)
        return BAD_INPUT


def _keep_output() -> None:
    """Keep standard output for answers: a solver's output beside Python (HiGHS does, rarely) goes to standard error."""
    out, binary = sys.stdout, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = io.TextIOWrapper(binary, out.encoding, errors="replace", line_buffering=binary.isatty())


def _bad_input() -> tuple[type[Exception], ...]:
    """Return the errors that name what the user can put right; loaded when there is one."""
    from gpuplan.audit.trace import TraceError
    from gpuplan.catalog import CatalogError
    from gpuplan.extras import MissingExtra
    from gpuplan.scenario import ScenarioError

    return ScenarioError, CatalogError, TraceError, MissingExtra


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest word to one it does not know."""

    def error(self, message: str) -> NoReturn:
        """Report the error, and end."""
        wrong = re.search(r"(?:invalid choice|unrecognized arguments): '?([^\s']+)", message)
        super().error(message + (did_you_mean(wrong[1], self.words()) if wrong else ""))

    def words(self) -> list[str]:
        """Return options and choices; commands with theirs."""
        names: list[str] = []
        for action in self._actions:
            names += action.option_strings
            for choice in action.choices or ():
                below = action.choices[choice] if isinstance(action.choices, dict) else None
                names += [str(choice), *(below.words() if isinstance(below, Parser) else ())]
        return names


def parser(*chosen: str) -> argparse.ArgumentParser:
    """Return the parser of all commands, with options only for chosen ones, since loading them takes time."""
    whole = Parser(
        prog="gpuplan", description="Size shared-GPU clusters on vSphere, with a source behind every number."
    )
    whole.add_argument("--version", action="version", version=f"gpuplan {__version__}")
    commands = whole.add_subparsers(required=True, metavar="command")
    for name, (room, words) in COMMANDS.items():
        command = commands.add_parser(name, help=words)
        if name in chosen:
            module = import_module(f"gpuplan.{room}" if "." in room else f"gpuplan.cli.{room}")
            key = name.replace("-", "_")
            command.set_defaults(run=getattr(module, f"run_{key}"))
            _add_options(command, name)
    return whole


def _add_options(command: argparse.ArgumentParser, name: str) -> None:
    """Add the options of a command; only one of its exclusive options can be given."""
    from gpuplan.scenario import example_names

    examples, alone = ", ".join(example_names()), None
    for row in own_rows("words/options"):
        if name not in row["commands"].split():
            continue
        to: argparse._ActionsContainer = command
        if name in row["alone"].split():
            to = alone = alone or command.add_mutually_exclusive_group()
        stated: dict[str, Any] = {key: row[key] for key in ("metavar", "default") if row[key]}
        if row["choices"]:
            own = added("files") if row["option"] == "--only" else ()
            stated["choices"] = [*row["choices"].split("; "), *own]
        words = row["help"].format(examples=examples)
        to.add_argument(row["option"], help=words, **{**KINDS[row["kind"]], **stated})
