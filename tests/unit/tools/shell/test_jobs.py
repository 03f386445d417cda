"""Background jobs: Bash starts them, TaskOutput shows them, TaskStop ends them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app.clock import SystemClock
from detent.app.outputs import OutputFolder
from detent.ports import Job
from detent.tools.shell import jobs as jobs_module
from detent.tools.shell.jobs import JobTable
from detent.types.outcomes import Done, Failed, Outcome, text_of

from .shells import Shells

PATIENCE = 20.0


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    return Shells(tmp_path)


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


def data_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Done), outcome
    assert outcome.data is not None
    return outcome.data


async def begin(shells: Shells, command: str) -> str:
    outcome = await shells.acall("Bash", command=command, run_in_background=True)
    return str(data_of(outcome)["backgroundTaskId"])


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state in "ZX"


def printed(shells: Shells, job: str) -> str:
    found = shells.table.find(job)
    assert found is not None
    return Path(found.path).read_text()


def test_it_starts_at_once_and_prints_into_a_file(shells: Shells) -> None:
    async def story() -> None:
        outcome = await shells.acall(
            "Bash", command="echo one; echo two >&2; exec sleep 60", run_in_background=True
        )
        job = shells.table.find("job_1")
        assert job is not None and job.exit_code is None
        assert text_of(outcome) == (
            f"Started in the background as job_1. Its output goes to {job.path}. You will be told "
            "when it ends; TaskOutput shows what it prints, TaskStop ends it."
        )
        assert Path(job.path).parent == shells.kept
        await until(lambda: printed(shells, "job_1") == "one\ntwo\n")

    shells.during(story)
    assert shells.news == [], "the end of the session is no news"


def test_the_end_is_told_with_the_last_lines(shells: Shells) -> None:
    async def story() -> None:
        await begin(shells, "seq 9; exit 3")
        await until(lambda: shells.news)

    shells.during(story)
    (news,) = shells.news
    assert news.startswith("[Background job job_1 (seq 9; exit 3) ended after 0.")
    assert f"Exit code 3. Output: {shells.kept}/job_1.txt; its last lines:]" in news
    assert news.endswith("\n> 5\n> 6\n> 7\n> 8\n> 9")


def test_news_are_short_whatever_a_job_is_and_prints(shells: Shells) -> None:
    async def story() -> None:
        await begin(shells, "# " + "x" * 9_000 + "\nhead -c 100000 /dev/zero | tr '\\0' y")
        await begin(shells, "true")
        await until(lambda: len(shells.news) == 2)

    shells.during(story)
    assert all(len(news) < 2_500 for news in shells.news)
    assert any(news.endswith("job_2.txt, empty.]") for news in shells.news)


def test_only_what_is_new_is_shown(shells: Shells) -> None:
    go = shells.work / "go"
    os.mkfifo(go)

    async def story() -> None:
        job = await begin(shells, "echo one; cat go; echo two; cat go")
        await until(lambda: printed(shells, job) == "one\n")
        first = await shells.acall("TaskOutput", task_id=job, block=False)
        assert text_of(first).startswith(f"{job} (echo one; cat go; echo two; cat go) has been")
        assert text_of(first).endswith("\n\none")
        assert data_of(first)["status"] == "running"
        again = await shells.acall("TaskOutput", task_id=job, block=False)
        assert text_of(again).endswith("(nothing new was printed)")
        await asyncio.to_thread(go.write_text, "")
        await until(lambda: "two" in printed(shells, job))
        waiting = asyncio.create_task(shells.acall("TaskOutput", task_id=job))
        await until(lambda: shells.table._works[job].waiting)
        await asyncio.to_thread(go.write_text, "")
        last = await waiting
        assert text_of(last).endswith("Exit code 0.\n\ntwo")
        assert (data_of(last)["status"], data_of(last)["exitCode"]) == ("completed", 0)

    shells.during(story)
    assert shells.news == [], "the call has told it"


def test_waiting_has_its_time(shells: Shells) -> None:
    async def story() -> None:
        job = await begin(shells, "exec sleep 60")
        outcome = await shells.acall("TaskOutput", task_id=job, timeout=50)
        assert data_of(outcome)["status"] == "running"
        os.kill(shells.table._works[job].running.pid, signal.SIGKILL)
        await until(lambda: shells.news)
        ended = await shells.acall("TaskOutput", task_id=job)
        assert data_of(ended)["status"] == "killed"

    shells.during(story)
    assert "Killed by SIGKILL." in shells.news[0]


def test_a_character_is_not_torn_between_two_looks(shells: Shells) -> None:
    go = shells.work / "go"
    os.mkfifo(go)

    async def story() -> None:
        job = await begin(shells, r"printf 'a\xe2\x82'; cat go; printf '\xac'; exit 3")
        path = Path(getattr(shells.table.find(job), "path"))  # noqa: B009
        await until(lambda: path.stat().st_size == 3)
        first = await shells.acall("TaskOutput", task_id=job, block=False)
        assert data_of(first)["output"] == "a"
        await asyncio.to_thread(go.write_text, "")
        last = await shells.acall("TaskOutput", task_id=job)
        assert (data_of(last)["output"], data_of(last)["status"]) == ("€", "failed")

    shells.during(story)


def test_long_output_is_bounded_and_the_file_is_named(shells: Shells) -> None:
    async def story() -> None:
        job = await begin(shells, "echo first; yes | head -c 5000000; echo last")
        outcome = await shells.acall("TaskOutput", task_id=job)
        text = text_of(outcome)
        assert len(text) <= 30_000
        assert "first\ny\ny" in text and text.endswith("y\nlast")
        path = shells.kept / "job_1.txt"
        assert f"all that it printed (5.0 MB) is in {path}: use Read or Grep on it" in text
        assert len(data_of(outcome)["output"]) <= 30_000
        assert path.stat().st_size == 5_000_011

    shells.during(story)


def test_old_names_and_a_filter(shells: Shells) -> None:
    async def story() -> None:
        job = await begin(shells, "seq 30; exec sleep 60")
        await until(lambda: printed(shells, job).endswith("30\n"))
        bad = await shells.acall("BashOutput", bash_id=job, filter="(")
        assert isinstance(bad, Failed) and "regex parse error" in bad.text
        found = await shells.acall("BashOutput", bash_id=job, filter="^2.$")
        assert data_of(found)["output"].split() == [f"2{digit}" for digit in range(10)]
        assert data_of(found)["status"] == "running", "it did not wait"
        none = await shells.acall("BashOutput", bash_id=job, filter="2")
        assert data_of(none)["output"] == ""
        stopped = await shells.acall("KillShell", shell_id=job)
        assert text_of(stopped).startswith("Stopped: job_1")

    shells.during(story)


def test_stopping_ends_everything_of_it(shells: Shells) -> None:
    async def story() -> None:
        job = await begin(shells, "sleep 60 & echo $!; wait")
        await until(lambda: printed(shells, job).endswith("\n"))
        child = int(printed(shells, job))
        stopped = await shells.acall("TaskStop", task_id=job)
        assert text_of(stopped).startswith("Stopped: job_1 (sleep 60 & echo $!; wait) ended after")
        assert data_of(stopped)["task_id"] == job
        await until(lambda: gone(child))
        again = await shells.acall("TaskStop", task_id=job)
        assert text_of(again).startswith("It had ended already: job_1")

    shells.during(story)
    assert shells.news == [], "who stops it knows it"


@pytest.mark.parametrize("tool", ["TaskOutput", "TaskStop"])
def test_an_unknown_job_lists_the_known(shells: Shells, tool: str) -> None:
    async def story() -> None:
        nothing = await shells.acall(tool, task_id="job_1")
        assert nothing == Failed(
            f"{tool}: there is no job 'job_1'. Jobs: none was started in this session."
        )
        await begin(shells, "exec sleep 60")
        other = await shells.acall(tool, task_id="7")
        assert isinstance(other, Failed)
        assert "there is no job '7'. Jobs: job_1 (exec sleep 60) has been running" in other.text

    shells.during(story)


def test_closing_ends_all_jobs(shells: Shells) -> None:
    pids: list[int] = []

    async def story() -> None:
        for _ in range(3):
            job = await begin(shells, "sleep 60 & wait")
            pids.append(shells.table._works[job].running.pid)

    shells.during(story)
    assert len(pids) == 3 and all(map(gone, pids))
    assert all(job.exit_code is not None for job in shells.table.all())


def test_there_is_a_limit(shells: Shells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MOST_RUNNING", 2)

    async def story() -> None:
        await begin(shells, "exec sleep 60")
        await begin(shells, "exec sleep 60")
        refused = await shells.acall("Bash", command="true", run_in_background=True)
        assert refused == Failed(
            "Bash: 2 jobs are running, more are not allowed. End one with TaskStop."
        )
        await shells.acall("TaskStop", task_id="job_1")
        assert await begin(shells, "exec sleep 60") == "job_3", "a number is never used again"

    shells.during(story)


def test_jobs_that_start_at_the_same_time_count_too(
    shells: Shells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "MOST_RUNNING", 2)

    async def story() -> None:
        starts = (
            shells.acall("Bash", command="exec sleep 60", run_in_background=True) for _ in range(6)
        )
        outcomes = await asyncio.gather(*starts)
        assert sum(isinstance(outcome, Done) for outcome in outcomes) == 2
        assert len(shells.table.all()) == 2

    shells.during(story)


def with_a_past(shells: Shells, path: str) -> None:
    """As in a session that goes on, after a run that had seven jobs."""
    job = Job("job_7", "sleep 100", path, seconds=0.0, past="is over")
    outputs = OutputFolder(str(shells.kept), str(shells.elsewhere))
    shells.table = JobTable(shells.host, outputs, SystemClock(), shells.news.append, (job,))
    shells.shop.jobs = shells.table


def test_a_job_of_an_earlier_run_is_known_and_its_number_taken(
    shells: Shells, tmp_path: Path
) -> None:
    printed = tmp_path / "old.txt"
    printed.write_text("so far\n")
    with_a_past(shells, str(printed))

    async def story() -> None:
        looked = await shells.acall("TaskOutput", task_id="job_7")
        assert text_of(looked) == "job_7 (sleep 100) is over.\n\nso far"
        assert data_of(looked)["status"] == "ended"
        stopped = await shells.acall("TaskStop", task_id="job_7")
        assert text_of(stopped).startswith("It had ended already: job_7 (sleep 100) is over.")
        assert await begin(shells, "true") == "job_8"
        unknown = await shells.acall("TaskOutput", task_id="job_9")
        assert "job_7 (sleep 100) is over." in text_of(unknown)

    shells.during(story)


def test_an_earlier_jobs_output_may_be_gone(shells: Shells, tmp_path: Path) -> None:
    with_a_past(shells, str(tmp_path / "gone.txt"))

    async def story() -> None:
        assert await shells.acall("TaskOutput", task_id="job_7") == Failed(
            "TaskOutput: job_7 (sleep 100) is over. What it printed is no longer there."
        )

    shells.during(story)


def test_a_job_that_floods_its_file_is_ended(
    shells: Shells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(jobs_module, "LOOK", 0.01)

    async def story() -> None:
        await begin(shells, "exec yes")
        await until(lambda: shells.news)

    shells.during(story)
    assert "Ended because it printed more than 1.0 MB." in shells.news[0]
    assert (shells.kept / "job_1.txt").stat().st_size == 1_000_000


def test_a_job_that_cannot_start_leaves_nothing(shells: Shells) -> None:
    async def story() -> None:
        shells.shop.cwd = "/no/such/folder"
        outcome = await shells.acall("Bash", command="true", run_in_background=True)
        assert isinstance(outcome, Failed)
        assert "Send `cd ..`" in outcome.text
        assert shells.table.all() == ()
        assert list(shells.kept.iterdir()) == []

    shells.during(story)


def test_they_need_no_permission(shells: Shells) -> None:
    for name in ("TaskOutput", "TaskStop"):
        tool = shells.registry.find(name)
        assert tool is not None
        assert tool.effects(tool.parse('{"task_id": "job_1"}'), "/p") == ()
