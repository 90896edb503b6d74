"""Reports: a plan as plain data, data frames, text and explanations. The only place that rounds and formats."""

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
from gpuplan.wording import amount, basis_word, hours, money, number, percent
