"""Continuous batching, played request by request: requests that wait, times of reading prompts and of tokens.

A step gives every running request of a replica one token. Prompts are read with the steps, those that came first before the
others, and delay them. A request is let in at the end of a step if a place is free and the cache has room for its prompt and its
whole answer; requests wait in the order in which they came. The balancer sends a request to the replica with the fewest.
Between two events, many steps are taken at once.
"""

from gpuplan.simulation.batching.played import Played, play
from gpuplan.simulation.batching.runs import Simulated, arrivals, simulate, summary

__all__ = ["Played", "Simulated", "arrivals", "play", "simulate", "summary"]
