"""Texts of PBS, LSF, Grid Engine and Slurm that are no tables -> tables of jobs, or what the sums in them tell.

Their records follow [lsf-bacct]_ and [sge-accounting]_. A pod of Kubernetes with GPUs, MIG instances or time-sliced GPUs is a job, too;
resources and labels follow [nvidia-k8s-device-plugin]_.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gpuplan.audit.prometheus import mig_weight
from gpuplan.audit.table import Table
from gpuplan.audit.trace import refusal
from gpuplan.audit.values import BadValue, number_of
from gpuplan.scenario import show
from gpuplan.wording import said, some_of

Line = tuple[int, str]
Row = tuple[int, list[str]]

PBS_FIELDS = {"ctime": "submit", "start": "start", "end": "end", "queue": "queue", "user": "user"}
SGE_FIELDS = {"jobnumber": "job_id", "taskid": "task_id", "qsub_time": "submit", "start_time": "start"}
SGE_FIELDS |= {"end_time": "end", "project": "project", "qname": "queue", "owner": "user", "slots": "slots"}
SGE_RESOURCES = ("granted_req.", "hard_resources", "category")
"""Fields in which a job's resources are, the surest first."""
SGE_GPUS = re.compile(r"(?<![\w.])(?:n?gpus?|num_gpus?|gpu_?cards?)=(\d{1,6})\b")
LSF_EVENT = re.compile(
    r"\w{3} (\w{3} +\d\d? \d\d:\d\d:\d\d)( \d{4})?: (Submitted|Dispatched|Start\w+|Completed|Done|Exited)(.*)"
)
LSF_FIELDS = {"Job": "job_id", "User": "user", "Project": "project", "Queue": "queue"}
SLURM_FIELDS = {"JobID": ("job_id",), "User": ("user", "user_name"), "Account": ("account",)}
SLURM_FIELDS |= {"Partition": ("partition",)}
SLURM_TIMES = (("submission", "submit_time"), ("start", "start_time"), ("end", "end_time"))
SLURM_GPUS = {"allocated": ("AllocTRES", "tres_alloc_str"), "requested": ("ReqTRES", "tres_req_str")}
"""Keys of a job in the JSON of sacct and of squeue."""
UNIT_H = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0}


def pbs(lines: Iterable[Line]) -> Table:
    """Return the jobs that ended, and those that started and did not: in a record names say what a value is."""
    return Table(["job_id", "gpus", *PBS_FIELDS.values()], _pbs(lines))


def _pbs(lines: Iterable[Line]) -> Iterator[Row]:
    started: dict[str, Row] = {}
    for n, line in lines:
        _, kind, job, fields = f"{line};;;".split(";", 3)
        if kind == "S":
            started[job] = n, _pbs_job(job, fields)
        elif kind == "E":
            started.pop(job, None)
            yield n, _pbs_job(job, fields)
    yield from started.values()


def _pbs_job(job: str, text: str) -> list[str]:
    fields = {k.removeprefix("Resource_List."): v for k, v in re.findall(r"([\w.]+)=([^\s;]*)", text)}
    gpus = 0
    for chunk in (fields.get("select") or fields.get("nodes", "")).split("+"):
        times, each = re.match(r"\d{1,6}\b", chunk), re.search(r"\bn?gpus=(\d{1,6})\b", chunk)
        gpus += int(times[0] if times else 1) * int(each[1]) if each else 0
    return [job, fields.get("ngpus", str(gpus)), *(fields.get(name, "") for name in PBS_FIELDS)]


def sge(lines: Iterable[Line]) -> Table:
    """Return the jobs of ``qacct -j``, without the records of slave tasks; GPUs are those that a job asked for."""
    jobs = list[tuple[int, dict[str, str]]]()
    for n, line in lines:
        key, _, value = line.partition(" ")
        if key.startswith("==="):
            jobs.append((n, {}))
        elif jobs:
            jobs[-1][1][key] = value.strip().replace("-/-", "")
    if not any(key in job for _, job in jobs for key in SGE_RESOURCES):
        raise refusal("audit.advice.sge", where="line 1", value="qacct")
    whole = [(n, job) for n, job in jobs if job.get("pe_taskid", "NONE") in ("NONE", "undefined")]
    return Table([*SGE_FIELDS.values(), "gpus"], ((n, _sge_job(job)) for n, job in whole))


def _sge_job(job: Mapping[str, str]) -> list[str]:
    gpus = (SGE_GPUS.search(job.get(key, "")) for key in SGE_RESOURCES)
    return [*(job.get(key, "") for key in SGE_FIELDS), next((found[1] for found in gpus if found), "0")]


def lsf(lines: Iterable[Line]) -> Table:
    """Return the jobs of ``bacct -l``, ``bhist -l`` or ``bjobs -l``, whose lines are wrapped, with years in their times."""
    rows = list[Row]()
    for n, text in _unwrapped(lines):
        if text.startswith("Job <"):
            fields = dict(re.findall(r"(\w+) <([^>]*)>", text))
            rows.append((n, [*(fields.get(name, "") for name in LSF_FIELDS), "", "", "", "0"]))
        elif rows and (event := LSF_EVENT.match(text)):
            if not event[2]:
                raise refusal("audit.advice.lsf", where=f"line {n}", value=event[1])
            _lsf_event(rows[-1][1], event[3], event[1] + event[2], event[4])
    if not rows:
        raise refusal("audit.advice.lsf", where="line 1", value="LSF")
    return Table([*LSF_FIELDS.values(), "submit", "start", "end", "gpus"], rows)


def _unwrapped(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines with those that continue them."""
    first, whole = 0, ""
    for n, line in lines:
        if line.startswith(" " * 10):
            whole += line.strip("\n").removeprefix(" " * 21)
        else:
            yield first, whole
            first, whole = n, line
    yield first, whole


def _lsf_event(row: list[str], event: str, time: str, text: str) -> None:
    """Note the time of an event; GPUs are requested by host, or by task, and known when the hosts are."""
    place = {"Submitted": 4, "Dispatched": 5, "Start": 5}.get(event[:5] if event[:5] == "Start" else event, 6)
    if place != 5 or not row[5]:
        row[place] = time
    if asked := re.search(r"Requested GPU\w* <(?:[^>]*:)?num=(\d{1,4})(/task)?", text):
        row[7] = "".join(asked.groups(""))
    if place == 5 and row[7] != "0":
        tasks, hosts = (
            re.search(r"(\d+) Task", text),
            {*re.findall(r"<(?:\d+\*)?([^>]+)>", text.partition("Task")[2])},
        )
        each, by_task, _ = row[7].partition("/task")
        row[7] = str(int(each) * (int(tasks[1]) if by_task and tasks else max(1, len(hosts))))


def slurm_jobs(jobs: Iterable[Mapping[str, Any]], until: Any) -> list[dict[str, str]]:
    """Return the jobs of ``sacct --json`` or ``squeue --json`` with the names of sacct; the latter has a time of its own."""
    return [_slurm_job(job, _stated(until)) for job in jobs]


def _slurm_job(job: Mapping[str, Any], until: int) -> dict[str, str]:
    times, state = within(job, "time", kind=dict), _state(job)
    submit, start, end = (_stated(times.get(new, job.get(old))) for new, old in SLURM_TIMES)
    end = end if state != "RUNNING" else 0
    so_far = max(0, (end or until) - start) if start and (end or until) else 0
    numbers = {"Submit": submit, "Start": start * (state != "PENDING"), "End": end}
    numbers["ElapsedRaw"] = _stated(times.get("elapsed")) or so_far
    lists = {
        key: ",".join(filter(None, map(_resource, within(job, "tres", key, kind=list)))) for key in SLURM_GPUS
    }
    return {
        **{name: str(next(filter(None, map(job.get, keys)), "")) for name, keys in SLURM_FIELDS.items()},
        **{name: str(number or "") for name, number in numbers.items()},
        **{name: lists[key] or str(job.get(old) or "") for key, (name, old) in SLURM_GPUS.items()},
        "State": state,
    }


def _state(job: Mapping[str, Any]) -> str:
    state = within(job, "state", kind=dict).get("current") or job.get("job_state")
    return str(state[0] if isinstance(state, list) and state else state)


def _stated(value: Any) -> int:
    """Return a number of Slurm, which some versions write as an object; 0 if it is not set."""
    value = value.get("number") if isinstance(value, dict) and value.get("set", True) else value
    return int(value) if isinstance(value, int | float) and 0 < value < 2**40 else 0


def _resource(part: Any) -> str:
    """Return a GPU of a list of resources as sacct prints it."""
    name = within(part, "name")
    return f"gres/{name}={_stated(part.get('count'))}" if within(part, "type") == "gres" and name else ""


def sreport(lines: Iterable[Line]) -> Table:
    """Refuse sums without times of jobs, with what they tell: GPU-hours and the mean GPUs of the period, by account."""
    texts = [line for _, line in lines]
    whole = "\n".join(texts)
    period, unit = (
        re.search(r"\((\d{2,12}) secs\)", whole),
        re.search(r"in (?:TRES )?(Seconds|Minutes|Hours)", whole),
    )
    sums = dict[str, float]()
    for account, used in _used(texts):
        sums[account] = sums.get(account, 0.0) + used
    if not period or not unit or not sums:
        raise refusal("audit.advice.sreport", where="line 1", value="sreport")
    hours, factor = int(period[1]) / 3600, UNIT_H[unit[1].lower()]
    largest = sorted(sums.items(), key=lambda each: -each[1])
    means = some_of([f"{name} {used * factor / hours:.2f}" for name, used in largest])
    gpu_h = sum(sums.values()) * factor
    told = said("audit.sreport", gpu_h=f"{gpu_h:,.1f}", mean=f"{gpu_h / hours:.2f}", means=means)
    raise refusal("audit.told", told=told, advice=said("audit.advice.sreport"))


def _cells(texts: Sequence[str]) -> list[list[str]]:
    """Return the cells of the table of sreport, its header first."""
    heads = (n for n, line in enumerate(texts) if "TRES Name" in line and "Used" in line)
    head, *rows = texts[next(heads, len(texts)) :] or [""]
    cells = [line.split("|") for line in (head, *rows)]
    if "|" not in head:
        places = [match.span() for match in re.finditer(r"-+", "".join(rows[:1]))]
        cells = [[line[a:b] for a, b in places] for line in (head, *rows[1:])]
    return [[cell.strip() for cell in row] for row in cells]


def _used(texts: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield account and use of GPUs; of users where the table has them, as the rows of accounts are their sums."""
    names, *table = _cells(texts)
    for row in table:
        of = dict(zip(names, row, strict=False))
        if of.get("TRES Name") == "gres/gpu" and ("Login" not in of or of["Login"]):
            try:
                yield of.get("Account") or of.get("Cluster") or "", number_of(of["Used"])
            except (BadValue, KeyError):
                continue


RESOURCE = re.compile(r"(?:nvidia|amd)\.com/(gpu|mig-[\w.+-]+?)(\.shared)?")
COUNT = re.compile(r"[1-9]\d{0,4}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def within(value: Any, *keys: str, kind: type = str) -> Any:
    """Return what is inside objects by these keys; an empty value where that is of another kind."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else kind()


def pods(objects: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each pod as a job until it ended, or until the latest time in the file; once for each part of a GPU."""
    labels = {
        within(each, "metadata", "name"): within(each, "metadata", "labels", kind=dict) for each in objects
    }
    latest = max(MOMENT.findall(json.dumps(objects)), default="")
    found = [each for each in objects if each.get("kind") == "Pod"]
    if not found:
        raise refusal("audit.advice.kubectl", where="items", value=show(str(objects[0]["kind"])[:40]))
    for pod in found:
        phase, start = within(pod, "status", "phase"), within(pod, "status", "startTime")
        containers = within(pod, "status", "containerStatuses", kind=list)
        ended = max((within(of, "state", "terminated", "finishedAt") for of in containers), default="")
        end = ended if phase in ("Succeeded", "Failed") else latest * (latest > start)
        job = {
            "name": within(pod, "metadata", "name"),
            "namespace": within(pod, "metadata", "namespace"),
            "state": phase,
            "submit": within(pod, "metadata", "creationTimestamp") if end else start,
            "start": start,
            "end": end,
        }
        node = labels.get(within(pod, "spec", "nodeName"), {})
        for n, gpus in enumerate(_gpus(pod, node) or [0], 1):
            yield {**job, "name": f"{job['name']} {n}", "gpus": gpus}


def _gpus(pod: Mapping[str, Any], labels: Mapping[str, str]) -> list[float | str]:
    """Return the whole GPUs of a pod together, and each part of one; of unknown size, nothing.

    A pod holds what its containers have together, or one that runs before them if that has more.
    """
    first = within(pod, "spec", "initContainers", kind=list)
    beside = [each for each in first if within(each, "restartPolicy") == "Always"]
    held = _held([*within(pod, "spec", "containers", kind=list), *beside], labels)
    held = max([held, *(_held([each], labels) for each in first)], key=_total)
    return [*held, *[""] * bool(within(pod, "spec", "resourceClaims", kind=list))]


def _total(held: Sequence[float | str]) -> float:
    """Return the GPUs of what is held, without parts of unknown size."""
    return sum(part for part in held if isinstance(part, float | int))


def _held(containers: Sequence[Any], labels: Mapping[str, str]) -> list[float | str]:
    whole = 0
    parts: list[float | str] = []
    for container in containers:
        limits, requests = (within(container, "resources", of, kind=dict) for of in ("limits", "requests"))
        for name in (resources := limits or requests):
            match, count = RESOURCE.fullmatch(name), COUNT.fullmatch(str(resources[name]))
            share = _share(match[1], bool(match[2]), labels) if match and count else 0
            number = int(count[0]) if count else 0
            whole += number if share == 1 else 0
            parts += [share] * number if share not in (0, 1) else []
    return [*[whole] * (whole > 0), *parts]


def _share(name: str, shared: bool, labels: Mapping[str, str]) -> float | str:
    """Return the part of a GPU that one of a resource is, by the labels of its node."""
    product = within(labels, "nvidia.com/gpu.product").replace("-", " ")
    profile = product.partition(" MIG ")[2] if name == "gpu" else name.removeprefix("mig-")
    replicas = COUNT.fullmatch(within(labels, f"nvidia.com/{name}.replicas") or "1" * (not shared))
    return mig_weight(profile, model=product) / int(replicas[0]) if replicas else ""
