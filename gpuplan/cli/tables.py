"""``gpuplan catalog``, ``schema`` and ``calibrate``: the data that gpuplan has and accepts."""

from __future__ import annotations

import argparse
import json
import sys

from gpuplan.analysis.benchmarks import read_results
from gpuplan.analysis.llm_calibration import fit_own, write_own
from gpuplan.analysis.llm_predictions import predict
from gpuplan.cli.options import catalog_of, path_text, print_answer, refusal
from gpuplan.facts import did_you_mean
from gpuplan.report import catalog_text
from gpuplan.report.llm_report import llm_runs_dict, llm_runs_text
from gpuplan.scenario import json_schema
from gpuplan.wording import said


def run_calibrate(args: argparse.Namespace) -> int:
    """``gpuplan calibrate``."""
    if args.llm is None:
        raise refusal(said("terminal.file of runs"))
    catalog = catalog_of(args)
    results = read_results(args.llm, catalog)
    runs = [result.run for result in results]
    speeds = None
    if args.fit:
        speeds = fit_own(catalog, runs)
        written = write_own(args.fit, catalog, runs, speeds)
        print(f"Wrote {', '.join(written)} into {path_text(args.fit)}", file=sys.stderr)
    return print_answer(args, llm_runs_dict, llm_runs_text, predict(catalog, runs, speeds), results)


def run_catalog(args: argparse.Namespace) -> int:
    """``gpuplan catalog``."""
    catalog = catalog_of(args)
    text = catalog_text(catalog, args.query)
    if not text:
        meant = did_you_mean(args.query, catalog.names())
        print(said("terminal.no match", query=repr(args.query), meant=meant), file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def run_schema(args: argparse.Namespace) -> int:
    """``gpuplan schema``."""
    print(json.dumps(json_schema(), indent=2))
    return 0
