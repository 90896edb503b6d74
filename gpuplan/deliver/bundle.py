"""The customer's files of a design, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuplan.analysis.compare import THIS, Comparison, compare_plans, named
from gpuplan.analysis.customer import customer_scenario
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.office import packed_parts
from gpuplan.deliver.pdf import PdfError, has_office, pdf_of
from gpuplan.extensions import added
from gpuplan.extras import needs_extra
from gpuplan.facts import did_you_mean
from gpuplan.plan import Asked, Plan, planned
from gpuplan.plan.prices import document_day
from gpuplan.scenario import Problem, Scenario, ScenarioError, show
from gpuplan.scenario.problems import refusal
from gpuplan.wording import NAMES, said

if TYPE_CHECKING:
    from gpuplan.deliver.document import Document
    from gpuplan.deliver.executive import Executive

KINDS = {**NAMES["kind of file"], **{kind: kind for kind in added("files")}}
"""Available kinds of files, in the order in which they are made; last those of other authors' packages, by the ends of their names."""
EFFORT = {"html": 4, "docx": 3, "pptx": 2, "pdf": 5, "whatif": 5}
"""Relative duration of a kind, including the charts that it draws first; the others take 1."""
ENDINGS = {"brief": "-brief.docx", "whatif": "-what-if.html"}
"""File name endings that differ from the kind."""
PRINTED = {"docx": ".pdf", "brief": "-brief.pdf", "pptx": "-slides.pdf"}
"""Kind of file -> ending of its PDF."""


def kinds_made_here() -> tuple[str, ...]:
    """Kinds of files that this machine can make: PDFs only with LibreOffice."""
    return tuple(kind for kind in KINDS if kind != "pdf" or has_office())


def file_stem(name: str) -> str:
    """The beginning of file names for a design of this name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60].strip("-") or "design"


@needs_extra("export")
def design_files(
    plan: Plan,
    kinds: Sequence[str] | None = None,
    *,
    beside: Sequence[Plan] = (),
    solution: Mapping[str, Any] | None = None,
    boards: Mapping[str, Any] | None = None,
    internal: bool = False,
    brand: Brand = PLAIN,
    docx_template: bytes | None = None,
    pptx_template: bytes | None = None,
    tell: Callable[[float, str], object] | None = None,
    missed: Callable[[str], object] | None = None,
) -> dict[str, bytes]:
    """Return the files of a design by their paths, in the customer's version unless ``internal``; their names say so.

    ``kinds`` are keys of `KINDS`, such as ``pdf``; another one is a `ScenarioError`. Without them these are all; PDFs that cannot be made are then left out, and ``missed`` is called with the reason. A kind that was asked for is a `PdfError` instead. Documents, deck and workbook compare it with up to three designs ``beside`` it, tell the ``solution`` for its limits and the ``boards`` compared by the same work, as ``solution_dict`` and ``boards_dict`` give them, and look as the ``brand`` says, unless a template does. ``tell`` is called before each kind, and while one takes long, with the share that is done and what comes next. A template that cannot be used is a
    `TemplateError`; without the extra ``export`` there is a `MissingExtra`.
    """
    wanted = _wanted(kinds)
    mark = "-internal" if internal else ""
    stem = file_stem(plan.scenario.name) + mark
    plan = _planned(plan, brand.applied(plan.scenario))
    if not internal:
        plan, beside = _for_customer(plan), [_for_customer(other) for other in beside]
    compared = compare_plans([named(plan, THIS), *beside]) if beside else None
    effort = [EFFORT.get(kind, 1) for kind in wanted]

    def told(kind: str, part: float = 0.0) -> None:
        if tell:
            at = wanted.index(kind)
            tell((sum(effort[:at]) + part * effort[at]) / sum(effort), KINDS[kind])

    found = {"solution": solution, "boards": boards}
    printed = tuple(PRINTED) if "pdf" in wanted else ("docx",)
    files = _Files(
        plan, compared, found, brand, printed, docx_template, pptx_template, partial(told, "whatif")
    )
    contents: dict[str, bytes] = {}
    for kind in wanted:
        told(kind)
        try:
            contents |= _by_path(files, kind, stem, mark)
        except PdfError as error:
            if kind != "pdf" or kinds is not None:
                raise
            if missed:
                missed(str(error))
    return contents


def _wanted(kinds: Sequence[str] | None) -> list[str]:
    """Return the kinds of files that are asked for, all for None, in the order in which they are made."""
    if unknown := [kind for kind in kinds or () if kind not in KINDS]:
        one_of = said("file.one of", names=", ".join(KINDS))
        meant = (Problem("kind of file", show(kind), one_of + did_you_mean(kind, KINDS)) for kind in unknown)
        raise ScenarioError(meant)
    return [kind for kind in KINDS if kinds is None or kind in kinds]


def report(
    design: Asked, *, to: str | Path, only: Sequence[str] | None = None, internal: bool = False
) -> list[Path]:
    """Write the files of a design into a folder, all or those of ``only`` such as ``["pdf", "pptx"]``, and return their paths."""
    return written(design_files(planned(design), only, internal=internal), Path(to))


def written(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Write files by their paths in a folder, which is made where there is none, and return where they are."""
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise refusal(f"cannot write {path}: {error.strerror}") from None
    return [folder / name for name in files]


def _by_path(files: _Files, kind: str, stem: str, mark: str) -> dict[str, bytes]:
    """The files of a kind by their paths."""
    if kind == "pdf":
        return {stem + PRINTED[each]: content for each, content in files.pdf.items()}
    if kind in added("files"):
        return {f"{stem}-{kind}": added("files")[kind](files.plan)}
    if kind != "terraform":
        return {f"{stem}{ENDINGS.get(kind, f'.{kind}')}": getattr(files, kind)}
    parted = ((path.partition("/"), content) for path, content in files.terraform.items())
    return {f"{folder}{mark}/{name}": content for (folder, _, name), content in parted}


@dataclass(frozen=True)
class _Files:
    """Makes each kind of file of a design; the code for a kind is imported on use."""

    plan: Plan
    compared: Comparison | None
    found: Mapping[str, Any]
    """What was found before, by its field of the summary."""
    brand: Brand
    printed: Sequence[str]
    """Kinds of files to print as PDF."""
    docx_template: bytes | None
    pptx_template: bytes | None
    tell: Callable[[float], object]
    """Receives the share of the what-if page that is done."""

    @cached_property
    def summary(self) -> Executive:
        """Summary at the beginning of documents, deck and workbook."""
        from gpuplan.deliver.executive import executive

        return replace(executive(self.plan), **self.found)

    @cached_property
    def document(self) -> Document:
        from gpuplan.deliver.document import design_document

        return design_document(self.plan, self.compared, summary=self.summary)

    @cached_property
    def html(self) -> bytes:
        from gpuplan.deliver.document.html_file import html_text

        return html_text(self.document, brand=self.brand).encode()

    @cached_property
    def docx(self) -> bytes:
        """The document, with the page numbers of its PDF where that can be made."""
        from gpuplan.deliver.document.docx_file import heading_pages

        try:
            return self._docx(heading_pages(self.pdf["docx"]))
        except PdfError:
            return self._docx({})

    def _docx(self, pages: Mapping[str, int]) -> bytes:
        from gpuplan.deliver.document.docx_file import docx_bytes

        return docx_bytes(self.document, brand=self.brand, template=self.docx_template, pages=pages)

    @cached_property
    def brief(self) -> bytes:
        from gpuplan.deliver.document.docx_file import docx_bytes
        from gpuplan.deliver.document.one_page import executive_brief

        brief = executive_brief(self.plan, self.summary, font=self.brand.text)
        return docx_bytes(brief, brand=self.brand)

    @cached_property
    def pptx(self) -> bytes:
        from gpuplan.deliver.pptx import pptx_bytes

        template = self.pptx_template
        return pptx_bytes(self.plan, self.summary, self.compared, brand=self.brand, template=template)

    @cached_property
    def xlsx(self) -> bytes:
        from gpuplan.deliver.xlsx import xlsx_bytes

        return xlsx_bytes(self.plan, self.summary, self.compared, brand=self.brand)

    @cached_property
    def whatif(self) -> bytes:
        from gpuplan.deliver.what_if import what_if, what_if_page

        answers = what_if(self.plan, lambda done, of: self.tell(done / of))
        return what_if_page(answers, brand=self.brand).encode()

    @cached_property
    def yaml(self) -> bytes:
        """The scenario, as vSphere is set up."""
        return self.plan.set_up.to_yaml().encode()

    @cached_property
    def pdf(self) -> dict[str, bytes]:
        """Kind of file -> its PDF, all by one run of LibreOffice."""
        from gpuplan.deliver.document.docx_file import FIRST_PAGES

        files = {"docx": self._docx(FIRST_PAGES)} if "docx" in self.printed else {}
        files |= {kind: getattr(self, kind) for kind in self.printed if kind != "docx"}
        day = document_day(self.plan.scenario, self.plan.catalog)
        pdfs = pdf_of(
            {f"{kind}.{'pptx' if kind == 'pptx' else 'docx'}": content for kind, content in files.items()},
            day=day,
        )
        return dict(zip(files, pdfs.values(), strict=True))

    @cached_property
    def terraform(self) -> dict[str, bytes]:
        """Path -> file of the infrastructure code."""
        from gpuplan.deliver.infrastructure import infrastructure_files

        return {path: text.encode() for path, text in infrastructure_files(self.plan).items()}


def _planned(plan: Plan, scenario: Scenario) -> Plan:
    """Return the plan of a scenario: the same where it is the plan's own."""
    return plan if scenario is plan.scenario else plan.with_scenario(scenario)


def _for_customer(plan: Plan) -> Plan:
    return _planned(plan, customer_scenario(plan.scenario, plan.catalog))


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files as one ZIP, the same bytes for the same files."""
    return packed_parts(dict(sorted(files.items())), mode=0o644)
