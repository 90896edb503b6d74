"""Results of benchmark tools and logs of requests: files of ten formats -> runs in the terms of the models."""

from gpuplan.analysis.benchmarks.reading import read_results
from gpuplan.analysis.benchmarks.tools import Result

__all__ = ["Result", "read_results"]
