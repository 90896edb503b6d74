"""The network: rates of ``links``, GPUs over them (``remoting``), ``training`` on several hosts, and the ``fabric``.

The records that they take are ``Link``, ``GpuHosts``, ``Allreduce``, ``Latencies`` and ``Overlap``.
"""

from gpuplan.models.network.collectives import Allreduce, GpuHosts, Latencies
from gpuplan.models.network.links import Link
from gpuplan.models.network.training import Overlap

__all__ = ["Allreduce", "GpuHosts", "Latencies", "Link", "Overlap"]
