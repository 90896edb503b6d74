"""What an executive decides on, without the plans that alternatives and drivers take seconds for."""

from __future__ import annotations

import pytest

from gpuplan.deliver import executive as module
from gpuplan.deliver.document import Document, design_document
from gpuplan.deliver.executive import Executive, executive
from gpuplan.plan import Plan
from gpuplan.report.tables import alternatives


def summary_of(plan: Plan) -> Executive:
    """The recommendation, the money and the decisions of a plan; no alternatives, and nothing that moves the cost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "planned_alternatives", lambda plan: ())
        patch.setattr(module, "tornado", lambda plan: ())
        return executive(plan)


def brief_document(plan: Plan) -> Document:
    """The document of a plan, whose first page has no alternatives and nothing that moves the cost."""
    return design_document(plan, summary=summary_of(plan))


def document_of_one_design(plan: Plan) -> Document:
    """The same without the alternatives in the chapter about cost, each of which is a plan of the same size."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("alternatives", "alternative_words"):
            patch.setattr(alternatives, name, lambda plan: None)
        return brief_document(plan)
