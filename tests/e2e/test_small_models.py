"""A small model behind a server of one's own: a short prompt, answers held to a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Runner

SKIP = "--dangerously-skip-permissions"


@pytest.fixture
def wire() -> str:
    return "chat"


def act(**action: Any) -> str:
    return json.dumps(action)


def at_ollama(runner: Runner) -> dict[str, str | None]:
    here = runner.server.url.removeprefix("http://")
    return {"OLLAMA_HOST": here, "OPENAI_API_KEY": None, "OPENAI_BASE_URL": None}


def test_a_small_model_acts_and_answers(runner: Runner) -> None:
    runner.serve(act(tool="run", command="echo made > made.txt"), act(tool="answer", text="Made."))
    small = ("--model", "ollama/qwen2.5-coder:1.5b", SKIP)
    ran = runner.frames("make made.txt", *small, env=at_ollama(runner))
    assert ran.code == 0, ran
    assert ran.result["result"] == "Made."
    assert (runner.work / "made.txt").read_text() == "made\n"
    for request in runner.requests:
        asked = request.json
        assert "tools" not in asked
        assert asked["response_format"]["type"] == "json_schema"
        assert len(asked["messages"][0]["content"]) < 600 * 4
    assert "make made.txt" in json.dumps(runner.requests[1].json["messages"][-1])


def test_memory_is_told_in_short_and_apart_from_the_task(runner: Runner) -> None:
    (runner.work / "CLAUDE.md").write_text("Use tabs.\n" + "And more of that. " * 1_000)
    runner.serve(act(tool="run", command="true"), act(tool="answer", text="Made."))
    small = ("--model", "ollama/qwen2.5-coder:1.5b", SKIP)
    ran = runner.frames("make it", *small, env=at_ollama(runner))
    assert ran.code == 0, ran
    first, last = (one["content"] for one in runner.requests[1].json["messages"][1::2])
    assert first.startswith("Notes:\nUse tabs.") and first.endswith("Task: make it")
    assert len(first) < 1_200
    assert "Task: make it" in last and "tabs" not in last


def test_a_large_one_of_the_same_server_gets_the_whole(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="true")), "done")
    ran = runner.frames("x", "--model", "ollama/qwen3-coder:30b", SKIP, env=at_ollama(runner))
    assert ran.code == 0, ran
    assert "tools" in runner.requests[0].json
    assert "response_format" not in runner.requests[0].json


@pytest.mark.parametrize(("profile", "is_small"), [("small", True), ("full", False)])
def test_the_user_has_the_last_word(runner: Runner, profile: str, is_small: bool) -> None:
    runner.serve(act(tool="answer", text="hi"))
    model = "ollama/nameless" if is_small else "ollama/tiny:1b"
    given = json.dumps({"profile": profile})
    ran = runner.frames("x", "--model", model, "--settings", given, env=at_ollama(runner))
    assert ran.code == 0, ran
    assert ("tools" not in runner.requests[0].json) is is_small
