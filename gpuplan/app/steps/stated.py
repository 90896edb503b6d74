"""The stated total beside the need of the groups: their difference, and a way to take either."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.demand import stated_gap_gpus
from gpuplan.app.state import Workbook
from gpuplan.report import amount, number
from gpuplan.wording import whole

RULE, TOTAL = "demand.rule", "demand.stated_gpus"


def stated_data(workbook: Workbook) -> dict[str, Any] | None:
    """Return both numbers in a sentence, and the options; None without groups or without a total."""
    plan = workbook.plan
    gap, stated = stated_gap_gpus(plan), plan.scenario.demand.stated_gpus
    if gap is None or stated is None:
        return None
    total, needed = amount(stated, "GPU"), amount(whole(stated + gap), "GPU")
    by_total = plan.scenario.deciding_total_gpus is not None
    take_groups = {"at": "take-groups", "text": "Size from the groups", "path": RULE, "value": "sum"}
    if not by_total:
        take_groups |= {"text": f"Use the groups ({needed})", "path": TOTAL, "value": ""}
    take_total = {
        "at": "take-total",
        "text": f"Use the stated total ({total})",
        "path": RULE,
        "value": "stated",
    }
    text = f"The stated total is {total}; the groups need {number(whole(stated + gap))}."
    if gap == 0:
        text = f"The stated total of {total} is exactly what the groups need."
    elif by_total:
        text += f" The design provides {total}."
    else:
        text += f" The design provides {needed}."
    return {
        "text": text,
        "tone": "warn" if gap > 0 else "",
        "ways": [take_groups] if by_total or gap == 0 else [take_groups, take_total],
    }
