"""``gpuplan catalog``, ``schema`` and ``calibrate``: what gpuplan knows and accepts."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gpuplan.analysis.llm_calibration import BY, left_out
from gpuplan.analysis.llm_files import fit_own, read_runs, write_own
from gpuplan.analysis.llm_memory_runs import kept
from gpuplan.analysis.llm_runs import predict, runs_of
from gpuplan.cli.options import catalog_of, path_text, print_answer, refusal, takes_json
from gpuplan.facts import did_you_mean
from gpuplan.report import calibration_dict, calibration_text, catalog_text
from gpuplan.report.llm_report import llm_errors_text, llm_runs_dict, llm_runs_text
from gpuplan.scenario import json_schema

MOVED = 1
"""A fit gives other parameters than the catalog holds."""


def calibrate_options(command: argparse.ArgumentParser) -> None:
    """Options of ``gpuplan calibrate``."""
    words = "compare language model runs with the prediction: your own CSV, or the published runs"
    command.add_argument("--llm", metavar="FILE", nargs="?", const="", help=words)
    words = "refit with these runs and write runs and fit into this catalog folder; needs --llm FILE"
    command.add_argument("--fit", type=Path, metavar="FOLDER", help=words)
    words = "predict the published runs of each board or model from a fit on all others; needs --llm"
    command.add_argument("--left-out", choices=tuple(BY), help=words)
    takes_json(command)


def run_calibrate(args: argparse.Namespace) -> int:
    """``gpuplan calibrate``."""
    if args.llm is not None:
        return _calibrate_llm(args)
    if args.fit or args.left_out:
        raise refusal("needs --llm", "--fit" if args.fit else "--left-out", str(args.fit or args.left_out))
    found = calibration_dict(catalog_of(args))
    print_answer(args, dict, calibration_text, found)
    return MOVED if found["moved"] else 0


def _calibrate_llm(args: argparse.Namespace) -> int:
    """Runs of language models beside their predictions."""
    catalog = catalog_of(args)
    if args.left_out:
        others = [p for _, _, said in left_out(catalog, args.left_out) for p in said]
        return print_answer(args, llm_runs_dict, llm_errors_text, others)
    own = read_runs(Path(args.llm)) if args.llm else ()
    speeds = None
    if args.fit:
        if not own:
            raise refusal("needs a file of runs after --llm", "--fit", str(args.fit))
        speeds = fit_own(catalog, own)
        written = write_own(args.fit, catalog, own, speeds)
        print(f"Wrote {', '.join(written)} into {path_text(args.fit)}", file=sys.stderr)
    found = predict(catalog, own or runs_of(catalog), speeds)
    return print_answer(args, llm_runs_dict, llm_runs_text, found, () if own else kept(catalog))


def catalog_options(command: argparse.ArgumentParser) -> None:
    """Options of ``gpuplan catalog``."""
    command.add_argument("query", nargs="?", default="", help="a table, an id, or a word to search for")


def run_catalog(args: argparse.Namespace) -> int:
    """``gpuplan catalog``."""
    catalog = catalog_of(args)
    text = catalog_text(catalog, args.query)
    if not text:
        meant = did_you_mean(args.query, catalog.names())
        print(f"Nothing in the catalog matches {args.query!r}{meant}", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def schema_options(command: argparse.ArgumentParser) -> None:
    """It takes none."""


def run_schema(args: argparse.Namespace) -> int:
    """``gpuplan schema``."""
    print(json.dumps(json_schema(), indent=2))
    return 0
