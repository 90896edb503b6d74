"""A file from the browser: pieces, the audit, the groups, the replay, and that it goes away."""

from __future__ import annotations

from pathlib import Path

import pytest
from waiting import LONG_S, soon

from gpuplan import load_scenario
from gpuplan.audit.upload import MOST_BYTES, Auditing

pytestmark = pytest.mark.usefixtures("plain_script")

JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},{'ab'[hour % 2]}\n"
    for hour in range(240)
)
CURRENT = load_scenario("current")


@pytest.fixture
def auditing() -> Auditing:
    return Auditing(lambda: None)


def send(auditing: Auditing, text: str = JOBS, name: str = "jobs.csv", piece: int = 1000) -> None:
    data = text.encode()
    for at in range(0, max(1, len(data)), piece):
        auditing.receive(name, len(data), at, data[at : at + piece])


def ended(auditing: Auditing) -> None:
    soon(lambda: auditing.runner.state != "running", "it is still running", LONG_S)


def test_a_file_arrives_in_pieces_and_is_removed_when_it_is_forgotten(auditing: Auditing) -> None:
    send(auditing)
    path = auditing.path
    assert auditing.complete
    assert path.read_text() == JOBS
    auditing.forget()
    assert not path.exists()
    assert (auditing.name, auditing.got, auditing.complete) == ("", 0, False)


def test_pieces_of_a_file_that_was_given_up_are_ignored(auditing: Auditing) -> None:
    auditing.receive("a.csv", 10, 0, b"12345")
    send(auditing, name="b.csv")
    auditing.receive("a.csv", 10, 5, b"67890")
    auditing.receive("b.csv", len(JOBS), 3, b"x")
    assert auditing.path.read_text() == JOBS


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c.csv", "-rf", "x" * 300, "\u202e.csv", ""])
def test_a_name_is_no_path(auditing: Auditing, name: str) -> None:
    send(auditing, name=name)
    folder = auditing.path.parent
    assert [p.parent for p in folder.rglob("*")] in ([folder], [])
    assert auditing.path.parent == folder
    assert folder.name.startswith("gpuplan-upload-")


@pytest.mark.parametrize(("size", "words"), [(0, "empty"), (MOST_BYTES + 1, "gpuplan audit FILE")])
def test_files_of_a_wrong_size_are_refused(auditing: Auditing, size: int, words: str) -> None:
    auditing.receive("big.csv", size, 0, b"")
    assert words in auditing.error
    assert not auditing.complete


def test_the_audit_gives_groups_that_keep_the_rest_of_the_design(auditing: Auditing) -> None:
    send(auditing)
    auditing.start(CURRENT)
    ended(auditing)
    assert auditing.runner.error == ""
    found = auditing.found
    assert found is not None
    assert found["allocation"]["jobs"] == 240
    assert found["comparison"] is None
    made = auditing.suggested(CURRENT)
    assert made is not None
    assert {g.name for g in made.groups} == {"a, 1 GPU", "b, 2 GPUs"}
    assert (made.name, made.hardware, made.platform) == (CURRENT.name, CURRENT.hardware, CURRENT.platform)
    assert made.origin("hardware.gpu") == CURRENT.origin("hardware.gpu")
    assert made.origin(f"groups.{made.groups[0].id}.people").basis == "measured"
    assert made.demand.rule == "wait-time"


def test_the_jobs_are_replayed_on_the_hosts_of_a_design(auditing: Auditing) -> None:
    send(auditing)
    auditing.start(CURRENT, replay=True)
    ended(auditing)
    assert auditing.found is not None
    assert len(auditing.found["comparison"]["hosts"]) == 10
    assert auditing.replayed == CURRENT


def test_the_findings_stay_until_there_are_new_ones(auditing: Auditing) -> None:
    send(auditing)
    auditing.start(CURRENT, replay=True)
    assert auditing.found is None
    ended(auditing)
    before = auditing.found
    assert before is not None
    auditing.start(CURRENT, replay=True)
    assert auditing.found == before | {"comparison": None}
    auditing.runner.cancel()
    assert auditing.found == before | {"comparison": None}
    assert auditing.suggested(CURRENT) is not None
    auditing.option("columns", "gpus=no such column")
    auditing.start(CURRENT)
    ended(auditing)
    assert auditing.found is None
    auditing.forget()
    auditing.start(CURRENT)
    assert auditing.found is None


def test_options_are_used_and_what_is_wrong_with_them_is_said(auditing: Auditing) -> None:
    send(auditing, JOBS.replace("gpus", "cards", 1))
    auditing.start(CURRENT)
    ended(auditing)
    assert "gpus" in auditing.runner.error
    assert auditing.found is None
    auditing.option("columns", "gpus=cards, group=group")
    auditing.option("time_zone", " Asia/Kolkata ")
    auditing.start(CURRENT)
    ended(auditing)
    assert auditing.found is not None
    assert auditing.found["time_zone"] == "Asia/Kolkata"
    auditing.option("first_day", "2024-05-08 ")
    auditing.option("last_day", "2024-05-09")
    auditing.start(CURRENT)
    ended(auditing)
    assert auditing.found is not None
    assert auditing.found["allocation"]["jobs"] == 48 + 1, "one runs from the day before"
    auditing.option("time_zone", "--help")
    auditing.start(CURRENT)
    ended(auditing)
    assert "--help" in auditing.runner.error
    assert "IANA" in auditing.runner.error
    auditing.option("path", "/etc/passwd")
    assert auditing.path.parent.name.startswith("gpuplan-upload-")


def test_other_columns_are_read_at_once(auditing: Auditing) -> None:
    send(auditing, JOBS.replace("duration", "length", 1).replace("submit", "submit_h", 1))
    auditing.option("columns", "duration=length")
    assert auditing.runner.state == "idle", "not before it was read once"
    auditing.start(CURRENT)
    ended(auditing)
    before = auditing.found
    auditing.option("columns", "duration=length:min")
    ended(auditing)
    assert before and auditing.found
    assert auditing.found["allocation"]["gpu_h"] == pytest.approx(60 * before["allocation"]["gpu_h"])
    auditing.option("columns", "duration=length:min ")
    assert auditing.runner.state == "done", "nothing else is said"


def test_samples_give_no_groups(auditing: Auditing) -> None:
    send(auditing, "time,gpu,percent\n2024-05-06 00:00:00,0,50\n2024-05-06 01:00:00,0,70\n")
    auditing.start(CURRENT)
    ended(auditing)
    assert auditing.found is not None
    assert auditing.found["activity"]["mean_activity_pct"] == 60
    assert auditing.suggested(CURRENT) is None


def test_the_folder_goes_with_the_session() -> None:
    auditing = Auditing(lambda: None)
    send(auditing)
    folder = Path(auditing.path).parent
    del auditing
    assert not folder.exists()
