"""``gpuplan power-on``: what becomes of the VMs as vSphere starts one after another."""

from __future__ import annotations

import argparse

from gpuplan.analysis.power_on import ORDERS, Watched, power_on, studies_plain, thorough, watched
from gpuplan.cli.options import (
    catalog_of,
    print_answer,
    read_numbers,
    read_scenario,
    refusal,
    takes_file,
    takes_json,
    takes_progress,
    tell_progress,
)
from gpuplan.plan import Plan, make_plan
from gpuplan.report.power_on_report import power_on_dict, power_on_text, watched_dict, watched_text
from gpuplan.scenario import Scenario

NAMED = ("worst", "largest", "smallest", "priority", "groups")


def power_on_options(command: argparse.ArgumentParser) -> None:
    """Options of ``gpuplan power-on``."""
    takes_file(command)
    add = command.add_argument
    add(
        "--orders",
        default=ORDERS,
        metavar="N",
        help=f"number of orders to try under each interpretation of vSphere's rules (default {ORDERS})",
    )
    add("--policy", choices=("spread", "group"), help="GPU assignment policy (default: that of the design)")
    add("--sizes", choices=("equal", "mixed"), help="one size or mixed sizes of time-sliced vGPUs on a GPU")
    add("--consolidate", action="store_true", help="DRS consolidation of vGPU VMs")
    add("--reserve", metavar="N", help="hosts of each cluster to reserve, so that no VM powers on there")
    add("--watch", action="store_true", help="print one order VM by VM, with a picture of the hosts after it")
    words = f"order to watch: {', '.join(NAMED)}, or the number of a random order (default: the worst found)"
    add("--order", metavar="ORDER", help=words)
    form = command.add_mutually_exclusive_group()
    takes_json(form)
    takes_progress(form)


def run_power_on(args: argparse.Namespace) -> int:
    """``gpuplan power-on``."""
    read_numbers(args, "--orders", "--reserve")
    if args.order not in (None, *NAMED) and not args.order.isdecimal():
        raise refusal(f"{', '.join(NAMED)}, or a number", "--order", args.order)
    plan = make_plan(_set(args, read_scenario(args.file)), catalog_of(args))
    if args.watch or args.order:
        return print_answer(args, watched_dict, watched_text, plan, _watched(plan, args))

    def tell(done: float, name: str) -> None:
        tell_progress(args, done=done, step=f"{name}: {args.orders} power-on orders")

    found = power_on(plan, orders=args.orders, progress=tell)
    if args.progress:
        tell_progress(args, done=1, power_on=power_on_dict(plan, found), tried=studies_plain(plan, found))
        return 0
    return print_answer(args, power_on_dict, power_on_text, plan, found)


def _set(args: argparse.Namespace, scenario: Scenario) -> Scenario:
    """The scenario with the settings that are given instead."""
    given = {
        "platform.gpu_policy": args.policy,
        "platform.vgpu_sizes": args.sizes,
        "platform.drs_consolidation": args.consolidate or None,
        "availability.reserved_hosts": args.reserve,
    }
    for path, value in given.items():
        if value is not None:
            scenario = scenario.with_value(path, value)
    return scenario


def _watched(plan: Plan, args: argparse.Namespace) -> list[Watched]:
    """One order of each cluster."""
    found = []
    for made in plan.power_on.values():
        made = thorough(made, args.orders)
        name = args.order or ("worst" if made.worst else "1")
        try:
            found.append(watched(made, name))
        except ValueError as error:
            raise refusal(str(error), "--order", name) from None
    return found
