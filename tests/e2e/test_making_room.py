"""Making room, as a user sees it: what is sent, what switches and thresholds do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Request, call, reply

from .conftest import BOTH_WIRES, Ran, Runner, assert_valid

WINDOW = 20_000
FREE = {"compaction": {"summariser": "local"}}


def house(runner: Runner, **more: Any) -> list[str]:
    """Settings for a model of ours with a small window, by flag."""
    key = {"anthropic": "ANTHROPIC_BASE_URL", "chat": "OPENAI_BASE_URL"}[runner.wire]
    own = {
        "wire": runner.wire,
        "baseUrl": runner.env()[key],
        "apiKeyEnv": "HOUSE_KEY",
        "model": "m",
        "models": {"m": {"window": WINDOW, "maxOutput": 1_000}},
    }
    settings = {**FREE, "providers": {"house": own}, **more}
    return ["--model", "house/m", "--settings", json.dumps(settings), "--tools", "Bash,Read",
            "--permission-mode", "bypassPermissions"]  # fmt: skip


KEY = {"HOUSE_KEY": "test"}


def printing(count: int, lines: int = 150, **usage: int) -> list[Any]:
    """Calls that print much, each something else."""
    counted = {"input": 0, "output": 0, **usage}
    return [
        reply(
            call("Bash", command=f"echo look {n}; yes a line of output | head -{lines}"), **counted
        )
        for n in range(count)
    ]


def end(text: str = "done") -> Any:
    return reply(text, input=0, output=0)


def stages(runner: Runner, ran: Ran) -> list[str]:
    entries = runner.entries(ran.result["session_id"])
    return [entry["stage"] for entry in entries if entry["type"] == "trimmed"]


def sent(request: Request) -> str:
    return json.dumps(request.json["messages"])


@BOTH_WIRES
def test_headless_room_is_made_between_tool_calls(runner: Runner) -> None:
    runner.serve(*printing(40), end())
    ran = runner.prompt("look", *house(runner), env=KEY)
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert "snip_messages" in stages(runner, ran)
    for request in runner.requests:
        assert_valid(request)
    assert "[snipped: " in sent(runner.requests[-1])
    assert len(sent(runner.requests[-1])) < WINDOW * 5


@pytest.mark.parametrize("off", ["settings", "environment"])
def test_the_sliding_window_over_turns_can_be_switched_off(runner: Runner, off: str) -> None:
    """HISTORY_SNIP, seen in what is sent."""

    def play(more: dict[str, Any], environ: dict[str, str]) -> tuple[str, Ran]:
        turns = [one for n in range(6) for one in (*printing(2, 350), end(f"answer {n}"))]
        runner.serve(*turns)
        ran = runner.prompt("wish 0", *house(runner, **more), env={**KEY, **environ})
        for number in range(1, 6):
            ran = runner.prompt(
                f"wish {number}", "-c", *house(runner, **more), env={**KEY, **environ}
            )
        return sent(runner.requests[-1]), ran

    with_it, ran = play({}, {})
    assert "calls and their results are left out" in with_it and "wish 0" in with_it
    assert "look 0" not in with_it.partition("wish 1")[0], "calls with their results"
    assert "snip_window" in stages(runner, ran)
    settings = {"features": {"HISTORY_SNIP": False}} if off == "settings" else {}
    environ = {"EXPERIMENTAL_FEATURES": "-HISTORY_SNIP"} if off == "environment" else {}
    for log in runner.logs:
        log.unlink()
    without, ran = play(settings, environ)
    assert "calls and their results are left out" not in without
    assert "snip_window" not in stages(runner, ran)


@pytest.mark.parametrize(
    ("settings", "environ", "made"),
    [
        ({}, {}, True),
        ({"compaction": {"percent": 99}}, {}, False),
        ({"compaction": {"tokens": 30_000}}, {}, False),
        ({"compaction": {"tokens": 5_000}}, {}, True),
        ({"autoCompactEnabled": False}, {}, False),
        ({}, {"DISABLE_AUTO_COMPACT": "1"}, False),
        ({}, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "97"}, False),
        ({"autoCompactWindow": 100_000}, {}, False),
    ],
)
def test_thresholds_up_down_and_off(
    runner: Runner, settings: dict[str, Any], environ: dict[str, str], made: bool
) -> None:
    """At 17,000 of 20,000 tokens, as the provider counts them."""
    runner.serve(*printing(11), *printing(1, input=17_000, output=1), end())
    wished = {**FREE["compaction"], **settings.get("compaction", {})}
    args = house(runner, **{**settings, "compaction": wished})
    ran = runner.prompt("look", *args, env={**KEY, **environ})
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    kinds = {entry["type"] for entry in runner.entries(ran.result["session_id"])}
    assert bool(kinds & {"trimmed", "compacted"}) is made


def test_a_model_that_nobody_knows_may_have_a_window_that_the_user_knows(runner: Runner) -> None:
    """We believe it to have 128,000 tokens; the user's word counts, above it as well."""
    runner.serve(*printing(4), *printing(1, input=140_000, output=1), end())
    unknown = ["--model", "anthropic/who-knows", "--permission-mode", "bypassPermissions"]
    high = json.dumps({"compaction": {"tokens": 150_000, "summariser": "local"}})
    ran = runner.prompt("look", *unknown, "--settings", high)
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert not stages(runner, ran)
    runner.serve(*printing(14), *printing(1, input=40_000, output=1), end())
    low = json.dumps({"compaction": {"tokens": 30_000, "summariser": "local"}})
    ran = runner.prompt("look", *unknown, "--settings", low)
    assert ran.code == 0 and stages(runner, ran)


def test_input_adds_up_since_the_last_compaction(runner: Runner) -> None:
    runner.serve(*printing(12, input=3_000, output=1), end())
    ran = runner.prompt(
        "look", *house(runner), env={**KEY, "CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS": "20000"}
    )
    assert ran.code == 0, ran
    made = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "compacted"]
    assert len(made) == 1, "36,000 tokens of input: counted anew after the first 20,000"


def test_debug_tells_the_state_and_what_was_done(runner: Runner) -> None:
    runner.serve(*printing(12), *printing(1, input=17_000, output=1), end())
    ran = runner.run("-p", "look", "--debug", *house(runner), env=KEY)
    assert ran.stdout == "done\n"
    assert "context WARNING: " in ran.stderr
    assert "snip_messages shortened" in ran.stderr


def test_with_no_room_left_nothing_is_sent_and_ways_out_are_named(runner: Runner) -> None:
    runner.serve(*printing(1, input=19_900, output=1), end())
    ran = runner.prompt("look", *house(runner, autoCompactEnabled=False), env=KEY)
    assert ran.code != 0 and len(runner.requests) == 1
    assert ran.result["reason"] == "blocking_limit"
    assert "/compact" in json.dumps(ran.result), ran.result


def test_a_resumed_session_sends_what_the_other_would_have_sent(runner: Runner) -> None:
    """Trims are in the log: the beginning of the next request is the same, killed or not."""
    runner.serve(*printing(30), end("one"), end("two"))
    runner.prompt("look", *house(runner), env=KEY)
    runner.prompt("more", "-c", *house(runner), env=KEY)
    before, after = (request.json["messages"] for request in runner.requests[-2:])
    assert [_plain(m) for m in after[: len(before)]] == [_plain(m) for m in before]


def _plain(message: dict[str, Any]) -> str:
    """Without the marks of the prompt cache, which move."""
    return json.dumps(message).replace(', "cache_control": {"type": "ephemeral"}', "")


def test_a_bad_wish_is_named(runner: Runner, tmp_path: Path) -> None:
    runner.serve(end())
    ran = runner.run("-p", "x", "--settings", '{"compaction": {"order": ["nano"]}}')
    assert ran.code == 2 and "order names stages" in ran.stderr


def test_people_who_look_on_are_told_that_room_was_made(runner: Runner) -> None:
    runner.serve(*printing(40), end())
    ran = runner.run("-p", "look", "--verbose", *house(runner), env=KEY)
    told = [line for line in ran.stderr.splitlines() if "`detent uncompact` undoes it" in line]
    assert ran.code == 0 and told and all(" → " in line for line in told)
