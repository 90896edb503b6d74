"""Availability: failures, the remaining capacity, and the duration.

``host_counts``: spare hosts and clusters, ``outages`` and ``maintenance``: hours and chances a year, stun in vMotion;
``failover`` and ``survey``: effects of failures on a placement, ``restart``: where VMs start again, ``idle``: the rest.
"""

from gpuplan.models.availability.host_counts import (
    cluster_count,
    cluster_hosts,
    gpus_after_failure,
    gpus_without_largest,
    installed_gpus,
    spare_hosts,
    sum_over_pools,
    total_hosts,
)
from gpuplan.models.availability.maintenance import (
    exposed_hours_h,
    maintenance_chance,
    maintenance_hours_h,
    maintenance_short_h,
    mixed_exposed_hours_h,
    mixed_maintenance_chance,
    mixed_maintenance_short_h,
    stun_time_s,
    worst_stun_time_s,
)
from gpuplan.models.availability.outages import (
    HOURS_PER_YEAR,
    HostMix,
    chance_of_shortage,
    chance_over_pools,
    host_availability,
    hours_over_pools_h,
    hours_short_h,
    mixed_hours_short_h,
)

__all__ = ["HOURS_PER_YEAR", "HostMix", "chance_of_shortage", "chance_over_pools", "cluster_count"]
__all__ += ["cluster_hosts", "exposed_hours_h", "gpus_after_failure", "gpus_without_largest"]
__all__ += ["host_availability", "hours_over_pools_h", "hours_short_h", "installed_gpus"]
__all__ += ["maintenance_chance", "maintenance_hours_h", "maintenance_short_h", "mixed_exposed_hours_h"]
__all__ += ["mixed_hours_short_h", "mixed_maintenance_chance", "mixed_maintenance_short_h", "spare_hosts"]
__all__ += ["stun_time_s", "sum_over_pools", "total_hosts", "worst_stun_time_s"]
