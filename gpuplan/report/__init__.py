"""Reports: a plan as plain data, data frames, text and explanations. The only place that rounds and formats."""

import sys
from types import ModuleType
from typing import Any

from gpuplan.report.catalog_report import catalog_text
from gpuplan.report.explain import Explanation, explain
from gpuplan.report.explore_report import (
    beside_winner,
    boards_csv,
    boards_dict,
    boards_text,
    compare_dict,
    compare_text,
    exploration_csv,
    exploration_dict,
    exploration_text,
    sensitivity_dict,
    sensitivity_text,
)
from gpuplan.report.plan_data import plan_dict
from gpuplan.report.plan_report import failure_dict, failure_text, plan_text
from gpuplan.report.tables import group_names, idle_text, plan_frames, plan_table, plan_tables
from gpuplan.report.topic_reports import (
    cost_dict,
    cost_text,
    demand_dict,
    demand_text,
    network_dict,
    network_text,
)
from gpuplan.showing import WAYS
from gpuplan.wording import amount, basis_word, hours, money, number, percent

__all__ = ["Explanation", "amount", "basis_word", "beside_winner", "boards_csv", "boards_dict", "boards_text"]
__all__ += ["catalog_text", "compare_dict", "compare_text", "cost_dict", "cost_text", "demand_dict"]
__all__ += ["demand_text", "explain", "exploration_csv", "exploration_dict", "exploration_text"]
__all__ += ["failure_dict", "failure_text", "group_names", "hours", "idle_text", "money", "network_dict"]
__all__ += ["network_text", "number", "percent", "plan_dict", "plan_frames", "plan_table", "plan_tables"]
__all__ += ["plan_text", "sensitivity_dict", "sensitivity_text"]


class _Report(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        """``gpuplan.report(plan, to="folder")`` is the function of ``gpuplan.deliver``, which has this room's name."""
        return WAYS["report"](*args, **options)


sys.modules[__name__].__class__ = _Report
