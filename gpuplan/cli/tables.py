"""``gpuplan catalog``, ``schema`` and ``calibrate``: what gpuplan knows and accepts."""

from __future__ import annotations

import argparse
import json
import sys

from gpuplan.cli.options import catalog_of, print_answer, takes_json
from gpuplan.facts import did_you_mean
from gpuplan.report import calibration_dict, calibration_text, catalog_text
from gpuplan.scenario import json_schema

MOVED = 1
"""A fit gives other parameters than the catalog holds."""

calibrate_options = takes_json


def run_calibrate(args: argparse.Namespace) -> int:
    """``gpuplan calibrate``."""
    found = calibration_dict(catalog_of(args))
    print_answer(args, dict, calibration_text, found)
    return MOVED if found["moved"] else 0


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
