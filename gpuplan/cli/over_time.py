"""``gpuplan power-on`` and ``gpuplan rehearse``: VMs as vSphere places them when they start, in upgrades, after failures and through a week."""

import argparse

from gpuplan.analysis.power_on import Watched, power_on, studies_plain, thorough, watched
from gpuplan.cli.options import plan_of, print_answer, read_numbers, refusal, tell_progress
from gpuplan.plan import Plan
from gpuplan.plan.over_time.rehearsal import Rehearsed
from gpuplan.report import over_time_report as report
from gpuplan.report.tables.over_time import NOT_REHEARSED, TOO_LARGE
from gpuplan.wording import said

NAMED = ("worst", "largest", "smallest", "priority", "groups")


def run_power_on(args: argparse.Namespace) -> int:
    read_numbers(args, "--orders", "--reserve")
    if args.order not in (None, *NAMED) and not args.order.isdecimal():
        raise refusal(f"{', '.join(NAMED)}, or a number", "--order", args.order)
    settings = {
        "platform.gpu_policy": args.policy,
        "platform.vgpu_sizes": args.sizes,
        "platform.drs_consolidation": args.consolidate or None,
        "availability.reserved_hosts": args.reserve,
    }
    plan = plan_of(args, settings)
    if args.watch or args.order:
        return print_answer(args, report.watched_dict, report.watched_text, plan, _watched(plan, args))

    def tell(done: float, name: str) -> None:
        tell_progress(args, done=done, step=f"{name}: {args.orders} power-on orders")

    studies = power_on(plan, orders=args.orders, progress=tell)
    if args.progress:
        found, tried = report.power_on_dict(plan, studies), studies_plain(plan, studies)
        tell_progress(args, done=1, power_on=found, tried=tried)
        return 0
    return print_answer(args, report.power_on_dict, report.power_on_text, plan, studies)


def _watched(plan: Plan, args: argparse.Namespace) -> list[Watched]:
    orders = []
    for study in plan.power_on.values():
        study = thorough(study, args.orders)
        name = args.order or ("worst" if study.worst else "1")
        try:
            orders.append(watched(study, name))
        except ValueError as error:
            raise refusal(str(error), "--order", name) from None
    return orders


def run_rehearse(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    if args.host is None and args.fail is None:
        return print_answer(args, report.rehearsal_dict, report.rehearsal_text, plan, plan.pools)
    option, value = ("--host", args.host) if args.host is not None else ("--fail", args.fail)
    rehearsed, hosts = _named(plan, option, value)
    if args.host is None:
        failed = rehearsed.failed(*hosts)
        return print_answer(args, report.host_dict, report.restart_text, plan, rehearsed, failed)
    if len(hosts) > 1:
        raise refusal("one host", option, value)
    found = rehearsed.emptied(*hosts)
    return print_answer(args, report.host_dict, report.emptied_text, plan, rehearsed, found)


def _named(plan: Plan, option: str, given: str) -> tuple[Rehearsed, tuple[int, ...]]:
    """Return a rehearsed cluster and some of its hosts, from the value of an option."""
    cluster, _, listed = given.rpartition(":")
    if not cluster and len(plan.pools) != 1:
        raise refusal(said("terminal.cluster and hosts"), option, given)
    pool = plan.pool(cluster) if cluster else plan.pools[0]
    numbers = [part.strip() for part in listed.split(",")]
    hosts = tuple(sorted({int(part) for part in numbers if part.isdecimal()}))
    if not all(part.isdecimal() for part in numbers) or not all(1 <= host <= pool.hosts for host in hosts):
        raise refusal(said("terminal.host of", pool=pool), option, given)
    rehearsed = plan.rehearsed.get(pool.id)
    if rehearsed is None or rehearsed.too_large:
        raise refusal(NOT_REHEARSED if rehearsed is None else TOO_LARGE, option, given)
    return rehearsed, hosts
