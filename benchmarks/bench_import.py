"""Reading a trace of a million jobs, in one run on this machine, beside pandas, which a user would pick instead.

Run with ``python benchmarks/bench_import.py [ROWS]``. The rows are made up. Each reader runs in an interpreter of its own;
the memory is the peak of that process less what it had after its imports. What pandas does is less: it reads columns,
it does not check a row, and a row it cannot read makes a whole column text.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

READ = """
import sys, time
{imports}
def most_kb():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
before = most_kb()
start = time.perf_counter()
rows = {work}
print(time.perf_counter() - start, (most_kb() - before) / 1024, rows)
"""
"""The kernel's figure for the memory of a process: that of the resource module counts the parent's, too."""
OURS = ("from gpuplan.audit import read_trace", "len(read_trace(sys.argv[1]).gpus)")
PANDAS = "import pandas"


def write_jobs(path: Path, rows: int) -> None:
    """A CSV of jobs over a year."""
    rng = np.random.default_rng(4)
    submit = np.sort(rng.uniform(0, 365 * 86400, rows)) + 1_700_000_000
    duration = rng.lognormal(7, 1.5, rows)
    gpus = rng.choice([1, 2, 4, 8], rows, p=[0.7, 0.15, 0.1, 0.05])
    with path.open("w", encoding="utf-8") as file:
        file.write("submit_time,duration,num_gpus,group,user\n")
        for at, length, size, who in zip(submit, duration, gpus, rng.integers(0, 300, rows), strict=True):
            when = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"{when},{length:.0f},{size},team-{who % 15},u{who}\n")


def write_sacct(path: Path, rows: int) -> None:
    """Output of ``sacct --parsable2`` over a year, half of it steps."""
    rng = np.random.default_rng(4)
    submit = np.sort(rng.uniform(0, 365 * 86400, rows // 2)) + 1_700_000_000
    wait, duration = rng.exponential(600, rows // 2), rng.lognormal(7, 1.5, rows // 2)
    with path.open("w", encoding="utf-8") as file:
        file.write("JobID|Submit|Start|End|ElapsedRaw|AllocTRES|Account|User|State\n")
        for n, (at, queued, length) in enumerate(zip(submit, wait, duration, strict=True)):
            asked, began, ended = (
                datetime.fromtimestamp(int(t), UTC).strftime("%Y-%m-%dT%H:%M:%S")
                for t in (at, at + queued, at + queued + length)
            )
            tres = f"billing=8,cpu=8,gres/gpu:a100={1 + n % 4},gres/gpu={1 + n % 4},mem=64G,node=1"
            tail = f"{began}|{ended}|{length:.0f}|{tres}"
            file.write(f"{n}|{asked}|{tail}|team-{n % 15}|u{n % 300}|COMPLETED\n")
            file.write(f"{n}.batch|{began}|{tail}|team-{n % 15}||COMPLETED\n")


def measured(imports: str, work: str, path: Path) -> tuple[float, float, int]:
    """Seconds, MB and rows of a reader in an interpreter of its own."""
    code = READ.format(imports=imports, work=work)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    seconds, memory, rows = done.stdout.split()
    return float(seconds), float(memory), int(rows)


def main() -> None:
    """Print seconds, rows per second and memory of each reader."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{rows} rows; best of 3 runs of each reader")
    with tempfile.TemporaryDirectory() as folder:
        for name, write, parsed, separator in (
            ("jobs", write_jobs, ["submit_time"], ","),
            ("sacct", write_sacct, ["Submit", "Start", "End"], "|"),
        ):
            path = Path(folder) / f"{name}.csv"
            write(path, rows)
            print(f"{name}: {path.stat().st_size / 2**20:.0f} MB")
            pandas = f"len(pandas.read_csv(sys.argv[1], sep={separator!r}, parse_dates={parsed}))"
            for reader, imports, work in (("read_trace", *OURS), ("pandas.read_csv", PANDAS, pandas)):
                seconds, memory, found = min(measured(imports, work, path) for _ in range(3))
                print(
                    f"  {reader:16} {seconds:6.2f} s  {rows / seconds:10.0f} rows/s  {memory:7.0f} MB"
                    f"  ({found} of the rows)"
                )


if __name__ == "__main__":
    main()
