"""Another model takes over: of the same provider or another, told and on record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from detent.testing import ServedScript, call, fault, reply, say, script, serve, think

from .conftest import Runner

QUICK = ("--settings", json.dumps({"retryDelays": [0, 0]}))


@pytest.fixture
def other() -> Iterator[Any]:
    """Serves a script of the other provider."""
    with ExitStack() as stack:

        def start(*replies: Any) -> ServedScript:
            return stack.enter_context(serve(script(*replies)))

        yield start


def both(runner: Runner, chat: ServedScript) -> dict[str, str]:
    return {"OPENAI_API_KEY": "other-key", "OPENAI_BASE_URL": f"{chat.url}/v1"}


@pytest.fixture
def wire() -> str:
    return "anthropic"


def test_another_provider_takes_over_when_retries_are_used_up(runner: Runner, other: Any) -> None:
    runner.serve(fault(500), fault(500), fault(500))
    chat = other("from the other provider")
    ran = runner.frames("x", "--fallback-model", "openai/gpt-4o", *QUICK, env=both(runner, chat))
    assert ran.code == 0, ran
    assert ran.result["result"] == "from the other provider"
    assert (len(runner.requests), len(chat.requests)) == (3, 1)
    assert chat.requests[0].headers["authorization"] == "Bearer other-key"
    assert "x-api-key" not in chat.requests[0].headers
    switched = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "switched"]
    assert [entry["model"] for entry in switched] == ["gpt-4o"]
    assert "after 3 attempts" in switched[0]["reason"]
    assert any("gpt-4o" in f["content"] for f in ran.of("system", "informational"))


def test_an_answer_cut_by_overload_is_withdrawn_and_the_chain_goes_on(
    runner: Runner, other: Any
) -> None:
    runner.serve(
        reply(say("half ", "an answer"), fault=fault(error_after=1)),  # overloaded mid-stream
        fault(529),
    )
    chat = other("whole")
    ran = runner.frames(
        "x",
        "--fallback-model",
        "claude-haiku-4-5,openai/gpt-4o",
        *QUICK,
        env=both(runner, chat),
    )
    assert ran.code == 0, ran
    assert ran.result["result"] == "whole"
    said = [frame["message"]["content"] for frame in ran.of("assistant")]
    assert said == [[{"type": "text", "text": "whole"}]]
    assert "half" not in json.dumps(chat.requests[0].json)


def test_thinking_of_one_provider_is_never_shown_to_another(runner: Runner, other: Any) -> None:
    runner.serve(
        reply(think("secret thought", signature="secret-signature"), call("Glob", pattern="*")),
        fault(529),
    )
    chat = other("done")
    ran = runner.frames("x", "--fallback-model", "openai/gpt-4o", *QUICK, env=both(runner, chat))
    assert ran.code == 0, ran
    # The first provider gets its own thinking back, the second sees nothing of it.
    assert "secret-signature" in runner.requests[1].body.decode()
    assert "secret" not in chat.requests[0].body.decode()


def test_the_fallback_serves_the_next_step_too(runner: Runner, other: Any) -> None:
    runner.serve(fault(529))
    chat = other(reply(call("Glob", pattern="*")), "done")
    ran = runner.frames("x", "--fallback-model", "openai/gpt-4o", *QUICK, env=both(runner, chat))
    assert ran.code == 0, ran
    assert (len(runner.requests), len(chat.requests)) == (1, 2)


def test_when_all_fail_the_last_reason_is_told(runner: Runner, other: Any) -> None:
    runner.serve(fault(529))
    chat = other(fault(503), fault(503), fault(503))
    ran = runner.frames("x", "--fallback-model", "openai/gpt-4o", *QUICK, env=both(runner, chat))
    assert ran.code == 7, ran
    assert ran.result["terminal_reason"] == "api_error"
    assert "after 3 attempts" in ran.stdout
    assert len(chat.requests) == 3


def test_the_embedded_model_is_no_silent_fallback(runner: Runner) -> None:
    runner.serve(fault(500), fault(500), fault(500))
    ran = runner.frames("x", *QUICK)
    assert ran.code == 7, ran
