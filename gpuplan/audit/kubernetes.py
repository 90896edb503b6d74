"""Pods and nodes of Kubernetes as JSON -> jobs: a pod with GPUs, MIG instances or time-sliced GPUs is one.

Resources and labels follow [nvidia-k8s-device-plugin]_.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuplan.audit.prometheus import mig_weight
from gpuplan.audit.trace import refusal
from gpuplan.scenario import show

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
