"""A recorded session is a model: the same answers in the same order, without a network."""

from __future__ import annotations

import pytest

from detent.testing import call, reply, think

from .conftest import Runner


@pytest.fixture
def wire() -> str:
    return "anthropic"


def test_a_session_is_played_again_from_its_log(runner: Runner) -> None:
    runner.serve(
        reply(think("first look"), "Looking.", call("Bash", command="echo again > made.txt")),
        "It is made.",
    )
    flags = ("--dangerously-skip-permissions",)
    first = runner.frames("make it", *flags)
    assert first.code == 0, first
    (log,) = runner.logs
    (runner.work / "made.txt").unlink()
    again = runner.frames("make it", "--model", f"scripted:{log}", *flags)
    assert again.code == 0, again
    assert (runner.work / "made.txt").read_text() == "again\n"
    assert len(runner.requests) == 2

    def said(ran: object) -> list[object]:
        return [frame["message"]["content"] for frame in ran.of("assistant")]  # type: ignore[attr-defined]

    assert said(again) == said(first)


def test_a_log_without_answers_is_told(runner: Runner) -> None:
    log = runner.work / "empty.jsonl"
    log.write_text('{"type":"prompted","turn":1,"content":[]}\nrubbish\n')
    ran = runner.run("-p", "x", "--model", f"scripted:{log}")
    assert ran.code == 2, ran
    assert "no answer" in ran.stderr
