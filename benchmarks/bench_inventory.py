"""Inventory: an estate of 60 hosts and 2,000 VMs read, worked out and drawn, as a ratio of parsing its JSON alone."""

from __future__ import annotations

import io
import json
import time
from itertools import pairwise
from random import Random
from typing import Any

from gpuplan import load_catalog
from gpuplan.app.steps.estate import pictured
from gpuplan.audit.estate_report import Inventory
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.inventories import existing_of, read_estate

HOSTS, GPUS, VMS = 60, 8, 2000
MOST = {"nvidia_l40s-12c": 4, "nvidia_l40s-24c": 2, "nvidia_l40s-48c": 1}


def made() -> dict[str, Any]:
    """An estate with random vGPUs on three quarters of the GPUs, the other VMs without one."""
    rng, hosts, vms = Random(1), [], list[dict[str, Any]]()
    for host in range(HOSTS):
        cards = []
        for gpu in range(GPUS):
            profile, on = rng.choice(list(MOST)), list[str]()
            for _ in range(rng.randint(0, MOST[profile])):
                backing = {"vgpu": profile, "migrateSupported": True}
                of = {"name": f"vm{len(vms)}", "host": f"esx{host}", "powerState": "poweredOn"}
                vms.append(of | {"numCPU": 8, "memoryMB": 65536, "devices": [{"backing": backing}]})
                on.append(f"vm{len(vms) - 1}")
            of = {"deviceName": "NVIDIA L40S", "pciId": f"0000:{16 * gpu + 16:02x}:00.0", "vm": on}
            cards.append(of | {"graphicsType": "sharedDirect", "vgpuMode": "sameSize"})
        name = {"name": f"esx{host}", "cluster": f"c{host // 20}", "connectionState": "connected"}
        hosts.append(name | {"graphicsInfo": cards, "memorySize": 2**40, "numCpuCores": 96})
    while len(vms) < VMS:
        of = {"name": f"vm{len(vms)}", "host": f"esx{len(vms) % HOSTS}", "powerState": "poweredOn"}
        vms.append(of | {"numCPU": 4, "memoryMB": 16384, "devices": []})
    return {"hosts": hosts, "vms": vms}


def main() -> None:
    """Print the time of each part and the ratio."""
    catalog, data = load_catalog(), json.dumps(made()).encode()
    use_of(read_estate([("warm", io.BytesIO(data))], catalog), catalog)
    begun = [time.process_time()]
    json.loads(data)
    begun.append(time.process_time())
    estate = read_estate([("vcenter", io.BytesIO(data))], catalog)
    begun.append(time.process_time())
    use = use_of(estate, catalog)
    begun.append(time.process_time())
    pictured(Inventory(estate, use, existing_of(estate, catalog), catalog))
    begun.append(time.process_time())
    parsed, *parts = (b - a for a, b in pairwise(begun))
    names = ("read", "worked out", "drawn")
    print(f"{len(estate.hosts)} hosts, {len(use.gpus)} GPUs, {len(estate.vms)} VMs:", end=" ")
    print(", ".join(f"{name} in {part:.2f} s" for name, part in zip(names, parts, strict=True)), end="; ")
    print(f"{sum(parts):.2f} s in all, {sum(parts) / parsed:.0f} times parsing the JSON")


if __name__ == "__main__":
    main()
