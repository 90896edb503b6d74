"""``gpuplan report`` and ``validate``: the files that a customer keeps."""

import argparse
import base64
import json
import sys
from pathlib import Path
from typing import Any

from gpuplan.analysis.compare import MOST
from gpuplan.analysis.same_work import same_work
from gpuplan.analysis.solve import frontier, quantity_of, solve
from gpuplan.analysis.variants import changed_inputs
from gpuplan.cli.options import (
    catalog_of,
    path_text,
    plan_of,
    read_scenario,
    refusal,
    tell_progress,
    with_configs,
)
from gpuplan.cli.terminal import clear_bar, show_bar
from gpuplan.deliver import KINDS, design_files, written, zipped
from gpuplan.deliver.brand import PLAIN, Brand, load_brand
from gpuplan.deliver.template import left_out_text, read_template
from gpuplan.deliver.untrusted import TemplateError
from gpuplan.facts import did_you_mean_file
from gpuplan.locales import SPOKEN, locale_of
from gpuplan.plan import Plan, make_plan
from gpuplan.report.explore_report import boards_dict
from gpuplan.report.solve_report import solution_dict
from gpuplan.scenario import BETWEEN, MAX_FILE_BYTES, decode_scenario, load_scenario, one_line
from gpuplan.wording import said

SOLVED = {"quantity", "best", "binding", "designs", "frontier", "missed", "clash"}
"""Keys of a solution."""


def run_report(args: argparse.Namespace) -> int:
    if not args.progress:
        show_bar(said("terminal.planning"))
    plan, beside, solution = _designs(args)
    brand = load_brand(args.brand) if args.brand else PLAIN
    solution = solution or _solved(args, plan, brand)
    boards = _compared(args, plan, brand)
    docx_template, pptx_template = (_template(args, kind) for kind in ("docx", "pptx"))
    missed = list[str]()
    try:
        files = design_files(
            plan,
            args.only or None,
            beside=beside,
            solution=solution,
            boards=boards,
            internal=args.internal,
            brand=brand,
            tell=lambda done, step: tell_progress(args, done=done, step=step),
            docx_template=docx_template,
            pptx_template=pptx_template,
            missed=missed.append,
        )
    except ValueError as error:
        raise refusal(said("terminal.no files", why=error)) from None
    if args.progress and args.to == Path("-"):
        texts = {name: base64.b64encode(data).decode() for name, data in files.items()}
        tell_progress(args, done=1, files=texts)
        return 0
    paths = written(files, args.to)
    if args.progress:
        tell_progress(args, done=1, files=sorted(files))
    else:
        clear_bar()
        print(*paths, sep="\n")
    for why in missed:
        print(said("terminal.without", kind=KINDS["pdf"], why=why), file=sys.stderr)
    return 0


def run_validate(args: argparse.Namespace) -> int:
    from gpuplan.deliver.validation import kit_files

    plan = plan_of(args)
    if not plan.llm.serving:
        raise refusal(said("terminal.no model"), "file", one_line(args.file))
    try:
        args.to.write_bytes(zipped(kit_files(plan, args.engine)))
    except OSError as error:
        raise refusal(said("kit.no file", path=path_text(args.to), why=error.strerror)) from None
    print(args.to)
    return 0


def run_site(args: argparse.Namespace) -> int:
    from gpuplan.report.typed_site import with_typed

    scenario, file = read_scenario(getattr(args, "for")), path_text(args.workbook)
    plan = make_plan(scenario, catalog_of(args))
    try:
        with args.workbook.open("rb") as content:
            typed = make_plan(with_typed(content, plan, scenario), plan.catalog).scenario
    except OSError as error:
        raise refusal(said("file.unreadable", path=file, why=error.strerror, meant="")) from None
    if args.to is None:
        print(typed.to_yaml(), end="")
    else:
        try:
            args.to.write_text(typed.to_yaml(), encoding="utf-8")
        except OSError as error:
            raise refusal(said("kit.no file", path=path_text(args.to), why=error.strerror)) from None
    cells = len(list(changed_inputs([scenario, typed])))
    print(said("site.taken", cells=cells, file=file), file=sys.stderr)
    return 0


def _solved(args: argparse.Namespace, plan: Plan, brand: Brand) -> dict[str, Any] | None:
    """Find the best design within the limits, and what each budget buys; None where it is not asked for."""
    if not args.solve:
        return None
    folders, asked = (args.catalog,) if args.catalog else (), brand.applied(plan.scenario)
    most = quantity_of(asked, args.solve).most
    sense = {"maximise" if most else "minimise": args.solve}
    found = solve(asked, plan.catalog, folders=folders, **sense)
    curve = None
    if most and found.best:
        steps = found.best.steps
        curve = frontier(asked, plan.catalog, maximise=args.solve, most=steps, folders=folders)
    return solution_dict(found, curve)


def _compared(args: argparse.Namespace, plan: Plan, brand: Brand) -> dict[str, Any] | None:
    """Compare boards by the same work; None where it is not asked for."""
    asked = brand.applied(plan.scenario)
    return boards_dict(same_work(asked, plan.catalog), asked) if args.boards else None


def _read_solution(args: argparse.Namespace, given: bytes) -> dict[str, Any] | None:
    """Read an answer of ``gpuplan solve --json``."""
    if not args.solution:
        return None
    try:
        found = json.loads(given if args.solution == "-" else Path(args.solution).read_bytes())
    except (OSError, ValueError) as error:
        raise refusal(str(error), "--solution", args.solution) from None
    if not isinstance(found, dict) or not found.keys() >= SOLVED:
        raise refusal(said("terminal.no solution"), "--solution", args.solution)
    return found


def _designs(args: argparse.Namespace) -> tuple[Plan, list[Plan], dict[str, Any] | None]:
    """Return the design, those to compare it with, from files and as they follow it in the input, and its solution."""
    catalog = catalog_of(args)
    more, given = list[bytes](), b""
    if args.file == "-":
        first, *more = sys.stdin.buffer.read(MOST * MAX_FILE_BYTES).split(f"\n{BETWEEN}".encode())
        given = more.pop() if more and args.solution == "-" else b""
        scenario = decode_scenario(first)
    else:
        scenario = load_scenario(args.file)
    SPOKEN.set(locale_of(scenario))
    beside = [*map(decode_scenario, more), *map(load_scenario, args.beside)]
    if len(beside) >= MOST:
        raise refusal(f"at most {MOST - 1} designs", "--beside", str(len(beside)))
    designs = [with_configs(design, args.model_config) for design in (scenario, *beside)]
    plan, *others = (make_plan(design, catalog) for design in designs)
    return plan, others, _read_solution(args, given)


def _template(args: argparse.Namespace, kind: str) -> bytes | None:
    """Return the user's template, if there is one; report the parts left out."""
    path: Path | None = getattr(args, f"{kind}_template")
    if path is None:
        return None
    try:
        checked = read_template(path, kind)
    except OSError as error:
        meant = did_you_mean_file(path)
        raise refusal(f"cannot read {path_text(path)}: {error.strerror}{meant}") from None
    except TemplateError as error:
        raise refusal(f"{path_text(path)} was not used: {error}") from None
    if checked.left_out:
        print(f"{path_text(path)} is used. {left_out_text(checked.left_out)}", file=sys.stderr)
    return checked.file
