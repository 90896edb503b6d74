"""Simulation: requests for GPUs come to hosts; wait times, denials, and utilisation of the GPUs.

``simulate`` draws the requests of ``Stream``s by chance until its figures are tight enough; ``replay`` takes the
jobs of a trace as they were. Both go through ``event_loop``.

The queue is first come first served over all streams: while its head waits, every request behind it waits, even if it
would fit (no backfill). At one instant GPUs are given back first, then the queue is served, then requests leave that
have reached their longest wait, then requests arrive.

Placement, on which results depend. All GPUs of one VM are in one host; the VMs of a request may be in different
hosts and start together. ``pack``: the host with the fewest free GPUs on which the VM fits. ``spread``: the host
with the most free GPUs. A fraction shares a GPU within its family only. ``pack``: the fullest GPU of the family
that has room, else a free GPU on the host by the rule above. ``spread``: a free GPU on the host with the most free
GPUs, else the emptiest GPU of the family that has room. Ties: the host with the fewest VMs, then the host that
comes first, then the GPU with the lowest number, where a GPU that begins to be shared takes the lowest number
free. Nothing moves once it is placed.
"""

from gpuplan.simulation.jobs.checks import POLICIES
from gpuplan.simulation.jobs.figures import Estimate, Outcome, Progress, Simulated
from gpuplan.simulation.jobs.streams import simulate
from gpuplan.simulation.jobs.trace import Replayed, replay

__all__ = [
    "POLICIES",
    "Estimate",
    "Outcome",
    "Progress",
    "Replayed",
    "Simulated",
    "replay",
    "simulate",
]
