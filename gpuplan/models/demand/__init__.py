"""Demand: users and their working hours -> VMs and GPUs.

``users`` and ``working_hours`` count; ``queueing`` (any number of users) and ``closed_groups`` (a fixed number) give
chances to wait or to be denied in closed form. Cases without a formula are simulated in ``gpuplan.simulation``.
"""

from gpuplan.models.demand.users import (
    active_people,
    admitted_vms,
    group_demand_gpus,
    group_vms,
    mean_active,
    planned_demand_gpus,
    planned_people,
    planned_requests,
    total_demand_gpus,
)
from gpuplan.models.demand.working_hours import (
    QUARTERS_PER_WEEK,
    growth_factor,
    jobs_underway,
    on_duty,
    people_at_sites,
    served_gpus,
    work_rate,
)

__all__ = ["QUARTERS_PER_WEEK", "active_people", "admitted_vms", "group_demand_gpus", "group_vms"]
__all__ += ["growth_factor", "jobs_underway", "mean_active", "on_duty", "people_at_sites"]
__all__ += ["planned_demand_gpus", "planned_people", "planned_requests", "served_gpus", "total_demand_gpus"]
__all__ += ["work_rate"]
