"""``gpuplan audit``: how GPUs are used today; ``inventory``: an estate as it is, and ``drift``: its differences from a design."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from gpuplan.analysis.llm_traffic import replayed, traffic_of
from gpuplan.audit import (
    Audit,
    Comparison,
    Jobs,
    Requests,
    Samples,
    audit,
    compare,
    cut_days,
    read_hosts,
    read_trace,
    serving_scenario,
    suggest_groups,
    suggest_serving,
    suggested_scenario,
)
from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import drift_dict, drift_text, told_of
from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_report import Inventory, inventory_dict, inventory_text
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.inventories import HostList, existing_of, read_estate
from gpuplan.audit.matching import design_of
from gpuplan.audit.report import Findings, audit_dict, audit_text
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
    tell_progress,
)
from gpuplan.facts import data_root, did_you_mean, did_you_mean_file
from gpuplan.plan import make_plan
from gpuplan.plan.llm import SERVING, uses_model
from gpuplan.scenario import Scenario, from_dict, show, shown_name
from gpuplan.wording import said


def run_audit(args: argparse.Namespace) -> int:
    """Run ``gpuplan audit``."""
    read_numbers(args, "--installed", "--largest", "--skip", "--wait-min", "--share")
    catalog = catalog_of(args)
    target = read_scenario(args.on) if args.on else None
    base = read_scenario(args.base) if args.base else target or from_dict({})
    base, left_out_hosts = _with_hosts(base, catalog, args)
    name = shown_name(args.name or args.file.name)
    tell_progress(args, step=said("audit.step.read", name=name))
    trace = _trace(args)
    tell_progress(args, step=said("audit.step.count"))
    try:
        result = audit(trace, time_zone=args.time_zone, installed_gpus=args.installed, skip_share=args.skip)
    except ValueError as error:
        raise refusal(said("audit.cannot", name=name, error=error)) from None
    result = replace(result, notes=(*result.notes, *left_out_hosts))
    if isinstance(trace, Requests):
        return _run_requests(args, catalog, trace, result, base, target)
    suggestions = suggest_groups(result, gpus_per_host=base.hardware.gpus_per_host)
    scenario, why = None, said("audit.samples without jobs")
    if suggestions:
        try:
            scenario = suggested_scenario(base, result, suggestions, name)
        except ValueError as error:
            suggestions, why = (), str(error)
            result = replace(result, notes=(*result.notes, said("audit.note.no groups", why=why)))
    comparison, left_out = None, 0
    if target and not isinstance(trace, Jobs):
        raise refusal(said("audit.only jobs"), "--on", args.on)
    if args.scenario:
        _write(args.scenario, scenario, why)
    if target and isinstance(trace, Jobs):
        comparison, left_out = _replayed(trace, target, catalog, args)
    return _print(args, Findings(result, suggestions, comparison, left_out), scenario)


def _print(args: argparse.Namespace, findings: Findings, made: Scenario | None) -> int:
    """Print the findings of an audit; the last line of its progress also has the scenario made from it."""
    if args.progress:
        tell_progress(args, audit=audit_dict(findings), scenario=made.to_dict() if made else None)
        return 0
    return print_answer(args, audit_dict, audit_text, findings)


def _run_requests(
    args: argparse.Namespace,
    catalog: Catalog,
    trace: Requests,
    found: Audit,
    base: Scenario,
    target: Scenario | None,
) -> int:
    if args.model and args.model not in {row.id for row in catalog.rows("llm_models")}:
        meant = did_you_mean(args.model, [row.id for row in catalog.rows("llm_models")])
        raise refusal(said("audit.option.model", meant=meant), "--model", show(args.model))
    serving = suggest_serving(found)
    scenario = serving_scenario(base, serving, shown_name(args.name or args.file.name), args.model)
    if args.scenario:
        _write(args.scenario, scenario, "")
    replay = None
    if target:
        has_model = any(uses_model(group) for group in target.groups if group.use_case == SERVING)
        plan = make_plan(target if has_model and not args.model else scenario, catalog)
        if not plan.llm.serving:
            raise refusal(said("audit.option.on"), "--on", args.on)
        tell_progress(args, step=said("audit.step.replay"))
        of = traffic_of(plan, next(iter(plan.llm.serving)))
        replay = (of, replayed(of, trace.time_s, trace.tokens_in, trace.tokens_out))
    return _print(args, Findings(found, serving=serving, replay=replay), scenario)


def _with_hosts(
    base: Scenario, catalog: Catalog, args: argparse.Namespace
) -> tuple[Scenario, tuple[str, ...]]:
    if not args.hosts:
        return base, ()
    if wrong := [text for text in args.gpu if "=" not in text]:
        raise refusal(said("audit.option.gpu"), "--gpu", wrong[0])
    try:
        hosts = read_hosts(args.hosts, catalog, dict(text.split("=", 1) for text in args.gpu))
    except OSError as error:
        allowed = said("audit.option.hosts", why=error.strerror, meant=did_you_mean_file(args.hosts))
        raise refusal(allowed, "--hosts", path_text(args.hosts)) from None
    kept = base.with_value("hardware.existing", hosts.existing or None)
    notes = {"audit.note.hosts left out": hosts.left_out, "audit.note.hosts unread": hosts.unread}
    left = (said(key, names="; ".join(names)) for key, names in notes.items() if names)
    return kept, (*left, *hosts.notes)


def _write(path: Path, scenario: Scenario | None, why: str) -> None:
    """Write the scenario that an audit suggests, or say why it suggests none."""
    if scenario is None:
        raise refusal(why, "--scenario", path_text(path))
    try:
        path.write_text(scenario.to_yaml(), encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refusal(said("audit.option.scenario", why=reason), "--scenario", path_text(path)) from None


def _trace(args: argparse.Namespace) -> Jobs | Samples | Requests:
    """Read the jobs, samples or requests of the file; without named groups each user is one."""
    wrong = [text for text in args.column if "=" not in text]
    if wrong:
        raise refusal(said("audit.option.column"), "--column", wrong[0])
    columns = dict(text.split("=", 1) for text in args.column)
    trace = read_trace(args.file, format=args.format, columns=columns or None, time_zone=args.time_zone)
    if isinstance(trace, Jobs) and trace.users and "group" not in trace.reading.columns:
        read, none = trace.reading, said("audit.note.no group of jobs")
        named = {"group": read.columns["user"], **read.columns}
        read = replace(read, columns=named, notes=tuple(note for note in read.notes if note != none))
        trace = replace(trace, group=trace.user, groups=trace.user_names, reading=read)
    trace = cut_days(trace, first_day=args.first_day, last_day=args.last_day, time_zone=args.time_zone)
    if args.largest is not None and isinstance(trace, Jobs):
        trace = trace.where(trace.gpus <= args.largest)
        if not len(trace.gpus):
            raise refusal(said("audit.option.largest"), "--largest", show(args.largest))
    return trace


def _replayed(
    jobs: Jobs, target: Scenario, catalog: Catalog, args: argparse.Namespace
) -> tuple[Comparison, int]:
    """Return (jobs replayed on a scenario's hosts, jobs left out because they need more than all hosts have)."""
    demand = target.demand
    rooms = [room.gpus for pool in make_plan(target, catalog).pools for room in pool.rooms]
    fits = jobs.gpus <= sum(rooms)
    if not fits.any():
        smallest = f"{jobs.gpus.min():g}"
        raise refusal(said("audit.option.no room", gpus=sum(rooms), smallest=smallest), "--on", args.on)
    try:
        comparison = compare(
            jobs.where(fits),
            hosts=rooms,
            policy=target.platform.assignment,
            wait_limit_h=(demand.wait_min if args.wait_min is None else args.wait_min) / 60,
            share=demand.chance if args.share is None else args.share,
            progress=lambda what: tell_progress(args, step=what),
        )
    except ValueError as error:
        raise refusal(said("audit.cannot replay", error=error)) from None
    return comparison, int((~fits).sum())


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
