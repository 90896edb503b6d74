"""Demand: users and their working hours -> VMs and GPUs; ``queueing`` for wait times, ``simulation`` for what has no formula."""

from gpuplan.models.demand.users import (
    active_people,
    admitted_vms,
    group_demand_gpus,
    group_vms,
    mean_active,
    planned_demand_gpus,
    planned_requests,
    total_demand_gpus,
)
from gpuplan.models.demand.working_hours import (
    QUARTERS_PER_WEEK,
    growth_factor,
    jobs_underway,
    offered_load,
    on_duty,
    people_at_sites,
    work_rate,
)

__all__ = [
    "QUARTERS_PER_WEEK",
    "active_people",
    "admitted_vms",
    "group_demand_gpus",
    "group_vms",
    "growth_factor",
    "jobs_underway",
    "mean_active",
    "offered_load",
    "on_duty",
    "people_at_sites",
    "planned_demand_gpus",
    "planned_requests",
    "total_demand_gpus",
    "work_rate",
]
