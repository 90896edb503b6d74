"""Processor time of all files of a design, PDFs included, in one run on this machine: of the process and of LibreOffice.

Run with ``python benchmarks/bench_files.py [DESIGN ...]``: examples, scenario files, or ``large`` for 162 hosts in six clusters. The
bytecode is there, as after an installation. On a machine with other work these times are higher; the last column is their ratio to a
plan of the enterprise example in an interpreter of its own, which suffers alike.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from gpuplan.scenario import from_dict

LARGE = {
    "name": "162 hosts in six clusters",
    "groups": [
        {
            "id": f"g{at}",
            "people": people,
            "gpus_each": 1,
            "active_share": 1.0,
            "access": access,
            "sites": f"{site} {people}",
        }
        for at, (site, people, access) in enumerate(
            (site, people, access)
            for site in ("Berlin", "Austin", "Delhi")
            for people, access in ((100, "passthrough"), (106, "vgpu"))
        )
    ],
    "hardware": {"gpu": "h100-nvl-94gb", "gpus_per_host": 4},
    "availability": {"split": "by-site"},
}


def processor_s(*arguments: str) -> float:
    """Processor time of a command of gpuplan and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "gpuplan.cli", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.yaml"
        large.write_text(from_dict(LARGE).to_yaml(), encoding="utf-8")
        processor_s("plan", "enterprise")  # writes the bytecode
        plan = processor_s("plan", "enterprise")
        print(f"plan of enterprise: {plan:.2f} s")
        for name in sys.argv[1:] or ("enterprise", "assistant", "large"):
            files = processor_s("report", str(large) if name == "large" else name, "--to", folder)
            print(f"{name:12} {files:6.1f} s {files / plan:6.1f} x")


if __name__ == "__main__":
    main()
