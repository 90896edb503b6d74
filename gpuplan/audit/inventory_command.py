"""``gpuplan inventory`` and ``gpuplan drift``: an estate as it is, from its files, and what differs from a design."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import drift_dict, drift_text, told_of
from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_report import Inventory, inventory_dict, inventory_text
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.hosts import HostList, existing_of
from gpuplan.audit.inventories import read_estate
from gpuplan.audit.planned import design_of
from gpuplan.audit.right_sizes import right_sizes
from gpuplan.audit.trace import TraceError
from gpuplan.catalog import Catalog
from gpuplan.cli.options import (
    catalog_of,
    path_text,
    plan_of,
    print_answer,
    read_numbers,
    read_scenario,
    refusal,
)
from gpuplan.facts import data_root, did_you_mean_file
from gpuplan.plan import make_plan
from gpuplan.wording import said


def run_inventory(args: argparse.Namespace) -> int:
    """Run ``gpuplan inventory``."""
    if args.print_collector:
        sys.stdout.write((data_root() / "collect_vcenter.ps1").read_text(encoding="utf-8"))
        return 0
    read_numbers(args, "--headroom")
    catalog = catalog_of(args)
    estate = _estate_of(args, catalog)
    try:
        hosts, plan = existing_of(estate, catalog), None
    except TraceError as error:
        hosts, plan = HostList("", (str(error),)), None
    if args.scenario:
        scenario = read_scenario(args.scenario).with_value("hardware.existing", hosts.existing or None)
        plan = make_plan(scenario, catalog)
    stated = plan and plan.scenario.hardware.vcpus_per_core
    per_core = {host.cluster or "": stated for host in estate.hosts if stated}
    use = use_of(estate, catalog, per_core)
    with _opened(args.use, "--use") as logs:
        sizes = right_sizes(logs, estate, use, catalog, args.headroom) if logs else None
    inventory = Inventory(estate, use, hosts, catalog, plan, sizes)
    return print_answer(args, inventory_dict, inventory_text, inventory)


def run_drift(args: argparse.Namespace) -> int:
    """Run ``gpuplan drift``."""
    plan = plan_of(args)
    design, pools = design_of(plan), [pool.id for pool in plan.pools]
    stated = dict(text.rpartition("=")[::2] for text in args.match)
    for pattern, group in stated.items():
        if not pattern or group not in (*design.groups, *pools):
            known = said("drift.match", groups=list(design.groups), pools=pools)
            raise refusal(known, "--match", f"{pattern}={group}")
    told = told_of(drift_of(design, _estate_of(args, plan.catalog), stated))
    return print_answer(args, drift_dict, drift_text, told)


def _estate_of(args: argparse.Namespace, catalog: Catalog) -> Estate:
    """Return the estate of the named files."""
    if not args.files:
        raise refusal(said("estate.no file"))
    if wrong := [text for text in args.gpu if "=" not in text]:
        raise refusal(said("audit.option.gpu"), "--gpu", wrong[0])
    models = dict(text.split("=", 1) for text in args.gpu)
    with _opened(args.files, "FILE") as files:
        return read_estate(files, catalog, models)


@contextmanager
def _opened(paths: Sequence[str], option: str) -> Iterator[list[tuple[str, BinaryIO]]]:
    """Open the named files, each with its name."""
    with ExitStack() as opened:
        files: list[tuple[str, BinaryIO]] = []
        for path in map(Path, paths):
            try:
                files.append((path.name, opened.enter_context(path.open("rb"))))
            except OSError as error:
                why = said("audit.option.hosts", why=error.strerror, meant=did_you_mean_file(path))
                raise refusal(why, option, path_text(path)) from None
        yield files
