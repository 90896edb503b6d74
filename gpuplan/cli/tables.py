"""``gpuplan catalog``, ``schema`` and ``calibrate``: the data that gpuplan has and accepts."""

import argparse
import json
import sys
from pathlib import Path

from gpuplan.analysis.benchmarks import read_results
from gpuplan.analysis.benchmarks.customer import calibrate, write_factors
from gpuplan.cli.options import catalog_of, path_text, print_answer, read_scenario, refusal, with_configs
from gpuplan.facts import did_you_mean
from gpuplan.plan import make_plan
from gpuplan.plan.llm.own_models import with_models
from gpuplan.report import catalog_text
from gpuplan.report.llm_report import calibrated_dict, calibrated_text
from gpuplan.scenario import from_dict, json_schema
from gpuplan.wording import said


def run_calibrate(args: argparse.Namespace) -> int:
    if not args.llm:
        raise refusal(said("terminal.file of runs"))
    design, configs, plan = getattr(args, "for"), args.model_config, None
    scenario = read_scenario(design, configs) if design else with_configs(from_dict({}), configs)
    catalog = with_models(scenario, catalog_of(args))
    if design:
        plan = make_plan(scenario, catalog)
        if not plan.llm.serving:
            raise refusal(said("terminal.no model"), "--for", path_text(Path(design)))
    found = calibrate(catalog, read_results(args.llm, catalog), plan)
    if args.fit and not any(found.own.runs.values()):
        raise refusal(said("terminal.nothing compared"), "--fit", path_text(args.fit))
    if args.fit:
        written = write_factors(args.fit, catalog, found.runs, found.own)
        print(f"Wrote {', '.join(written)} into {path_text(args.fit)}", file=sys.stderr)
    return print_answer(args, calibrated_dict, calibrated_text, found)


def run_catalog(args: argparse.Namespace) -> int:
    catalog = catalog_of(args)
    text = catalog_text(catalog, args.query)
    if not text:
        meant = did_you_mean(args.query, catalog.names())
        print(said("terminal.no match", query=repr(args.query), meant=meant), file=sys.stderr)
        return 1
    print(text, end="")
    return 0


def run_schema(args: argparse.Namespace) -> int:
    print(json.dumps(json_schema(), indent=2))
    return 0
