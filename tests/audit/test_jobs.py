"""Files of jobs."""

from __future__ import annotations

import pytest
from approved import has_approved, is_approved
from random_cases import cases
from traces import GOOD, JOBS, MAY, jobs_of, refused

from gpuplan.audit.trace import ALL
from gpuplan.wording import said


def test_a_csv_of_jobs() -> None:
    jobs = jobs_of(JOBS)
    assert (jobs.submit_s - MAY).tolist() == [0, 600, 1200]
    assert (jobs.start_s - jobs.submit_s).tolist() == [300, 0, 3600]
    assert jobs.has_start
    assert jobs.duration_s.tolist() == [3600, 5400, 86400]
    assert jobs.gpus.tolist() == [4, 1, 0.5]
    assert [jobs.groups[n] for n in jobs.group] == ["vision", "speech", "vision"]
    assert jobs.users == 2
    assert jobs.user.tolist() == [0, 1, 1]
    assert jobs.reading.format == "jobs"
    assert (jobs.reading.rows, jobs.reading.used, jobs.reading.skipped) == (3, 3, ())
    assert jobs.reading.columns["gpus"] == "num_gpus"
    assert jobs.reading.time_zone == "UTC"


def test_columns_named_by_hand() -> None:
    text = "when,long_min,cards,who\n2024-05-01,90,2,x\n2024-05-02,30,8,y\n"
    jobs = jobs_of(text, columns={"submit": "when", "duration": "long_min", "gpus": "cards", "group": "who"})
    assert jobs.duration_s.tolist() == [5400, 1800]
    assert jobs.groups == ("x", "y")
    assert not jobs.has_start
    assert jobs.users == 0


def test_an_end_instead_of_a_duration() -> None:
    jobs = jobs_of("submit,start,end,gpus\n2024-05-01,2024-05-02,2024-05-03,1\n")
    assert jobs.duration_s.tolist() == [86400]


def test_a_job_without_an_end_is_cut_at_the_latest_time_in_the_file() -> None:
    head, first = "submit,start,end,gpus,state\n", "2024-05-01,2024-05-02,2024-05-03,1,Running\n"
    for none in ("", "Unknown", "null", "-", "NaT"):
        jobs = jobs_of(f"{head}{first}2024-05-01,2024-05-01 12:00,{none},2,Running\n2024-05-01,,,4,\n")
        assert jobs.duration_s.tolist() == [86400, 1.5 * 86400]
        assert [left.rows for left in jobs.reading.skipped] == [1]
        assert is_approved(jobs.reading.notes, "1")
    ended = jobs_of(f"{head}{first}2024-05-01,2024-05-01 12:00,,2,Failed\n")
    assert ended.amount.tolist() == [24]
    assert is_approved(ended.reading.skipped[0][0])


def test_a_job_that_runs_has_no_duration_yet() -> None:
    head = "submit,duration,gpus,state\n2024-05-01,86400,1,COMPLETED\n"
    jobs = jobs_of(head + "2024-05-01 12:00,,2,RUNNING\n2024-05-01 12:00,,2,COMPLETED\n")
    assert jobs.duration_s.tolist() == [86400, 43200]
    assert [(left.rows, left.unknown) for left in jobs.reading.skipped] == [(1, 1)]
    started = jobs_of("start,duration,gpus\n2024-05-01,86400,1\n2024-05-01 12:00,,2\n")
    assert started.duration_s.tolist() == [86400, 43200], "it has started, and nothing says that it ended"
    so_far = jobs_of("start,end,elapsed,gpus\n2024-05-01,,3600,1\n2024-05-01,2024-05-03,172800,1\n")
    assert so_far.duration_s.tolist() == [3600, 172800]
    assert has_approved(so_far.reading.notes, "1")


def test_a_start_alone_stands_for_the_request() -> None:
    jobs = jobs_of("start,duration,gpus\n2024-05-01,60,1\n")
    assert not jobs.has_start
    assert jobs.submit_s.tolist() == jobs.start_s.tolist() == [MAY]
    assert has_approved(jobs.reading.notes)


def test_intervals_count_rows_without_gpus_too() -> None:
    jobs = jobs_of("user,gpu_num,interval,run_time\na,1,5,60\nb,0,10,60\na,2,20,60\n")
    assert jobs.submit_s.tolist() == [5, 35]
    assert jobs.groups == (ALL,)
    assert jobs.users == 1
    notes = " ".join(jobs.reading.notes)
    assert "unknown moment" in notes
    assert has_approved(notes)
    assert jobs.reading.skipped[0][:3] == ("no GPUs", 1, 3)


def test_jobs_that_wait_or_never_ran_are_left_out() -> None:
    jobs = jobs_of(
        "submit,duration,gpus,state\n2024-05-01,60,1,DONE\n2024-05-01,60,1,PENDING\n2024-05-01,0,1,DONE\n"
    )
    assert jobs.reading.used == 1
    assert is_approved({s.reason: s.first_line for s in jobs.reading.skipped}, "never started", "3", "4")


def test_nan_is_a_value_that_is_not_known() -> None:
    jobs = jobs_of(f"submit,duration,gpus\n{GOOD}2024-05-01 00:00:00,nan,1\n2024-05-01 00:00:00,60,NaN\n")
    assert is_approved({s.reason for s in jobs.reading.skipped})


def test_start_before_submit_and_end_before_start() -> None:
    text = "submit,start,end,gpus\n" + "2024-05-02,2024-05-03,2024-05-04,1\n" * 3
    jobs = jobs_of(text + "2024-05-02,2024-05-01,2024-05-04,1\n2024-05-02,2024-05-03,2024-05-02,1\n")
    assert is_approved({s.reason for s in jobs.reading.skipped})


OPENB = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def test_the_openb_trace_by_its_header() -> None:
    jobs = jobs_of(
        OPENB + "p0,8000,1024,8,1000,,Burstable,Succeeded,100,3700,400\n"
        "p1,4000,1024,1,220,,BE,Running,200,800,200\n"
        "p2,4000,1024,0,0,,LS,Running,300,900,300\n"
        "p3,4000,1024,1,1000,V100M16|V100M32,LS,Failed,300,900,300\n"
        "p4,4000,1024,1,1000,,LS,Pending,300,900,\n"
    )
    assert jobs.gpus.tolist() == [8, 0.22, 1]
    assert jobs.submit_s.tolist() == [100, 200, 300]
    assert jobs.start_s.tolist() == [400, 200, 300]
    assert jobs.duration_s.tolist() == [3300, 600, 600]
    assert jobs.groups == ("Burstable", "BE", "LS")
    assert {s.reason: s.first_line for s in jobs.reading.skipped} == {"no GPUs": 4, "never started": 6}


def test_the_helios_trace_by_its_header() -> None:
    jobs = jobs_of(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "11,uA,vcA,1,1,1,COMPLETED,2024-05-01 00:00:00,2024-05-01 00:10:00,2024-05-01 01:10:00,3600,600\n"
        "12,uB,vcB,16,64,2,FAILED,2024-05-01 00:01:00,2024-05-01 00:01:00,2024-05-01 00:02:30,90,0\n"
        "13,uB,vcB,0,4,1,CANCELLED,2024-05-01 00:02:00,2024-05-01 00:02:00,2024-05-01 00:03:00,60,0\n"
    )
    assert (jobs.start_s - jobs.submit_s).tolist() == [600, 0]
    assert (jobs.gpus.tolist(), jobs.duration_s.tolist()) == ([1, 16], [3600, 90])
    assert (jobs.groups, jobs.users) == (("vcA", "vcB"), 2)


def test_thousandths_of_a_gpu_without_a_count() -> None:
    jobs = jobs_of("submit,duration,gpu_milli\n2024-05-01,60,125\n2024-05-01,60,4000\n2024-05-01,60,0\n")
    assert jobs.gpus.tolist() == [0.125, 4]
    assert jobs.reading.skipped[0][:3] == ("no GPUs", 1, 4)
    by_hand = jobs_of("submit,duration,slice\n2024-05-01,60,125\n", columns={"gpu_milli": "slice"})
    assert by_hand.gpus.tolist() == [0.125]


def test_thousandths_that_contradict_the_count_are_left_out_with_line_and_column() -> None:
    header, good = "submit,duration,num_gpu,gpu_milli\n", "2024-05-01,60,1,500\n"
    wrong = "2024-05-01,60,2,500\n2024-05-01,60,1,2000\n2024-05-01,60,0,500\n2024-05-01,60,0.5,500\n"
    jobs = jobs_of(header + 5 * good + wrong + "2024-05-01,60,1,1500\n")
    assert jobs.gpus.tolist() == [0.5] * 5
    assert [(s.rows, s.first_line) for s in jobs.reading.skipped] == [(4, 7), (1, 11)]
    assert all("gpu_milli" in s.reason for s in jobs.reading.skipped)
    said = refused(header + "2024-05-01,60,1,half\n")
    assert has_approved(said, "2", '"half"', "gpu_milli")


FAULTS = ("time", "early", "gpus", "length", "cells", "none", "never")


def test_gpu_hours_of_the_file_are_those_of_the_answer_and_of_the_rows_left_out() -> None:
    for rng in cases(20, 2_000, few=60):
        known, unknown = 0.0, 0
        has_end, per_node = rng.random() < 0.5, rng.random() < 0.5
        faults = [""] * rng.randint(41, 80) + rng.choices(FAULTS, k=rng.randint(1, 30))
        rng.shuffle(faults)
        lines = [
            f"submit,start,{'end' if has_end else 'duration'}{',gpus_per_node,nodes' if per_node else ',gpus'}"
        ]
        for fault in faults:
            length, gpus, nodes, start = (
                3600 * rng.randint(1, 9),
                rng.randint(1, 9),
                rng.randint(1, 4),
                int(MAY) + 100,
            )
            cells = [start - 50, start, start + length if has_end else length, gpus, nodes][
                : 5 if per_node else 4
            ]
            hours = gpus * (nodes if per_node else 1) * length / 3600
            if fault == "time":
                cells[0] = "yesterday"
            elif fault == "early":
                cells[0] = start + 50
            elif fault == "gpus":
                cells[3] = rng.choice(("many", "1.5", "-1"))
            elif fault == "length":
                cells[2] = rng.choice(("long", "-7"))
            elif fault == "cells":
                cells = cells[:-1]
            elif fault == "none":
                cells[3], hours = 0, 0.0
            elif fault == "never":
                cells[1], hours = "", 0.0
            lines.append(",".join(map(str, cells)))
            lost = fault in ("gpus", "length", "cells")
            known += 0 if lost else hours
            unknown += lost
        jobs = jobs_of("\n".join(lines) + "\n")
        left = jobs.reading.skipped
        assert jobs.amount.sum() + sum(each.gpu_h for each in left) == pytest.approx(known)
        assert sum(each.unknown for each in left) == unknown
        assert jobs.reading.used + sum(each.rows for each in left) == jobs.reading.rows == len(faults)


HEAD = "submit,duration,{},{}\n"
ROWS = "2024-05-01,3600,{},{}\n2024-05-01,3600,{},{}\n"


def gpus_by(
    column: str, cells: tuple[str, str], count: str = "x", counts: tuple[int, int] = (1, 1), **by: str
) -> object:
    rows = ROWS.format(cells[0], counts[0], cells[1], counts[1])
    jobs = jobs_of(HEAD.format(column, count) + rows, columns=by)
    notes = sum(f'"{column}"' in note for note in jobs.reading.notes)
    return jobs.gpus.tolist(), notes, jobs.reading.columns.get("times") or jobs.reading.columns.get("nodes")


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("num_gpus", ("2", "0.5")),
        ("GPU Count", ("2", "0.5")),
        ("Requested GPUs", ("2", "0.5")),
        ("nvidia.com/gpu", ("2", "500m")),
        ("plan_gpu", ("200", "50")),
        ("gpus (%)", ("200", "50")),
        ("gpu_percent", ("200", "50")),
        ("numGpuPct", ("200", "50")),
        ("gpus", ("200%", "50 %")),
        ("gpu_milli", ("2000", "500")),
        ("gpus [milli]", ("2000", "500")),
        ("gpu_fraction", ("2", "0.5")),
        ("gpu", ("2", "0.5")),
    ],
)
def test_gpus_are_the_same_in_every_unit(column: str, cells: tuple[str, str]) -> None:
    found, _, _ = gpus_by(column, cells)
    assert found == [2, 0.5]


@pytest.mark.parametrize("column", ["gpus_per_{}", "num_gpus_per_{}", "gpu_per_{}"])
@pytest.mark.parametrize(
    ("one", "counts"),
    [
        ("node", ("node_num", "nodes", "num_nodes", "NNodes", "Node Count")),
        ("worker", ("worker_num", "num_workers", "workers")),
        ("replica", ("replicas", "numReplicas")),
        ("instance", ("inst_num", "instances")),
        ("pod", ("pods", "pod_count")),
        ("task", ("ntasks", "num_tasks")),
    ],
)
def test_gpus_of_each_are_multiplied(column: str, one: str, counts: tuple[str, ...]) -> None:
    for count in counts:
        found = gpus_by(column.format(one), ("4", "0.5"), count, (3, 2))
        assert found[0] == [12, 1], count


def test_the_count_of_what_a_column_says_multiplies_it() -> None:
    head, row = "submit,duration,gpus_per_node,nodes,workers,ntasks\n", "2024-05-01,60,4,2,16,32\n"
    assert jobs_of(head + row).gpus.tolist() == [8]
    assert jobs_of((head + row).replace("per_node", "per_worker")).gpus.tolist() == [64]
    assert jobs_of((head + row).replace("per_node", "per_task")).gpus.tolist() == [128]


def test_gpus_of_the_whole_job_are_not_multiplied_by_its_nodes() -> None:
    for column in ("gpu_num", "num_gpus", "gpus", "total_gpus"):
        assert gpus_by(column, ("16", "8"), "node_num", (2, 1)) == ([16, 8], 1, None)
        assert gpus_by(column, ("16", "8"), "node_num", (1, 1)) == ([16, 8], 0, None), "nothing to say"
    assert gpus_by("total_gpus", ("16", "8"), "replicas", (2, 1)) == ([16, 8], 1, None)
    assert gpus_by("gpu_num", ("16", "8"), "worker_num", (2, 1)) == ([16, 8], 1, None)


def test_gpus_are_those_of_each_worker_where_a_request_is_multiplied() -> None:
    assert gpus_by("gpu_request", ("1", "0.5"), "worker_num", (94, 3)) == ([94, 1.5], 1, "worker_num")
    assert gpus_by("plan_gpu", ("50", "100"), "inst_num", (4, 1)) == ([2, 1], 1, "inst_num")


def test_the_multiplier_is_corrected_by_hand() -> None:
    assert gpus_by("gpu_num", ("16", "8"), "node_num", (2, 1), times="node_num")[0] == [32, 8]
    assert gpus_by("gpu_request", ("1", "2"), "worker_num", (94, 3), times="")[0] == [1, 2]
    assert gpus_by("cards", ("50", "100"), "n", (4, 1), gpus="cards:percent", times="n")[0] == [2, 1]
    assert gpus_by("plan_gpu", ("1", "2"), "n", gpus="plan_gpu:count")[0] == [1, 2]


def test_gpu_time_alone_gives_the_duration() -> None:
    for column, value in (
        ("gpu_hours", 8),
        ("gpu_time", 28800),
        ("GPU-minutes", 480),
        ("gpu_time (h)", 8),
        ("gpu_h", 8),
    ):
        jobs = jobs_of(f"start,gpus,{column}\n2024-05-01,4,{value}\n")
        assert jobs.duration_s.tolist() == [7200], column
        assert jobs.amount.tolist() == [8]


def test_fractions_beside_whole_gpus_are_noted() -> None:
    jobs = jobs_of("submit,duration,gpus_per_pod,pods\n0,60,0.5,3\n0,60,0.5,4\n0,60,0.5,1\n")
    assert jobs.gpus.tolist() == [1.5, 2, 0.5]
    assert has_approved(jobs.reading.notes, "1")


def test_gpu_time_is_not_read_where_durations_or_ends_are() -> None:
    jobs = jobs_of("start,end,gpus,gpu_hours\n2024-05-01,2024-05-02,1,99\n")
    assert (jobs.amount.tolist(), "work" in jobs.reading.columns) == ([24], False)


def test_gpus_for_each_of_what_is_not_counted_are_said() -> None:
    assert gpus_by("gpus_per_node", ("4", "8"))[:2] == ([4, 8], 1)


def test_counts_that_are_none_are_left_out() -> None:
    text = "submit,duration,gpus_per_node,nodes\n" + "2024-05-01,3600,4,2\n" * 4
    jobs = jobs_of(
        text + "2024-05-01,3600,4,2.5\n2024-05-01,3600,4,\n2024-05-01,3600,4,0\n2024-05-01,3600,200000,2\n"
    )
    assert jobs.gpus.tolist() == [8] * 4
    assert sum(left.rows for left in jobs.reading.skipped) == 4
    assert "columns.times" in refused(text, columns={"times": "workers"})


DAYS = [
    ("2026-09-01", "08:00", "2026-09-02", "10:00", 26),
    ("2026-09-01", "22:00:00", "2026-09-03", "02:30:00", 28.5),
]


@pytest.mark.parametrize(
    "form", ["{0}_date {0}_time", "{0}Date {0}Time", "date_{0} time_{0}", "{0}_day {0}_clock"]
)
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("german", [False, True])
def test_dates_and_times_of_day_in_columns_of_their_own(form: str, delimiter: str, german: bool) -> None:
    head = [name for what in ("start", "end") for name in form.format(what).split()]
    rows = [[".".join(text.split("-")[::-1]) if german else text for text in row[:4]] for row in DAYS]
    text = "\n".join(delimiter.join(row) for row in [[*head, "gpus"], *([*row, "2"] for row in rows)])
    assert (jobs_of(text).duration_s / 3600).tolist() == [row[4] for row in DAYS]


def test_one_date_of_several_times_of_day() -> None:
    jobs = jobs_of("date,start_time,end_time,gpus\n2026-09-01,08:00,10:00,2\n2026-09-02,09:00,,2\n")
    assert jobs.duration_s[0] == 7200
    assert jobs.start_s[1] - jobs.start_s[0] == 25 * 3600


def test_days_without_a_time_of_day_are_said() -> None:
    note = said("audit.note.only dates")
    assert note in jobs_of("start,end,gpus\n2026-09-01,2026-09-03,2\n").reading.notes
    assert note in jobs_of("start_date,end_date,gpus\n01.09.2026,03.09.2026,2\n").reading.notes
    assert note not in jobs_of("start,end,gpus\n2026-09-01,2026-09-03 04:00,2\n").reading.notes


@pytest.mark.parametrize("ids", ["0,1", "0, 1", "0,1,2,3", "2,5"])
def test_numbers_of_devices_are_no_count(ids: str) -> None:
    assert said("audit.ids of gpus") in refused(
        f'start,duration,gpus\n2024-05-01,60,3\n2024-05-01,60,"{ids}"\n'
    )


def exported(jobs: list[tuple[int, int, int, int]], until_h: int, *, sacct: bool) -> list[str]:
    """Rows of the jobs (id, start, hours, GPUs) that had started, as an export at an hour has them."""
    rows = []
    for id, start, hours, gpus in jobs:
        ended = start + hours <= until_h
        begin, end = (f"2024-05-{1 + h // 24:02} {h % 24:02}:00:00" for h in (start, start + hours))
        so_far = 3600 * (hours if ended else until_h - start)
        state = "COMPLETED" if ended else "RUNNING"
        if start < until_h and sacct:
            row = f"{id}|{begin}|{begin}|{end if ended else 'Unknown'}|{so_far}|gres/gpu={gpus}|{state}"
            rows += [row, row.replace(f"{id}|", f"{id}.batch|", 1)]
        elif start < until_h:
            rows.append(f"{id},{begin},{end if ended else ''},{gpus},{state}")
    return rows


@pytest.mark.parametrize("sacct", [False, True])
def test_jobs_of_overlapping_exports_count_once_and_none_is_lost(sacct: bool) -> None:
    """Exports at several hours, joined with or without their headers: the last one alone has the same jobs."""
    head = "JobID|Submit|Start|End|ElapsedRaw|AllocTRES|State" if sacct else "job_id,start,end,gpus,state"
    for rng in cases(40_10, 400, few=40):
        ids = [rng.randrange(9) for _ in range(rng.randint(1, 12))]
        runs = {(id, rng.randrange(60)): (rng.randint(1, 40), rng.choice((1, 2, 8))) for id in ids}
        jobs = [(*run, *size) for run, size in runs.items()]
        parts = [exported(jobs, until, sacct=sacct) for until in (30, 70, 110)]
        whole = jobs_of("\n".join([head, *parts[-1]]))
        between = [head] * rng.randrange(2)
        rows = [head, *parts[0], *between, *parts[1], *between, *parts[2], *parts[2]]
        joined = jobs_of("\n".join(rows))
        assert sorted(joined.amount) == sorted(whole.amount) == sorted(h * g for _, _, h, g in jobs)
        left = {skipped.reason: skipped for skipped in joined.reading.skipped}
        again = left[said("audit.row.again")]
        count = (len(rows) - 1 - 2 * len(between)) // (2 if sacct else 1)
        assert again.rows == count - len(jobs)
        if sacct:
            stated = sum(
                int(row.split("|")[4]) * int(row.split("|")[5][9:])
                for row in rows
                if "|C" in row or "|R" in row
            )
            assert again.gpu_h + joined.amount.sum() == pytest.approx(stated / 3600 / 2)


def test_a_file_twice_whose_jobs_have_no_id() -> None:
    """A second header tells; without one each row counts, and that is said."""
    twice = jobs_of(JOBS + JOBS)
    assert twice.amount.tolist() == jobs_of(JOBS).amount.tolist()
    assert [(left.reason, left.rows) for left in twice.reading.skipped] == [(said("audit.row.again"), 3)]
    rows = JOBS.split("\n", 1)[1]
    array = jobs_of(JOBS + rows + JOBS)
    assert len(array.gpus) == 6, "an array of equal jobs in one export"
    assert said("audit.note.equal rows", n=3) in jobs_of(JOBS + rows).reading.notes


def test_jobs_without_their_id_are_not_the_same() -> None:
    row = "{},2024-05-01 00:00:00,2024-05-01 02:00:00,4\n"
    for none in ("", "N/A", "-", "null"):
        jobs = jobs_of("job_id,start,end,gpus\n" + row.format(none) * 3 + row.format(7) * 2)
        assert len(jobs.gpus) == 4, none


def test_parts_of_a_job_are_not_the_same_job_again() -> None:
    row = "7,{},2024-05-01 00:00:00,{},{}\n"
    ends = ("2024-05-01 02:00:00", "2024-05-01 04:00:00")
    text = "job_id,node,start,end,gpus\n" + "".join(row.format(f"n{n % 2}", ends[0], 4) for n in range(4))
    assert jobs_of(text).amount.tolist() == [8, 8]
    assert jobs_of(text.replace("node", "rack")).amount.tolist() == [8]
    assert len(jobs_of(text, columns={"job": ""}).gpus) == 4


def test_a_duration_that_contradicts_start_and_end_is_said() -> None:
    head, row = "start,end,{},gpus\n", "2024-05-01 00:00:00,2024-05-01 0{}:00:00,{},2\n"
    rows = [row.format(2, 7200), row.format(3, 10800), row.format(4, 14430), row.format(5, 3600)]
    jobs = jobs_of(head.format("duration") + "".join(rows))
    assert jobs.duration_s.tolist() == [7200, 10800, 14430, 3600]
    assert said("audit.note.contradicted", n=1) in jobs.reading.notes
    by_end = jobs_of(head.format("duration") + "".join(rows), columns={"duration": ""})
    assert by_end.duration_s.tolist() == [7200, 10800, 14400, 18000]
    hours = jobs_of(
        head.format("duration_h") + row.format(2, 2) + row.format(3, 3) + row.format(4, 5) + row.format(5, 5)
    )
    assert said("audit.note.contradicted", n=1) in hours.reading.notes
    rounded = jobs_of(
        head.format("duration_h") + "2024-05-01 00:00:00,2024-05-01 02:20:00,2,2\n" + 2 * row.format(3, 3)
    )
    assert not [note for note in rounded.reading.notes if note == said("audit.note.contradicted", n=1)]
    assert jobs_of(
        head.format("duration") + rows[0] + "2024-05-01 00:00:00,?,60,1\n"
    ).duration_s.tolist() == [7200, 60]
