"""What a customer keeps of a design: every file of it, by kind."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from gpuplan.analysis.compare import THIS, compare_plans, named
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.customer import customer_scenario

KINDS = {
    "html": "Design document, for the browser and for print",
    "docx": "Design document, to edit (DOCX)",
    "pptx": "Slide deck, to edit (PPTX)",
    "xlsx": "Bill of materials and calculation, with live formulas (XLSX)",
    "yaml": "Scenario, to open again",
    "terraform": "Terraform for the vSphere provider",
}
"""What there is, in the order in which it is made."""


def file_stem(name: str) -> str:
    """The beginning of file names for a design of this name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60].strip("-") or "design"


def design_files(
    plan: Plan,
    kinds: Sequence[str] = tuple(KINDS),
    *,
    beside: Sequence[Plan] = (),
    internal: bool = False,
    docx_template: bytes | None = None,
    pptx_template: bytes | None = None,
    tell: Callable[[float, str], object] | None = None,
) -> dict[str, bytes]:
    """The files of a design by their paths, in the customer's version unless the internal one is asked for; its names say so.

    Documents, deck and workbook compare it with up to three designs ``beside`` it. ``tell`` is called before each kind with the share that is done and what comes next. A template that cannot be used is a
    `TemplateError`; without the extra ``export`` there is a `ModuleNotFoundError`.
    """
    from gpuplan.report.document import design_document
    from gpuplan.report.docx_file import docx_bytes
    from gpuplan.report.html_file import html_text
    from gpuplan.report.pptx import pptx_bytes
    from gpuplan.report.terraform import terraform_files
    from gpuplan.report.xlsx import xlsx_bytes

    mark = "-internal" if internal else ""
    stem = file_stem(plan.scenario.name) + mark
    if not internal:
        plan, beside = _for_customer(plan), [_for_customer(each) for each in beside]
    compared = compare_plans([named(plan, THIS), *beside]) if beside else None
    document = cache(lambda: design_document(plan, compared))
    makers: dict[str, Callable[[], bytes]] = {
        "html": lambda: html_text(document()).encode(),
        "docx": lambda: docx_bytes(document(), template=docx_template),
        "pptx": lambda: pptx_bytes(plan, compared, template=pptx_template),
        "xlsx": lambda: xlsx_bytes(plan, compared),
        "yaml": lambda: plan.scenario.to_yaml().encode(),
    }
    found: dict[str, bytes] = {}
    wanted = [kind for kind in KINDS if kind in kinds]
    for done, kind in enumerate(wanted):
        if tell:
            tell(done / len(wanted), KINDS[kind])
        if kind == "terraform":
            files = terraform_files(plan)
            found |= {f"terraform{mark}/{name}": text.encode() for name, text in files.items()}
        else:
            found[f"{stem}.{kind}"] = makers[kind]()
    return found


def _for_customer(plan: Plan) -> Plan:
    """The plan of the customer's version."""
    scenario = customer_scenario(plan.scenario, plan.catalog)
    return plan if scenario is plan.scenario else make_plan(scenario, plan.catalog)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files as one ZIP, the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)  # of 1980-01-01
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()
