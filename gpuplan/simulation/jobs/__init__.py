"""Simulation: requests for GPUs come to hosts; wait times, denials, and utilisation of the GPUs.

``simulate`` draws the requests of ``Stream``s by chance until its figures are tight enough; ``replay`` takes the
jobs of a trace as they were. The queue is first come first served over all streams, without backfill. At one instant
GPUs are given back first, then the queue is served, then requests leave, then requests arrive.

All GPUs of one VM are in one host; the VMs of a request start together. ``pack`` takes the host with the fewest free
GPUs on which a VM fits, ``spread`` the one with the most. A fraction shares a GPU within its family only: ``pack``
takes the fullest such GPU with room before a free GPU, ``spread`` a free GPU before the emptiest. Ties: the host with
the fewest VMs, then the first host, then the GPU with the lowest number. Nothing moves once it is placed.
"""

from gpuplan.simulation.jobs.checks import POLICIES
from gpuplan.simulation.jobs.figures import Estimate, Outcome, Progress, Simulated
from gpuplan.simulation.jobs.streams import simulate
from gpuplan.simulation.jobs.trace import Replayed, replay

__all__ = ["POLICIES", "Estimate", "Outcome", "Progress", "Replayed", "Simulated", "replay", "simulate"]
