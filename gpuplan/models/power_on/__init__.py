"""Power-on: VMs placed as vSphere does it, one after another and never rearranged.

``placement`` proves the best arrangement; here is the usual one. ``gpu_states`` knows the rules of one GPU, ``Cluster``
starts and stops one VM after another by them, ``power_on_orders`` tries thousands of orders at once; ``rehearsal``
empties hosts for an upgrade and lets them fail, ``week`` shows the effect of starts and stops.
"""

from gpuplan.models.power_on.cluster import Cluster, Spot
from gpuplan.models.power_on.gpu_states import Gpus, Rules, Way
from gpuplan.models.power_on.orders import Orders, chance_interval, power_on_orders
from gpuplan.models.power_on.player import Play, Refusal, Step
from gpuplan.models.power_on.rehearsal import (
    Emptied,
    Restart,
    Upgrade,
    empty_host,
    rehearse_upgrade,
    restart_after_failure,
)
from gpuplan.models.power_on.week import LivedWeek, arranged, lived_week

__all__ = ["Cluster", "Emptied", "Gpus", "LivedWeek", "Orders", "Play", "Refusal", "Restart", "Rules", "Spot"]
__all__ += ["Step", "Upgrade", "Way", "arranged", "chance_interval", "empty_host", "lived_week"]
__all__ += ["power_on_orders", "rehearse_upgrade", "restart_after_failure"]
