"""Exports of tools as they come: what they hold is counted by hand, and what holds nothing is answered with a command."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from random_cases import cases
from test_schedulers import BACCT, BJOBS, SGE, SREPORT
from traces import JOBS, jobs_of, read, refused, same, samples_of

from gpuplan.audit import Requests, TraceError, audit
from gpuplan.audit.formats import ADVICE
from gpuplan.wording import said

SQUEUE = """\
JOBID|PARTITION|NAME|USER|STATE|TIME|TIME_LIMIT|NODES|TRES_PER_NODE|SUBMIT_TIME|START_TIME
2001|gpu|train|u1|RUNNING|1-02:00:00|3-00:00:00|2|gres/gpu:a100:4|2025-03-03T08:00:00|2025-03-03T09:00:00
2002|gpu|nb|u2|RUNNING|2:00:00|8:00:00|1|gres:gpu:1|2025-03-04T08:00:00|2025-03-04T09:00:00
2003|gpu|wait|u3|PENDING|0:00|1-00:00:00|4|gres/gpu:8|2025-03-04T08:00:00|2025-03-05T09:00:00
"""


def turned(text: str, order: list[int], delimiter: str = "|") -> str:
    rows = [line.split("|") for line in text.splitlines()]
    return "".join(delimiter.join(row[at] for at in order) + "\n" for row in rows)


def in_columns(text: str, width: int = 22) -> str:
    return "".join(
        "".join(cell.ljust(width) for cell in line.split("|")).rstrip() + "\n" for line in text.splitlines()
    )


def gpu_hours(text: str | bytes, **options: Any) -> float:
    return float(jobs_of(text, **options).amount.sum())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: turned(text, [10, 9, 8, 7, 5, 4, 3, 2, 1, 0]),
        lambda text: turned(text, list(range(11)), ","),
        in_columns,
        lambda text: "\n".join(" ".join(line.split("|")) for line in text.splitlines()),
        lambda text: in_columns(text).replace("\n", "\r\n"),
        lambda text: "\n" + text.replace("\n", "\n\n"),
        lambda text: text.replace("STATE", "ST").replace("RUNNING", "R").replace("PENDING", "PD"),
        lambda text: text.lower().replace("t08", "T08").replace("t09", "T09"),
    ],
    ids=[
        "pipe",
        "other order",
        "comma",
        "wide columns",
        "blanks",
        "crlf",
        "empty lines",
        "short states",
        "small letters",
    ],
)
def test_squeue(change: Callable[[str], str]) -> None:
    """8 GPUs for 26 h and one for 2 h; what waits is said, whatever start squeue expects for it."""
    jobs = jobs_of(change(SQUEUE))
    assert jobs.reading.format == "squeue"
    assert jobs.amount.tolist() == [208, 2]
    assert jobs.gpus.tolist() == [8, 1]
    assert [(s.rows, s.reason) for s in jobs.reading.skipped] == [(1, said("audit.row.never started"))]


def test_squeue_with_a_name_of_two_words_and_an_empty_cell() -> None:
    """As many words as columns, and none of them where it would be expected."""
    jobs = jobs_of(in_columns(SQUEUE.replace("|train|", "|my train|").replace("|3-00:00:00|", "||")))
    assert jobs.amount.tolist() == [208, 2]


def test_squeue_with_lists_of_resources_for_the_whole_job() -> None:
    text = SQUEUE.replace("TRES_PER_NODE", "TRES_ALLOC").replace("gres/gpu:a100:4", "cpu=8,gres/gpu=8,node=2")
    assert jobs_of(text).gpus.tolist() == [8, 1]
    of_job = SQUEUE.replace("TRES_PER_NODE", "TRES_PER_JOB").replace("gres/gpu:a100:4", "gres/gpu:8")
    assert jobs_of(of_job).gpus.tolist() == [8, 1]


def test_a_list_that_fills_its_column_is_cut() -> None:
    """squeue -O gives each column 20 characters, and nothing says what is missing."""
    cut = "cpu=64,mem=512G,node=2,billing=64,gres/gpu=8"[:20]
    wide = in_columns(SQUEUE.replace("TRES_PER_NODE", "TRES_ALLOC").replace("gres/gpu:a100:4", "x" * 20), 20)
    jobs = jobs_of(wide.replace("x" * 20, cut))
    assert jobs.gpus.tolist() == [1]
    assert sum(skipped.rows for skipped in jobs.reading.skipped) == 2


SACCT = """\
JobID           JobName  Partition    Account      State               Start                 End    Elapsed            AllocTRES
------------ ---------- ---------- ---------- ---------- ------------------- ------------------- ---------- --------------------
1001           my train        gpu        bio  COMPLETED 2025-03-03T08:10:00 2025-03-03T12:10:00   04:00:00      gres/gpu=2,node=1
1001.batch        batch                   bio  COMPLETED 2025-03-03T08:10:00 2025-03-03T12:10:00   04:00:00      gres/gpu=2,node=1
1002            train-2        gpu         ml  COMPLETED 2025-03-03T09:00:00 2025-03-04T10:30:00 1-01:30:00           gres/gpu=4
"""


def test_sacct_without_parsable() -> None:
    jobs = jobs_of(SACCT)
    assert jobs.amount.tolist() == [8, 102]
    assert jobs.groups == ("bio", "ml")
    short = SACCT.replace("gres/gpu=2,node=1", "billing=2,gres/+".rjust(17)).replace(
        "gres/gpu=4", "billing=6+"
    )
    assert "sacct -P" in refused(short) or "no GPUs" in refused(short)


DMON = """\
#Date       Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
#YYYYMMDD   HH:MM:SS    Idx     W     C     C     %     %     %     %   MHz   MHz
 20250303   09:00:00      0   250    60    58    80    40     0     0  1593  1410
 20250303   09:00:00      1    60    35    34     0     0     0     0  1593   210
# gpu
 20250303   09:00:05      0   250    60    58   100    40     0     0  1593  1410
 20250303   09:00:05      1    60    35    34    10     0     0     0  1593   210
 20250303   09:00:10      1    60    35    34     -     0     0     0  1593   210
"""


@pytest.mark.parametrize(
    "change", [str, lambda text: text.replace("  ", " ").replace(" ", ", ").replace(", \n", "\n")]
)
def test_dmon(change: Callable[[str], str]) -> None:
    found = samples_of(change(DMON) if change is str else DMON)
    assert found.percent.tolist() == [80, 0, 100, 10]
    seen = audit(found).activity
    assert seen is not None
    assert (seen.mean_activity_pct, seen.interval_s) == (47.5, 5)


PMON = """\
#Date       Time        gpu        pid   type     sm    mem    enc    dec    command
#YYYYMMDD   HH:MM:SS    Idx          #    C/G      %      %      %      %    name
 20250303   09:00:00      0       1001     C      30     10      -      -    python train.py
 20250303   09:00:00      0       1002     C      50     10      -      -    python
 20250303   09:00:00      1          -     -       -      -      -      -    -
 20250303   09:00:05      0       1001     C      70     10      -      -    python
 20250303   09:00:05      0       1002     C      60     10      -      -    python
 20250303   09:00:05      1       1003     G       -      -      -      -    Xorg
"""


def test_the_processes_of_a_gpu_are_added() -> None:
    found = samples_of(PMON)
    assert found.percent.tolist() == [80, 0, 100, 0]
    assert len(found.gpus) == 2


GRAFANA = '"Time","node1 GPU 0","node1 GPU 1","node2 GPU 0"\n2025-03-03 09:00:00,80%,0%,35.5%\n2025-03-03 09:01:00,100%,10%,35.5%\n'


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("%", ""),
        lambda text: text.replace("%", " %").replace(",", ";").replace("35.5", "35,5"),
        lambda text: "sep=,\n" + text,
        lambda text: "# from the dashboard\n" + text,
        lambda text: text.replace(",10%", ",").replace("100%", "undefined").replace("0%", "5%").replace("undefined", ""),
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
        lambda text: text.replace("2025-03-03 09:00:00", "1740992400000").replace("2025-03-03 09:01:00", "1740992460000"),
    ],
    ids=["as it is", "numbers", "decimal comma", "sep", "comment", "empty cells", "utf-16", "gzip", "ms"],
)  # fmt: skip
def test_a_dashboard_with_a_column_for_each_gpu(change: Callable[[str], str | bytes]) -> None:
    found = samples_of(change(GRAFANA))
    assert found.reading.format == "by-gpu"
    assert found.gpus == ("node1 GPU 0", "node1 GPU 1", "node2 GPU 0")
    assert sorted({*found.percent.tolist()}) in ([0, 10, 35.5, 80, 100], [5, 35.5, 85])
    assert found.time_s.max() - found.time_s.min() == 60


def test_a_dashboard_with_one_series_or_a_row_for_each_value() -> None:
    one = samples_of('"Time","GPU utilization"\n2025-03-03 09:00:00,20\n2025-03-03 09:01:00,40\n')
    assert (one.percent.tolist(), len(one.gpus)) == ([20, 40], 1)
    rows = samples_of("Series;Time;Value\nGPU 0;2025-03-03 09:00:00;20\nGPU 1;2025-03-03 09:00:00;40\n")
    assert (rows.percent.tolist(), rows.gpus) == ([20, 40], ("GPU 0", "GPU 1"))


@pytest.mark.parametrize(
    ("values", "percent"),
    [
        ("0.8,1 0,0.25", [80, 100, 0, 25]),
        ("1,0 0,1", [1, 0, 0, 1]),
        ("0.8%,1% 0%,0%", [0.8, 1, 0, 0]),
        ("0.8,40 1,0", [0.8, 40, 1, 0]),
    ],
)
def test_shares_of_a_dashboard(values: str, percent: list[float]) -> None:
    rows = "".join(f"2025-03-03 09:0{n}:00,{row}\n" for n, row in enumerate(values.split(" ")))
    assert samples_of(f"Time,GPU 0,GPU 1\n{rows}").percent.tolist() == percent


def test_gpus_of_several_hosts_stay_apart() -> None:
    rows = "".join(f"2017-10-03 00:0{m}:00,m{n},{20 * n},NA\n" for m in range(3) for n in range(3))
    found = samples_of(f"time,machineId,gpu0_util,gpu1_util\n{rows}")
    assert found.gpus == ("m0 gpu0_util", "m1 gpu0_util", "m2 gpu0_util")
    assert found.percent.tolist() == [0, 20, 40] * 3
    assert [skipped.rows for skipped in found.reading.skipped] == [9]


def test_columns_of_other_kinds_beside_those_of_gpus_are_named() -> None:
    found = samples_of("Time,GPU 0 util,GPU 0 memory,GPU 1 util\n2025-03-03 09:00:00,20,90,40\n")
    assert found.percent.tolist() == [20, 40]
    assert "GPU 0 memory" in found.reading.notes[0]


def test_columns_of_another_kind_are_not_taken_for_activity() -> None:
    assert refused('"Time","GPU 0 temperature"\n2025-03-03 09:00:00,60\n')
    servers = "Time,10.0.0.1,10.0.0.2\n2025-03-03 09:00:00,60,20\n"
    assert "by-gpu" in refused(servers)
    assert samples_of(servers, format="by-gpu").percent.tolist() == [60, 20]


PBS = """\
03/03/2025 08:00:00;Q;1.srv;queue=gpu
03/03/2025 08:10:00;S;1.srv;user=u1 queue=gpu ctime=1740988800 start=1740989400 Resource_List.ngpus=4
03/03/2025 10:10:00;E;1.srv;user=u1 group=g queue=gpu ctime=1740988800 qtime=1740988800 etime=1740988800 start=1740989400 exec_host=n1/0*8 Resource_List.ncpus=16 Resource_List.ngpus=4 Resource_List.select=2:ncpus=8:ngpus=2 end=1740996600 Exit_status=0 resources_used.walltime=02:00:00
03/03/2025 10:10:00;E;2.srv;user=u2 queue=long ctime=1740988800 start=1740989400 Resource_List.nodes=1:ppn=8:gpus=1+2:gpus=2 end=1740993000 Exit_status=0
03/03/2025 10:10:00;E;3.srv;user=u2 queue=cpu ctime=1740988800 start=1740989400 Resource_List.ncpus=8 end=1740993000 Exit_status=0
03/03/2025 10:10:00;S;4.srv;user=u3 queue=gpu ctime=1740989400 start=1740993000 Resource_List.select=1:ngpus=1
"""


def test_accounting_of_pbs() -> None:
    """4 GPUs for 2 h, 5 for 1 h, and one that runs for an hour until the latest time of the file."""
    jobs = jobs_of(PBS)
    assert jobs.reading.format == "pbs"
    assert jobs.amount.tolist() == [8, 5, 1]
    assert [jobs.groups[n] for n in jobs.group] == ["gpu", "long", "gpu"]
    assert [(s.rows, s.reason) for s in jobs.reading.skipped] == [(1, said("audit.row.no gpus"))]


def lines_of(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


MOONCAKE = [
    {"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]},
    {"timestamp": 3000, "input_length": 7322, "output_length": 490, "hash_ids": [0, 14]},
    {"timestamp": 60000, "input_length": 7236, "output_length": 794, "hash_ids": [0, 28]},
]


def requests_of(text: str) -> Requests:
    found = read(text)
    assert isinstance(found, Requests)
    return found


@pytest.mark.parametrize("text", [lines_of(*MOONCAKE), json.dumps(MOONCAKE), json.dumps({"data": MOONCAKE})])
def test_requests_of_mooncake_are_in_milliseconds(text: str) -> None:
    found = requests_of(text)
    assert found.time_s.tolist() == [0, 3, 60]
    assert found.tokens_in.tolist() == [6758, 7322, 7236]


LITELLM = [
    {"request_id": "r1", "startTime": "2025-03-03 09:00:00.123", "endTime": "2025-03-03 09:00:05.123", "model": "m",
     "prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
    {"request_id": "r2", "startTime": "2025-03-03 09:01:00.123", "endTime": "2025-03-03 09:01:08.123", "model": "m",
     "prompt_tokens": 2000, "completion_tokens": 300, "total_tokens": 2300},
    {"request_id": "r3", "startTime": "2025-03-03 09:02:00.123", "endTime": "2025-03-03 09:02:00.223", "model": "m",
     "prompt_tokens": 500, "completion_tokens": 0, "total_tokens": 500},
]  # fmt: skip


def as_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("text", [as_csv(LITELLM), json.dumps(LITELLM), lines_of(*LITELLM)])
def test_requests_of_litellm(text: str) -> None:
    found = requests_of(text)
    assert (found.tokens_in.tolist(), found.tokens_out.tolist()) == ([1000, 2000], [200, 300])
    assert found.time_s[1] - found.time_s[0] == pytest.approx(60)
    assert [s.rows for s in found.reading.skipped] == [1]


def test_usage_by_the_hour_keeps_requests_and_tokens() -> None:
    result = {
        "input_tokens": 1000,
        "output_tokens": 503,
        "num_model_requests": 5,
        "model": "m",
        "batch": None,
    }
    buckets = [
        {
            "object": "bucket",
            "start_time": at,
            "end_time": at + 3600,
            "results": [result, result | {"model": "n"}],
        }
        for at in (1740988800, 1740992400)
    ]
    page = {"object": "page", "data": buckets, "has_more": False, "next_page": None}
    flat = [{"start_time": b["start_time"], "end_time": b["end_time"], **result} for b in buckets]
    for text, models in ((json.dumps(page), 2), (as_csv(flat), 1)):
        found = requests_of(text)
        assert len(found.time_s) == 10 * models
        assert (found.tokens_in.sum(), found.tokens_out.sum()) == (2000 * models, 1006 * models)
        assert found.time_s.min() > 1740988800 and found.time_s.max() < 1740996000


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("step", [60, 3600, 86400])
@pytest.mark.parametrize("count", ["requests", "request_count", "num_requests", "count", "n_requests"])
@pytest.mark.parametrize("tokens", ["prompt_tokens,completion_tokens", "input_tokens,output_tokens"])
def test_several_requests_a_row_however_they_are_called(
    count: str, tokens: str, step: int, delimiter: str
) -> None:
    rows = "".join(f"{1788249600 + n * step},5,5000,500\n" for n in range(11))
    found = requests_of(f"timestamp,{count},{tokens}\n{rows}".replace(",", delimiter))
    assert found.tokens_in.tolist() == [1000] * 55
    assert found.tokens_out.tolist() == [100] * 55
    assert found.time_s.max() - found.time_s.min() == pytest.approx(step * (11 - 1 / 5))


@pytest.mark.parametrize("large", ["1.000", "12.500", "1.250.000"])
@pytest.mark.parametrize("small", ["950", "1.000"])
def test_points_divide_thousands_of_counts_between_semicolons(large: str, small: str) -> None:
    plain = [float(text.replace(".", "")) for text in (large, small)]
    rows = "".join(f"{1788249600 + n};{text};100;1\n" for n, text in enumerate((large, small)))
    for counts in ("", ";requests"):
        head = f"timestamp;prompt_tokens;completion_tokens{counts}\n"
        found = requests_of(head + (rows if counts else rows.replace(";1\n", "\n")))
        assert found.tokens_in.tolist() == plain


def test_attempts_of_philly() -> None:
    """3 GPUs on two hosts for an hour, then 2 for half an hour."""
    attempts = [
        {"start_time": "2017-10-07 01:00:00", "end_time": "2017-10-07 02:00:00",
         "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu3"]}]},
        {"start_time": "2017-10-07 03:00:00", "end_time": "2017-10-07 03:30:00", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]},
    ]  # fmt: skip
    job = {"status": "Pass", "vc": "v", "jobid": "a", "submitted_time": "2017-10-07 00:59:00", "user": "u"}
    jobs = jobs_of(json.dumps([job | {"attempts": attempts}, job | {"attempts": []}]))
    assert jobs.amount.tolist() == [3, 1]
    assert jobs.groups == ("v",)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("-" * 80 + "\nCluster/Account/User Utilization 2025-03-01\n", "sreport"),
        ("Cluster|Account|Login|Proper Name|TRES Name|Used\nc|a|u|U|gres/gpu|100\n", "sreport"),
        ("JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n", "lsf"),
        ('"JOB_FINISH" "10.1" 1740988800 1 2 3\n', "lsf"),
        ("Accounting information about jobs that are:\n  - submitted by all users.\n", "lsf"),
        ("JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n1 gpu a u R 1:00 1 n1\n", "squeue"),
        ("# gpu   pwr gtemp\n# Idx     W     C\n    0    60    35\n", "smi"),
        ("#Time        gpu   sm\n#HH:MM:SS    Idx    %\n 09:00:00      0    35\n", "smi"),
        (
            "+-----------------------------------------------------------------------------+\n| NVIDIA-SMI\n",
            "smi",
        ),
        ("Mon Mar  3 09:00:00 2025       \n+----+\n| NVIDIA-SMI 550\n", "smi"),
        ("NAME    READY   STATUS    RESTARTS   AGE\na   1/1   Running   0   3d\n", "kubectl"),
        ("NAMESPACE  NAME    READY   STATUS    RESTARTS   AGE\nn  a   1/1   Running   0   3d\n", "kubectl"),
        ('{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n"}}]}', "kubectl"),
        ("Job id            Name             User              Time Use S Queue\n", "pbs"),
        ("==============\nqname        gpu.q\nhostname     n1\n", "sge"),
        ("# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n", "exporter"),
        ("Metric,avg,min,max\nTime To First Token (ms),1,1,1\n", "benchmark"),
        (
            '{"backend": "vllm", "completed": 200, "total_input_tokens": 5, "mean_ttft_ms": 250.5}',
            "benchmark",
        ),
    ],
)
def test_what_is_not_read_is_answered_with_the_command_that_gives_it(text: str, key: str) -> None:
    assert said(f"audit.advice.{key}") in refused(text)


def test_each_answer_has_a_sign() -> None:
    assert {key for _, key in ADVICE} >= {f"audit.advice.{key}" for key in ("lsf", "pbs", "smi", "kubectl")}


def test_a_file_without_its_header_is_told_where_that_is() -> None:
    task = "04b1,tensorflow,4.0,Terminated,3600.0,7200.0,600.0,29.3,50.0,MISC\n"
    assert ".header" in refused("04b1,8af1,f9d2,Terminated,3600.0,7200.0\n")
    jobs = jobs_of(task + task.replace("MISC", "").replace("50.0", "200.0") + task.replace("50.0", ""))
    assert jobs.amount.tolist() == [2, 8]
    assert said("audit.note.pai") in jobs.reading.notes


@pytest.mark.parametrize(
    "text", ["{}", "[]", "[{}]", "[[1]]", '{"a": ' * 3000, '{"a": 1}\n{"b": \n', "#\n", "# gpu\n", "JOBID\n"]
)
def test_a_hostile_file_is_refused(text: str) -> None:
    assert len(refused(text)) < 1000


@pytest.mark.parametrize(
    "text", ['{"hosts": 4, "racks": [1, 2]}', '[{"hosts": 4, "racks": 2}]', '{"hosts": 1}\n{"racks": 2}\n']
)
def test_json_of_other_tools_is_answered_with_its_keys(text: str) -> None:
    assert '"hosts", "racks"' in refused(text)


def packed(rows: list[list[Any]], *, blank_first: bool = False) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    if blank_first:
        book.add_worksheet("notes")
    sheet = book.add_worksheet("data")
    for n, row in enumerate(rows, 2):
        for at, value in enumerate(row):
            sheet.write(n, at, value)
    book.close()
    return out.getvalue()


def test_sheets_that_are_not_read_are_named() -> None:
    book = openpyxl.Workbook()
    for name in ("Empty", "May", "June", "Last"):
        sheet = book.create_sheet(name)
        for row in JOBS.splitlines() if name in ("May", "June") else ():
            sheet.append(row.split(","))
    out = io.BytesIO()
    book.save(out)
    read = jobs_of(out.getvalue()).reading
    assert said("audit.note.sheets", names="June") in read.notes
    assert read.used == jobs_of(JOBS).reading.used


def test_a_title_on_a_sheet_is_left_out_and_said() -> None:
    rows: list[list[Any]] = [line.split(",") for line in JOBS.splitlines()]
    found = jobs_of(packed([["Use of GPUs"], ["May", "all"], *rows]))
    same(found, jobs_of(JOBS))
    assert said("audit.note.titles", n=2, names="Use of GPUs, May all") in found.reading.notes


@pytest.mark.parametrize("blank_first", [False, True])
def test_a_sheet_is_read_as_a_csv_is(blank_first: bool) -> None:
    rows: list[list[Any]] = [line.split(",") for line in JOBS.splitlines()]
    same(jobs_of(packed(rows, blank_first=blank_first)), jobs_of(JOBS))
    for row in rows[1:]:
        row[0], row[1] = (datetime.fromisoformat(text) for text in row[:2])
        row[3] = float(row[3])
    same(jobs_of(packed(rows, blank_first=blank_first)), jobs_of(JOBS))


def test_lengths_of_time_formulas_and_dashboards() -> None:
    found = jobs_of(packed([["submit", "duration", "gpus"], [datetime(2025, 3, 3), timedelta(hours=2), 4]]))
    assert found.amount.tolist() == [8]
    rows = [
        [datetime(2025, 3, 3), length, 4]
        for length in (timedelta(hours=2), 2, timedelta(hours=23, seconds=9))
    ]
    hours = jobs_of(packed([["submit", "duration_h", "gpus"], *rows]))
    assert hours.duration_s.tolist() == [7200, 7200, 82809]
    text = jobs_of(
        packed([["submit", "duration", "gpus", "group"], [datetime(2025, 3, 3), 60, 1, '=HYPERLINK("x")']])
    )
    assert len(text.groups) == 1
    wide = samples_of(packed([["Time", "GPU 0", "GPU 1"], [datetime(2025, 3, 3), 20, 40]]))
    assert wide.percent.tolist() == [20, 40]


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04rest", packed([["submit"]])[:-30], packed([])], ids=["no zip", "cut", "empty"]
)
def test_a_broken_workbook_is_refused(data: bytes) -> None:
    assert refused(data)


def test_a_damaged_export_is_read_or_refused() -> None:
    """Letters, lines and pieces that are lost, doubled or others: never another error than a refusal."""
    samples = [
        SGE, BACCT, SREPORT, json.dumps(BJOBS), json.dumps({"jobs": [{"job_id": 1, "time": {"start": 9}, "state": {"current": ["X"]}, "tres": {"allocated": [{"type": "gres", "name": "gpu"}]}}]}),
        SQUEUE, in_columns(SQUEUE), SACCT, DMON, PMON, GRAFANA, PBS, lines_of(*MOONCAKE), json.dumps(LITELLM),
        json.dumps({"items": [POD, {"kind": "Node", "metadata": {"name": "n", "labels": {"nvidia.com/gpu.replicas": "4"}}}]}),
        json.dumps([{"jobid": "a", "vc": "v", "submitted_time": "2017-10-07 00:59:00", "attempts": [{"detail": [{"gpus": ["gpu0"]}]}]}]),
        json.dumps({"data": [{"start_time": 1740988800, "end_time": 1740988900, "results": [{"input_tokens": 9, "output_tokens": 5, "num_model_requests": 2}]}]}),
    ]  # fmt: skip
    for rng in cases(40_04, 4000, few=400):
        text = rng.choice(samples)
        for _ in range(rng.randint(1, 4)):
            at, end = sorted((rng.randrange(len(text)), rng.randrange(len(text))))
            end = min(end, at + rng.choice((1, 1, 3, 40)))
            new = rng.choice(
                ("", text[at:end] * 2, "9" * 12, "-", "null", '"', "[]", "{}", "\n", "\x00", "=", "#")
            )
            text = text[:at] + new + text[end:]
            text = text or " "
        with contextlib.suppress(TraceError):
            read(text)


POD = {
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "n", "creationTimestamp": "2025-03-03T08:00:00Z"},
    "spec": {"nodeName": "n", "containers": [{"resources": {"limits": {"nvidia.com/gpu.shared": "1", "nvidia.com/mig-1g.5gb": "2"}}}]},
    "status": {"phase": "Failed", "startTime": "2025-03-03T08:00:00Z",
               "containerStatuses": [{"state": {"terminated": {"finishedAt": "2025-03-03T09:00:00Z"}}}]},
}  # fmt: skip
