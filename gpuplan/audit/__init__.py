"""The audit: files of jobs, of samples or of requests -> how GPUs are used today -> groups of a scenario, and a replay on its hosts.

``read_trace`` reads a file, ``cut_days`` takes some of its days, ``audit`` gives its findings, ``suggest_groups`` and
``suggested_scenario`` make a scenario of it, and ``compare`` replays its jobs on proposed hosts.

The rest of the slice is in higher layers: ``tables`` and ``report`` in the reports, ``upload`` and ``step`` in the app,
``command`` in the command line.
"""

from gpuplan.audit.arrivals import Arrivals
from gpuplan.audit.curves import REAL_TIME_S
from gpuplan.audit.days import cut_days
from gpuplan.audit.hosts import HostList, read_hosts
from gpuplan.audit.reading import FORMATS, read_trace
from gpuplan.audit.replay import Cancelled, Comparison, Method, Silo, compare
from gpuplan.audit.serving import ServingGroup, serving_scenario, suggest_serving
from gpuplan.audit.suggestions import Suggestion, suggest_groups, suggested_scenario
from gpuplan.audit.trace import Jobs, Reading, Requests, Samples, Skipped, TraceError
from gpuplan.audit.use import Activity, Allocation, Audit, audit
