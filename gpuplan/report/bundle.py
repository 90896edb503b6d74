"""What a customer keeps of a design: every file of it, by kind."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from gpuplan.analysis.compare import THIS, compare_plans, named
from gpuplan.analysis.customer import customer_scenario
from gpuplan.plan import Plan, make_plan
from gpuplan.report.brand import PLAIN, Brand

KINDS = {
    "html": "Design document, for browser and print",
    "docx": "Editable design document (DOCX)",
    "pptx": "Editable slide deck (PPTX)",
    "xlsx": "Bill of materials and cost workbook, with live formulas (XLSX)",
    "whatif": "What-if page, for the browser",
    "yaml": "Scenario file (YAML)",
    "terraform": "Infrastructure as code (Terraform, Kubernetes)",
}
"""What there is, in the order in which it is made."""
EFFORT = {"html": 4, "docx": 3, "pptx": 2, "whatif": 5}
"""How long a kind takes, with the charts that it draws first, in parts; the others take one."""
ENDINGS = {"whatif": "-what-if.html"}
"""How the name of a file ends, where that is not its kind."""


def file_stem(name: str) -> str:
    """The beginning of file names for a design of this name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60].strip("-") or "design"


def design_files(
    plan: Plan,
    kinds: Sequence[str] = tuple(KINDS),
    *,
    beside: Sequence[Plan] = (),
    internal: bool = False,
    brand: Brand = PLAIN,
    docx_template: bytes | None = None,
    pptx_template: bytes | None = None,
    tell: Callable[[float, str], object] | None = None,
) -> dict[str, bytes]:
    """The files of a design by their paths, in the customer's version unless the internal one is asked for; its names say so.

    Documents, deck and workbook compare it with up to three designs ``beside`` it, and look as the ``brand`` says, unless a template does. ``tell`` is called before each kind, and while one takes long, with the share that is done and what comes next. A template that cannot be used is a
    `TemplateError`; without the extra ``export`` there is a `ModuleNotFoundError`.
    """
    from gpuplan.report.document import design_document
    from gpuplan.report.docx_file import docx_bytes
    from gpuplan.report.executive import executive
    from gpuplan.report.html_file import html_text
    from gpuplan.report.infrastructure import infrastructure_files
    from gpuplan.report.pptx import pptx_bytes
    from gpuplan.report.what_if import what_if, what_if_page
    from gpuplan.report.xlsx import xlsx_bytes

    mark = "-internal" if internal else ""
    stem = file_stem(plan.scenario.name) + mark
    plan = _branded(plan, brand)
    if not internal:
        plan, beside = _for_customer(plan), [_for_customer(each) for each in beside]
    compared = compare_plans([named(plan, THIS), *beside]) if beside else None
    wanted = [kind for kind in KINDS if kind in kinds]
    effort = [EFFORT.get(kind, 1) for kind in wanted]

    def told(kind: str, part: float = 0.0) -> None:
        if tell:
            at = wanted.index(kind)
            tell((sum(effort[:at]) + part * effort[at]) / sum(effort), KINDS[kind])

    summary = cache(lambda: executive(plan))
    document = cache(lambda: design_document(plan, compared, summary=summary()))
    makers: dict[str, Callable[[], bytes]] = {
        "html": lambda: html_text(document(), brand=brand).encode(),
        "docx": lambda: docx_bytes(document(), brand=brand, template=docx_template),
        "pptx": lambda: pptx_bytes(plan, summary(), compared, brand=brand, template=pptx_template),
        "xlsx": lambda: xlsx_bytes(plan, summary(), compared),
        "whatif": lambda: what_if_page(
            what_if(plan, lambda done, of: told("whatif", done / of)), brand=brand
        ).encode(),
        "yaml": lambda: plan.scenario.to_yaml().encode(),
    }
    found: dict[str, bytes] = {}
    for kind in wanted:
        told(kind)
        if kind == "terraform":
            for path, text in infrastructure_files(plan).items():
                folder, _, name = path.partition("/")
                found[f"{folder}{mark}/{name}"] = text.encode()
        else:
            found[f"{stem}{ENDINGS.get(kind, f'.{kind}')}"] = makers[kind]()
    return found


def _branded(plan: Plan, brand: Brand) -> Plan:
    """The plan in the currency and on the paper of a brand, where it states none itself."""
    scenario = brand.applied(plan.scenario)
    return plan if scenario is plan.scenario else make_plan(scenario, plan.catalog)


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
