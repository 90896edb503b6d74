"""``gpuplan inventory``: an estate as it is, from its files."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from gpuplan.audit.estate_report import Inventory, inventory_dict, inventory_text
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.hosts import HostList, existing_of
from gpuplan.audit.inventories import read_estate
from gpuplan.audit.trace import TraceError
from gpuplan.cli.options import catalog_of, path_text, print_answer, read_scenario, refusal
from gpuplan.facts import data_root, did_you_mean_file
from gpuplan.plan import make_plan
from gpuplan.wording import said


def run_inventory(args: argparse.Namespace) -> int:
    """Run ``gpuplan inventory``."""
    if args.print_collector:
        sys.stdout.write((data_root() / "collect_vcenter.ps1").read_text(encoding="utf-8"))
        return 0
    if not args.files:
        raise refusal(said("estate.no file"))
    if wrong := [text for text in args.gpu if "=" not in text]:
        raise refusal(said("audit.option.gpu"), "--gpu", wrong[0])
    catalog, models = catalog_of(args), dict(text.split("=", 1) for text in args.gpu)
    with ExitStack() as opened:
        files = []
        for path in map(Path, args.files):
            try:
                files.append((path.name, opened.enter_context(path.open("rb"))))
            except OSError as error:
                why = said("audit.option.hosts", why=error.strerror, meant=did_you_mean_file(path))
                raise refusal(why, "FILE", path_text(path)) from None
        estate = read_estate(files, catalog, models)
    try:
        hosts, plan = existing_of(estate, catalog), None
    except TraceError as error:
        hosts, plan = HostList("", (str(error),)), None
    if args.scenario:
        plan = make_plan(
            read_scenario(args.scenario).with_value("hardware.existing", hosts.existing or None), catalog
        )
    inventory = Inventory(estate, use_of(estate, catalog), hosts, catalog, plan)
    return print_answer(args, inventory_dict, inventory_text, inventory)
