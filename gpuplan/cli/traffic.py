"""``gpuplan traffic``: wait times of a language model's users when requests arrive at random."""

import argparse

from gpuplan.analysis.llm_traffic import played, traffic_of
from gpuplan.cli.options import catalog_of, print_answer, read_scenario, refusal
from gpuplan.plan import make_plan
from gpuplan.report.llm_report import traffic_dict, traffic_text
from gpuplan.wording import said


def run_traffic(args: argparse.Namespace) -> int:
    plan = make_plan(read_scenario(args.file, args.model_config), catalog_of(args))
    served = [group for group, serving in plan.llm.serving.items() if serving.replicas]
    if not served:
        raise refusal(said("terminal.LLM workload"), "file", args.file)
    groups = [traffic_of(plan, group) for group in served]
    return print_answer(args, traffic_dict, traffic_text, plan, [(of, played(of)) for of in groups])
