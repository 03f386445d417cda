"""What a log tells of the background jobs of earlier runs."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.earlier_jobs import HEARD_OF, UNHEARD_OF, earlier_jobs, news_of
from detent.types.effects import Runs
from detent.types.events import CallEnded, CallStarted, Entry, Reminded, Rewound
from detent.types.outcomes import Failed, done
from detent.types.verdicts import Allow


def begun(job: str, seq: int = 1) -> tuple[Entry, ...]:
    data = {"backgroundTaskId": job, "outputPath": f"/out/{job}.txt"}
    call, runs = f"call-{job}", (Runs("sleep 9"),)
    return (
        CallStarted(
            seq=seq, call_id=call, name="Bash", arguments="", effects=runs, verdict=Allow("x")
        ),
        CallEnded(seq=seq, call_id=call, name="Bash", outcome=done("", data)),
    )


def looked(job: str, status: str | None, seq: int = 5) -> CallEnded:
    data: dict[str, Any] = {"task_id": job, "task_type": "local_bash"}
    if status is not None:
        data["status"] = status
    return CallEnded(seq=seq, call_id="l", name="T", outcome=done("", data))


def news(text: str, seq: int = 5) -> Reminded:
    return Reminded(seq=seq, text=text, source="background")


def test_a_job_whose_end_nobody_told_is_news() -> None:
    (job,) = earlier_jobs(begun("job_1"))
    assert (job.id, job.command, job.path) == ("job_1", "sleep 9", "/out/job_1.txt")
    assert job.past == UNHEARD_OF
    assert news_of([job]) == (
        "[Background job job_1 (sleep 9) is over: it was ended with the run before, unless it had "
        "ended by itself. Its output is in /out/job_1.txt.]"
    )


@pytest.mark.parametrize(
    "told",
    [
        news("[Background job job_1 (sleep 9) ended after 1.0 s. Exit code 0. Output: x, empty.]"),
        news("[Background job job_0 (x) is over.]\n[Background job job_1 (x) is over.]"),
        looked("job_1", "completed"),
        looked("job_1", "killed"),
        looked("job_1", None),
    ],
)
def test_an_end_that_was_told_is_no_news(told: Entry) -> None:
    (job,) = earlier_jobs((*begun("job_1"), told))
    assert job.past == HEARD_OF and news_of([job]) == ""


@pytest.mark.parametrize(
    "other",
    [
        looked("job_1", "running"),
        looked("job_2", "completed"),
        news(
            "[Background job job_2 (x) ended; its last lines:]\n> [Background job job_1 (y) ended"
        ),
        Reminded(seq=5, text="[Background job job_1 (x) ended", source="prompt hook"),
        CallEnded(call_id="l", name="T", outcome=Failed("", {"exitCode": 1})),
    ],
)
def test_other_things_do_not_tell_it(other: Entry) -> None:
    assert news_of(earlier_jobs((*begun("job_1"), other)))


def test_what_was_taken_back_does_not_count() -> None:
    told = news("[Background job job_1 (x) ended", seq=5)
    assert news_of(earlier_jobs((*begun("job_1"), told, Rewound(seq=6, to=4))))
    (job,) = earlier_jobs((*begun("job_1", seq=5), Rewound(seq=6, to=4)))
    assert job.id == "job_1" and not news_of([job]), "its number is taken, but nobody knows it"


def test_an_id_that_was_used_twice_is_the_later_job() -> None:
    told = looked("job_1", "completed", seq=2)
    assert news_of(earlier_jobs((*begun("job_1"), told, *begun("job_1", seq=3)))).count("[") == 1
