"""``gpuplan rehearse``: upgrades host by host, restarts and a week of coming and going, as vSphere places VMs."""

from __future__ import annotations

import argparse

from gpuplan.cli.options import plan_of, print_answer, refusal, takes_file_and_json
from gpuplan.plan import Plan
from gpuplan.plan.rehearsal import Rehearsed
from gpuplan.report.rehearsal_report import (
    emptied_dict,
    emptied_text,
    rehearsal_dict,
    rehearsal_text,
    restart_dict,
    restart_text,
)
from gpuplan.report.tables.rehearsal import NOT_REHEARSED, TOO_LARGE


def rehearse_options(command: argparse.ArgumentParser) -> None:
    """Options of ``gpuplan rehearse``."""
    takes_file_and_json(command)
    one = command.add_mutually_exclusive_group()
    words = "evacuate this host only, VM by VM; CLUSTER:N where there are several clusters"
    one.add_argument("--host", metavar="N", help=words)
    words = "fail these hosts together, such as 3, 3,5 or vgpu-4:3"
    one.add_argument("--fail", metavar="N", help=words)


def run_rehearse(args: argparse.Namespace) -> int:
    """``gpuplan rehearse``."""
    plan = plan_of(args)
    if args.host is None and args.fail is None:
        return print_answer(args, rehearsal_dict, rehearsal_text, plan, plan.pools)
    option, given = ("--host", args.host) if args.host is not None else ("--fail", args.fail)
    rehearsed, hosts = _named(plan, option, given)
    if args.host is None:
        return print_answer(args, restart_dict, restart_text, plan, rehearsed, rehearsed.failed(*hosts))
    if len(hosts) > 1:
        raise refusal("one host", option, given)
    return print_answer(args, emptied_dict, emptied_text, plan, rehearsed, rehearsed.emptied(*hosts))


def _named(plan: Plan, option: str, given: str) -> tuple[Rehearsed, tuple[int, ...]]:
    """A cluster that is rehearsed and hosts of it, by what an option was given."""
    cluster, _, listed = given.rpartition(":")
    if not cluster and len(plan.pools) != 1:
        raise refusal("the id of a cluster, a colon and hosts, such as vgpu:3", option, given)
    pool = plan.pool(cluster) if cluster else plan.pools[0]
    numbers = [each.strip() for each in listed.split(",")]
    hosts = tuple(sorted({int(each) for each in numbers if each.isdecimal()}))
    if not all(each.isdecimal() for each in numbers) or not all(1 <= host <= pool.hosts for host in hosts):
        raise refusal(f"a host of the {pool.name}, 1 to {pool.hosts}", option, given)
    rehearsed = plan.rehearsed.get(pool.id)
    if rehearsed is None or rehearsed.too_large:
        raise refusal(NOT_REHEARSED if rehearsed is None else TOO_LARGE, option, given)
    return rehearsed, hosts
