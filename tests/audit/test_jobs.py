"""Files of jobs."""

from __future__ import annotations

from traces import GOOD, JOBS, MAY, jobs_of

from gpuplan.audit.trace import ALL


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
    jobs = jobs_of("submit,start,end,gpus\n2024-05-01,2024-05-02,2024-05-03,1\n2024-05-01,2024-05-02,,1\n")
    assert jobs.duration_s.tolist() == [86400]
    assert jobs.reading.skipped[0][:3] == ("end is not known", 1, 3)


def test_a_start_alone_stands_for_the_request() -> None:
    jobs = jobs_of("start,duration,gpus\n2024-05-01,60,1\n")
    assert not jobs.has_start
    assert jobs.submit_s.tolist() == jobs.start_s.tolist() == [MAY]
    assert any("waits are not seen" in note for note in jobs.reading.notes)


def test_intervals_count_rows_without_gpus_too() -> None:
    jobs = jobs_of("user,gpu_num,interval,run_time\na,1,5,60\nb,0,10,60\na,2,20,60\n")
    assert jobs.submit_s.tolist() == [5, 35]
    assert jobs.groups == (ALL,)
    assert jobs.users == 1
    notes = " ".join(jobs.reading.notes)
    assert "unknown moment" in notes
    assert "No column names a group" in notes
    assert jobs.reading.skipped[0][:3] == ("no GPUs", 1, 3)


def test_jobs_that_wait_or_never_ran_are_left_out() -> None:
    jobs = jobs_of(
        "submit,duration,gpus,state\n2024-05-01,60,1,DONE\n2024-05-01,60,1,PENDING\n2024-05-01,0,1,DONE\n"
    )
    assert jobs.reading.used == 1
    assert {s.reason: s.first_line for s in jobs.reading.skipped} == {
        "never started": 3,
        "ran for no time": 4,
    }


def test_nan_is_a_value_that_is_not_known() -> None:
    jobs = jobs_of(f"submit,duration,gpus\n{GOOD}2024-05-01 00:00:00,nan,1\n2024-05-01 00:00:00,60,NaN\n")
    assert {s.reason for s in jobs.reading.skipped} == {"duration is not known", "gpus is not known"}


def test_start_before_submit_and_end_before_start() -> None:
    text = "submit,start,end,gpus\n" + "2024-05-02,2024-05-03,2024-05-04,1\n" * 3
    jobs = jobs_of(text + "2024-05-02,2024-05-01,2024-05-04,1\n2024-05-02,2024-05-03,2024-05-02,1\n")
    assert {s.reason for s in jobs.reading.skipped} == {"start is before submit", "end is before the begin"}
