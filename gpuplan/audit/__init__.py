"""The audit: files of jobs, of samples or of requests -> how GPUs are used today -> groups of a scenario, and a replay on its hosts.

Higher layers hold the rest: ``tables`` and ``report``, ``upload`` and ``step`` of the app, ``command`` of the CLI.
"""

from gpuplan.audit.arrivals import Arrivals
from gpuplan.audit.curves import REAL_TIME_S, cut_days
from gpuplan.audit.inventories import HostList, read_hosts
from gpuplan.audit.reading import FORMATS, read_trace
from gpuplan.audit.replay import Cancelled, Comparison, Method, Silo, compare
from gpuplan.audit.serving import ServingGroup, serving_scenario, suggest_serving
from gpuplan.audit.suggestions import Suggestion, suggest_groups, suggested_scenario
from gpuplan.audit.trace import Jobs, Reading, Requests, Samples, Skipped, TraceError
from gpuplan.audit.use import Activity, Allocation, Audit, audit

__all__ = ["FORMATS", "REAL_TIME_S", "Activity", "Allocation", "Arrivals", "Audit", "Cancelled", "Comparison"]
__all__ += ["HostList", "Jobs", "Method", "Reading", "Requests", "Samples", "ServingGroup", "Silo", "Skipped"]
__all__ += ["Suggestion", "TraceError", "audit", "compare", "cut_days", "read_hosts", "read_trace"]
__all__ += ["serving_scenario", "suggest_groups", "suggest_serving", "suggested_scenario"]
