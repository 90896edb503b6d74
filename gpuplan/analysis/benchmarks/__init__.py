"""Results of benchmark tools and logs of requests: files of ten formats -> runs in the terms of the models.

``read_results`` reads files, ``customer`` fits factors to what a customer measured.
"""

from gpuplan.analysis.benchmarks.reading import read_results
from gpuplan.analysis.benchmarks.record import Result

__all__ = ["Result", "read_results"]
