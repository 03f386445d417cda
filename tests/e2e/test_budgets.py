"""Budgets of a session: from flags, settings and the environment, across resume, to the end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.testing import call, fault, reply, script, serve
from detent.types.budget import Budget, Spent
from detent.types.errors import BadInput
from detent.types.events import Budgeted, TurnEnded
from detent.types.usage import Usage

from .conftest import ALL_WIRES, BOTH_WIRES, Pipe, Ran, Runner

LOOK = reply(call("Bash", command="true"), input=100, output=20)
KINDS = [
    ("--max-tokens", "tokens", 200, "tokens"),
    ("--max-input-tokens", "input", 150, "input"),
    ("--max-output-tokens", "output", 30, "output"),
    ("--max-model-calls", "modelCalls", 2, "requests"),
    ("--max-tool-calls", "toolCalls", 2, "calls"),
    ("--max-budget-usd", "usd", 0.0000001, "dollars"),
]


def again(runner: Runner, ran: Ran, *args: str, **more: Any) -> Ran:
    return runner.prompt("go on", "--resume", ran.result["session_id"], *args, **more)


def tokens_of(ran: Ran) -> int:
    """Of the turn."""
    return sum(ran.result["usage"].values())


def budget_of(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = ran.result["budget"]
    return found


# Where they come from


@ALL_WIRES
def test_what_a_wire_reports_is_what_is_spent(runner: Runner) -> None:
    runner.serve(LOOK, after="repeat_last")
    ran = runner.prompt("x", "--max-tokens", "200")
    assert ran.code == 4 and len(runner.requests) == 2
    assert budget_of(ran)["used"]["tokens"] == 240


@BOTH_WIRES
@pytest.mark.parametrize(("flag", "key", "most", "limit"), KINDS, ids=[kind[3] for kind in KINDS])
def test_each_limit_by_flag(runner: Runner, flag: str, key: str, most: float, limit: str) -> None:
    runner.serve(LOOK, after="repeat_last")
    ran = runner.prompt("x", flag, f"{most:.10f}".rstrip("0").rstrip("."))
    assert ran.code == 4, ran
    assert ran.result["terminal_reason"] == "budget_exhausted"
    assert len(runner.requests) == (1 if limit == "dollars" else 2)
    assert "go_on" in budget_of(ran) and flag in budget_of(ran)["go_on"]


@pytest.mark.parametrize(("flag", "key", "most", "limit"), KINDS, ids=[kind[3] for kind in KINDS])
def test_each_limit_by_settings(
    runner: Runner, flag: str, key: str, most: float, limit: str
) -> None:
    runner.serve(LOOK, after="repeat_last")
    ran = runner.prompt("x", "--settings", json.dumps({"budget": {key: most}}))
    assert ran.code == 4, ran
    assert len(runner.requests) == (1 if limit == "dollars" else 2)
    ended = runner.entries(ran.result["session_id"])[-1]
    assert ended["limit"] == limit


@pytest.mark.parametrize(("text", "sent"), [("200", 2), ("100", 1), ("0", 3), ("1_000_000", 3)])
def test_the_environment_limits_tokens(runner: Runner, text: str, sent: int) -> None:
    runner.serve(LOOK, LOOK, "done")
    ran = runner.prompt("x", env={"CLAUDE_COMPUTE_BUDGET": text})
    assert ran.code == (0 if sent == 3 else 4), ran
    assert len(runner.requests) == sent


def test_a_flag_beats_the_environment_and_that_the_settings(runner: Runner) -> None:
    runner.serve(LOOK, after="repeat_last")
    settings = ("--settings", json.dumps({"budget": {"tokens": 100}}))
    env = {"CLAUDE_COMPUTE_BUDGET": "200"}
    assert budget_of(runner.prompt("x", *settings, env=env))["limits"] == {"tokens": 200}
    ran = runner.prompt("x", *settings, "--max-tokens", "300", env=env)
    assert budget_of(ran)["limits"] == {"tokens": 300}


def test_rubbish_in_the_environment_is_named(runner: Runner) -> None:
    runner.serve("never")
    ran = runner.run("-p", "x", env={"CLAUDE_COMPUTE_BUDGET": "plenty"})
    assert ran.code == 2 and "CLAUDE_COMPUTE_BUDGET" in ran.stderr and not runner.requests


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"tokens": "many"}, "budget: tokens must be a number"),
        ({"usd": -1}, "budget: usd must not be negative"),
        ({"onBudget": "weep"}, "onBudget is one of halt, wrap_up"),
        ({"distribution": 2}, "distribution is shared, equal, or a part"),
        ({"strict": "very"}, "strict must be true or false"),
        (7, "budget must be an object"),
    ],
)
def test_wrong_settings_are_named(runner: Runner, budget: Any, words: str) -> None:
    runner.serve("never")
    ran = runner.run("-p", "x", "--settings", json.dumps({"budget": budget}))
    assert ran.code == 2 and words in ran.stderr and not runner.requests


@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_a_project_may_lower_a_budget_and_not_raise_it(
    runner: Runner, trust: tuple[str, ...]
) -> None:
    own = runner.work / ".detent"
    own.mkdir()
    wishes = {"budget": {"tokens": 10**9, "usd": 0, "modelCalls": 2, "onBudget": "wrap_up"}}
    (own / "settings.json").write_text(json.dumps(wishes))
    runner.state.mkdir()
    mine = {"budget": {"tokens": 500, "usd": 3, "modelCalls": 5}}
    (runner.state / "settings.json").write_text(json.dumps(mine))
    runner.serve(LOOK, after="repeat_last")
    ran = runner.prompt("x", *trust)
    assert ran.code == 4
    assert budget_of(ran)["limits"] == {"tokens": 500, "usd": 3, "model_calls": 2}
    assert "a project may only lower it" in ran.stderr
    assert len(runner.requests) == 2, "no last word: that is the user's to say"


# At the limit


def test_people_are_told_what_was_short_and_how_to_go_on(runner: Runner) -> None:
    runner.serve(LOOK, after="repeat_last")
    ran = runner.run("-p", "x", "--max-tokens", "200")
    assert ran.code == 4
    session = runner.logs[0].stem
    assert "Budget spent: 240 of 200 tokens." in ran.stderr
    assert f'go on with more: detent -p --resume {session} --max-tokens 440 "go on"' in ran.stderr


@pytest.mark.parametrize(
    "flags",
    [
        ("--max-tokens", "10"),
        ("--max-budget-usd", "0.0000001"),
        ("--max-session-turns", "1"),
        ("--max-model-calls", "1"),
        ("--max-tool-calls", "1"),
        ("--max-turns", "1"),
        ("--max-tokens", "900", "--strict-budget"),
    ],
    ids="".join,
)
def test_the_way_on_that_is_told_leads_on(runner: Runner, flags: tuple[str, ...]) -> None:
    """However far the limit was passed, or however much a strict one would have to hold."""
    runner.serve(LOOK, "done", "done", after="repeat_last")
    if flags[0] == "--max-session-turns":
        session = runner.prompt("x", *flags).result["session_id"]
        ran = runner.prompt("y", "--resume", session, *flags)
    else:
        ran = runner.prompt("x", *flags)
    assert ran.code == 4, ran
    sent = len(runner.requests)
    on = runner.run(*shlex.split(budget_of(ran)["go_on"])[1:])
    assert on.code == 0 and on.stdout == "done\n", on
    assert len(runner.requests) == sent + (2 if "--strict-budget" in flags else 1)


def test_only_money_is_called_so(runner: Runner) -> None:
    runner.serve(LOOK, after="repeat_last")
    subtypes = {
        flag: runner.prompt("x", flag, value).result["subtype"]
        for flag, value in (
            ("--max-budget-usd", "0.0000001"),
            ("--max-model-calls", "1"),
            ("--max-tokens", "1"),
        )
    }
    assert subtypes == {
        "--max-budget-usd": "error_max_budget_usd",
        "--max-model-calls": "error_max_turns",
        "--max-tokens": "error_during_execution",
    }


@pytest.mark.parametrize("way", ["flag", "settings"])
@BOTH_WIRES
def test_wrapping_up_is_one_answer_without_tools(runner: Runner, way: str) -> None:
    flags = {
        "flag": ("--on-budget", "wrap_up"),
        "settings": ("--settings", '{"budget": {"onBudget": "wrap_up"}}'),
    }[way]
    runner.serve(LOOK, LOOK, "what I have", after="error")
    ran = runner.prompt("x", "--max-tokens", "200", *flags)
    assert ran.code == 4, ran
    assert ran.result["text"] == "what I have"
    assert len(runner.requests) == 3
    assert not runner.requests[-1].json.get("tools")


def test_calls_beyond_the_limit_have_results_that_say_so(runner: Runner) -> None:
    calls = [call("Bash", command=f"echo {n} >> ran.txt") for n in range(3)]
    runner.serve(reply(*calls), "as far as I came")
    flags = ("--max-tool-calls", "2", "--on-budget", "wrap_up", "--dangerously-skip-permissions")
    ran = runner.prompt("x", *flags)
    assert ran.code == 4
    assert (runner.work / "ran.txt").read_text() == "0\n1\n"
    results = runner.requests[1].tool_results
    assert len(results) == 3 and "not run: Budget spent: 2 of 2 tool calls." in results[2].text
    assert budget_of(ran)["used"]["tool_calls"] == 2


# Across resume


def test_a_session_that_goes_on_goes_on_from_what_it_has_spent(runner: Runner) -> None:
    runner.serve(reply("one", input=100, output=20), LOOK, "three")
    first = runner.prompt("x", "--max-tokens", "200")
    assert first.code == 0
    assert budget_of(first)["left"] == {"tokens": 80}
    second = again(runner, first)
    assert second.code == 4, "the limit was kept, and 120 were spent before"
    assert budget_of(second)["used"]["tokens"] == 240
    assert second.result["usage"]["input_tokens"] == 100, "the usage is of the turn"
    third = again(runner, first)
    assert third.code == 4 and len(runner.requests) == 2, "nothing is left, nothing is sent"
    raised = again(runner, first, "--max-tokens", "1000")
    assert raised.code == 0 and raised.result["result"] == "three"
    assert budget_of(raised)["limits"] == {"tokens": 1000}


def test_limits_are_kept_one_by_one(runner: Runner) -> None:
    runner.serve("one", "two", "three", "four")
    first = runner.prompt("x", "--max-tokens", "500", "--max-tool-calls", "7", "--max-turns", "9")
    second = again(runner, first, "--max-tool-calls", "8")
    assert budget_of(second)["limits"] == {"tokens": 500, "tool_calls": 8}
    third = again(runner, first, "--max-tokens", "0")
    assert budget_of(third)["limits"] == {"tool_calls": 8}
    fourth = again(runner, first, "--max-tool-calls", "none", "--fork-session")
    assert budget_of(fourth)["limits"] == {}
    kept = [
        e["budget"] for e in runner.entries(first.result["session_id"]) if e["type"] == "budgeted"
    ]
    assert kept == [
        {"tokens": 500, "calls": 7},
        {"tokens": 500, "calls": 8},
        {"tokens": 0, "calls": 8},
    ]


def test_a_fork_inherits_what_was_spent_and_what_may_be(runner: Runner) -> None:
    runner.serve(reply("one", input=150, output=50), "never")
    first = runner.prompt("x", "--max-tokens", "200")
    fork = again(runner, first, "--fork-session")
    assert fork.result["session_id"] != first.result["session_id"]
    assert fork.code == 4 and budget_of(fork)["used"]["tokens"] == 200


def test_a_run_that_was_killed_still_counts(runner: Runner, pipe: Pipe) -> None:
    """The answer was paid for; the turn never ended."""
    waits = reply(call("Bash", command=f"echo x > {pipe.path}; sleep 60"), input=150, output=50)
    runner.serve(waits, "never")
    live = runner.start("-p", "x", "--max-tokens", "200", "--dangerously-skip-permissions")
    pipe.line()
    live.process.kill()
    live.finish()
    session = runner.logs[0].stem
    assert runner.entries(session)[-1]["type"] != "turnended"
    ran = runner.prompt("go on", "--resume", session)
    assert ran.code == 4 and len(runner.requests) == 1
    used = budget_of(ran)["used"]
    assert (used["tokens"], used["model_calls"], used["session_turns"]) == (200, 1, 1)


def test_a_run_that_was_killed_has_lost_no_attempt(runner: Runner, pipe: Pipe) -> None:
    failed = reply("lost", fault=fault(cut_after=2), input=1_000)
    waits = reply(call("Bash", command=f"echo x > {pipe.path}; sleep 60"), input=150, output=50)
    runner.serve(failed, waits, reply("ok", input=100, output=5))
    flags = ("--dangerously-skip-permissions", "--settings", '{"retryDelays": [0]}')
    live = runner.start("-p", "x", *flags)
    pipe.line()
    live.process.kill()
    live.finish()
    session = runner.logs[0].stem
    (lost,) = [entry for entry in runner.entries(session) if entry["type"] == "lost"]
    ran = runner.prompt("go on", "--resume", session)
    usage = lost["usage"]
    assert usage["input"] == 1_000
    used = budget_of(ran)["used"]
    assert used["tokens"] == 1_000 + usage["output"] + 200 + 105
    assert used["model_calls"] == 3


@ALL_WIRES
def test_the_account_and_the_log_agree(runner: Runner) -> None:
    """Whatever befell the answers, and whether the wire tells of their cost at their end or not."""
    runner.serve(
        reply("half of it", fault=fault(cut_after=2), input=1_000, output=9),
        reply("cut", stop="max_tokens", input=700, output=50),
        reply("then", call("Bash", command="true"), fault=fault(cut_after=3), input=300, output=7),
        LOOK,
        reply("done", input=90, output=3),
        reply("more", input=40, output=2),
    )
    ran = runner.prompt("x", "--settings", '{"retryDelays": [0]}')
    used, parts = budget_of(ran)["used"], budget_of(ran)["by"].values()
    assert ran.code == 0 and len(runner.requests) == 5
    assert sum(part["tokens"] for part in parts) == used["tokens"] == tokens_of(ran)
    assert sum(part["model_calls"] for part in parts) == used["model_calls"]
    later = again(runner, ran)
    assert budget_of(later)["used"]["tokens"] == used["tokens"] + tokens_of(later)
    assert budget_of(later)["used"]["model_calls"] == used["model_calls"] + 1


def test_attempts_that_failed_are_remembered(runner: Runner) -> None:
    lost = reply("lost", fault=fault(cut_after=2), input=1_000)
    runner.serve(lost, reply("ok", input=100, output=5), "two")
    first = runner.prompt("x", "--settings", '{"retryDelays": [0]}')
    assert budget_of(first)["by"]["failed"]["tokens"] >= 1_000
    second = again(runner, first)
    assert budget_of(second)["by"]["failed"] == budget_of(first)["by"]["failed"]
    assert budget_of(second)["used"]["tokens"] > budget_of(first)["used"]["tokens"] > 1_100


def test_a_limit_in_dollars_that_was_kept_needs_a_model_with_a_price(runner: Runner) -> None:
    runner.serve("one", "never")
    first = runner.prompt("x", "--max-budget-usd", "5")
    ran = runner.run("-p", "y", "--resume", first.result["session_id"], "--model", "mystery-1")
    assert ran.code == 2 and "price of mystery-1 is not known" in ran.stderr
    settings = ("--settings", '{"budget": {"usd": 1}}')
    ran = runner.run("-p", "y", "--fallback-model", "mystery-1", *settings)
    assert ran.code == 2 and "price of mystery-1 is not known" in ran.stderr
    assert len(runner.requests) == 1


def test_an_unknown_price_is_told_as_unknown(runner: Runner) -> None:
    runner.serve(reply("x", input=100, output=5))
    ran = runner.prompt("x", "--model", "mystery-1")
    assert ran.result["cost_unknown"] is True
    assert budget_of(ran)["by"]["main"]["usd"] is None
    assert budget_of(ran)["used"]["usd"] is None
    told = runner.run("-p", "/budget", "--resume", ran.result["session_id"]).stdout
    assert re.search(r"^dollars +unknown +none", told, re.MULTILINE), told
    assert budget_of(ran)["tokens_of_unknown_price"] == 105


# What it was for


def test_what_the_classifier_cost_is_drawn_and_told_apart(runner: Runner) -> None:
    judged = reply(json.dumps({"decision": "allow", "reason": "fine"}), input=70, output=7)
    runner.serve(reply(call("Bash", command="make"), input=100, output=20), judged, "done")
    settings = json.dumps({"autoMode": {"model": runner.model}})
    ran = runner.prompt("x", "--permission-mode", "auto", "--settings", settings)
    assert len(runner.requests) == 3, ran
    by = budget_of(ran)["by"]
    assert by["classifier"]["tokens"] == 77 and by["classifier"]["model_calls"] == 1
    assert sum(part["tokens"] for part in by.values()) == budget_of(ran)["used"]["tokens"]
    assert ran.result["usage"]["input_tokens"] == 100 + 70 + 10
    limited = ("--permission-mode", "auto", "--settings", settings, "--max-model-calls", "1")
    runner.serve(reply(call("Bash", command="make"), input=100, output=20), "never")
    ran = runner.prompt("x", *limited)
    assert ran.code == 4 and len(runner.requests) == 1, "it is not asked beyond the budget"


# Strict


class Counting:
    """A server that reports a token for each four characters, and all the output it may write."""

    def __call__(self, request: Any) -> Any:
        body = request.json
        size = len(json.dumps(body)) // 4
        return reply("x" * 40, input=size, output=int(body["max_tokens"]))


def sent_tokens(server: Any) -> int:
    return sum(len(json.dumps(r.json)) // 4 + int(r.json["max_tokens"]) for r in server.requests)


def options(tmp_path: Path, url: str, **more: Any) -> Options:
    environ = {
        "HOME": str(tmp_path),
        "DETENT_HOME": str(tmp_path / "state"),
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
        "PATH": os.environ["PATH"],
    }
    return Options(cwd=str(tmp_path), environ=environ, **more)


def test_a_strict_budget_that_cannot_hold_a_request_sends_none(runner: Runner) -> None:
    runner.serve("never")
    ran = runner.prompt("x", "--max-tokens", "3000", "--strict-budget")
    assert ran.code == 4 and not runner.requests
    assert "may take" in ran.result["result"]
    assert budget_of(ran)["strict"] is True


def test_sessions_that_share_a_strict_account_never_pass_it(tmp_path: Path) -> None:
    """Each takes all that it may, at the same time."""
    replies = [Counting()] * 40
    most = 400_000

    async def work(session: Session) -> list[str]:
        return [(await session.run_turn("z" * 500)).reason for _ in range(8)]

    async def main(url: str) -> None:
        budget = Budget(tokens=most, strict=True)
        async with Session(options(tmp_path, url, budget=budget)) as parent:
            below = [
                Session(options(tmp_path, url, account=parent.account, persist=False))
                for _ in range(3)
            ]
            reasons = await asyncio.gather(*map(work, (parent, *below)))
            for session in below:
                await session.aclose()
            assert any("budget_exceeded" in each for each in reasons)
            assert any("end_turn" in each for each in reasons)
            total = sum((session.spent for session in below), Spent()).usage
            assert parent.account.delegated.usage == total
            assert parent.spent.of("tokens") <= most
            assert parent.account.held == Spent()
            assert parent.spent.of("tokens") == sent_tokens(server)

    with serve(script(*replies)) as server:
        asyncio.run(main(server.url))


def test_a_strict_budget_in_dollars_is_never_passed(tmp_path: Path) -> None:
    async def main(url: str) -> None:
        strict = Budget(dollars=1.0, strict=True)
        async with Session(options(tmp_path, url, budget=strict)) as session:
            reasons = [(await session.run_turn("z" * 500)).reason for _ in range(8)]
            assert reasons[0] == "end_turn" and reasons[-1] == "budget_exceeded"
            assert 0 < session.spent.dollars <= 1.0

    with serve(script(*[Counting()] * 8)) as server:
        asyncio.run(main(server.url))


# Live


def test_a_budget_is_raised_while_a_turn_runs(tmp_path: Path) -> None:
    async def main(url: str) -> None:
        given = options(tmp_path, url, max_tokens=130, permission_mode="bypassPermissions")
        async with Session(given) as session:
            ended: TurnEnded | None = None
            async for event in session.send("x"):
                if event.__class__.__name__ == "CallEnded":
                    assert session.left() == {"tokens": 10}
                    session.budget = Budget(tokens=1_000)
                if isinstance(event, TurnEnded):
                    ended = event
            assert ended is not None and ended.reason == "end_turn"
            kept = [e.budget for e in session.entries if isinstance(e, Budgeted)]
            assert kept == [Budget(tokens=130), Budget(tokens=1_000)]
            assert session.spent.usage == Usage(210, 30)
            assert session.spending()["main"].usage == Usage(210, 30)

    with serve(script(LOOK, reply("ok", input=110, output=10))) as server:
        asyncio.run(main(server.url))


def test_a_budget_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    async def main(url: str) -> None:
        async with Session(options(tmp_path, url, model="mystery-1")) as session:
            with pytest.raises(BadInput, match="price of mystery-1 is not known"):
                session.budget = Budget(dollars=1.0)
        given = options(tmp_path, url, fallback_models=("mystery-1",))
        async with Session(given) as session:
            with pytest.raises(BadInput, match="price of mystery-1 is not known"):
                session.budget = Budget(dollars=1.0)
            with pytest.raises(BadInput, match="0 or more"):
                session.budget = Budget(tokens=-1)
            assert session.budget == Budget()

    with serve(script("never")) as server:
        asyncio.run(main(server.url))


# The task's budget


@pytest.mark.parametrize(
    ("model", "total", "told"),
    [
        ("claude-opus-5-5", "60000", {"type": "tokens", "total": 60_000}),
        ("claude-opus-5-5", "19999", None),
        ("claude-haiku-4-5", "60000", None),
    ],
)
def test_a_model_that_can_be_told_is_told_its_task_budget(
    runner: Runner, model: str, total: str, told: Any
) -> None:
    runner.serve("ok")
    ran = runner.prompt("x", "--task-budget", total, "--model", model)
    assert ran.code == 0, ran
    (request,) = runner.requests
    assert request.json.get("output_config", {}).get("task_budget") == told
    betas = {name.lower(): value for name, value in request.headers.items()}
    assert ("task-budgets-2026-03-13" in betas.get("anthropic-beta", "")) is (told is not None)
    assert budget_of(ran)["task"] == {"total": int(total), "remaining": int(total)}


# What users met


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_the_last_answer_is_the_result(runner: Runner, output: str) -> None:
    runner.serve(LOOK, LOOK, "what I have", after="error")
    ran = runner.prompt("x", "--max-tokens", "200", "--on-budget", "wrap_up", output=output)
    assert ran.code == 4 and ran.result["is_error"] is True
    assert ran.result["result"] == "what I have"
    assert ran.result["errors"] == ["Budget spent: 240 of 200 tokens."]
    assert ran.result["terminal_reason"] == "budget_exhausted"


def test_without_a_last_answer_the_reason_is_the_result(runner: Runner) -> None:
    """What was said before a call is no answer."""
    runner.serve(reply("I look", call("Bash", command="true"), input=200), after="repeat_last")
    ran = runner.prompt("x", "--max-tokens", "200")
    assert ran.result["result"].startswith("Budget spent") and ran.result["text"] == "I look"


def test_people_are_told_once_that_the_budget_is_spent(runner: Runner) -> None:
    runner.serve(LOOK, LOOK, "what I have", after="error")
    ran = runner.run("-p", "x", "--max-tokens", "200", "--on-budget", "wrap_up")
    assert ran.code == 4 and ran.stdout == "what I have\n"
    assert ran.stderr.count("Budget spent") == 1


@pytest.mark.parametrize("wire", ["chat"])
def test_a_server_that_reports_no_usage_is_held_to_an_estimate(runner: Runner) -> None:
    silent = reply(call("Bash", command="true"), quirks=["no_usage"])
    runner.serve(silent, after="repeat_last")
    ran = runner.prompt("x", "--max-tokens", "20000")
    assert ran.code == 4 and 1 <= len(runner.requests) < 10
    budget = budget_of(ran)
    assert budget["estimated"] is True and budget["used"]["tokens"] >= 20_000
    assert tokens_of(ran) == 0, "nothing was reported"
    assert budget["by"]["main"]["tokens"] == budget["used"]["tokens"]
    assert budget["by"]["main"]["model_calls"] == len(runner.requests)
    later = again(runner, ran)
    assert later.code == 4 and budget_of(later)["used"] | {"seconds": 0, "session_seconds": 0} == {
        **budget["used"],
        "turns": 0,
        "seconds": 0,
        "session_seconds": 0,
    }, "the log says the same as the account"
    told = runner.run("-p", "/budget", "--resume", ran.result["session_id"]).stdout
    assert "are estimated: their server reported none" in told


@pytest.mark.parametrize("wire", ["chat"])
def test_an_estimate_has_its_price(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="true"), quirks=["no_usage"]), after="repeat_last")
    ran = runner.prompt("x", "--max-budget-usd", "0.0001")
    assert ran.code == 4 and len(runner.requests) == 1
    assert budget_of(ran)["used"]["usd"] > 0.0001


def test_an_empty_value_is_an_error(runner: Runner) -> None:
    runner.serve("never")
    ran = runner.run("-p", "x", "--max-budget-usd", "")
    assert ran.code == 2 and "--max-budget-usd was given an empty value" in ran.stderr
    assert not runner.requests


def test_settings_count_beside_what_was_kept(runner: Runner) -> None:
    runner.serve("one", LOOK, after="repeat_last")
    first = runner.prompt("x", "--max-tokens", "5000")
    second = again(runner, first, "--settings", '{"budget": {"toolCalls": 1, "tokens": 9}}')
    assert second.code == 4
    assert budget_of(second)["limits"] == {"tokens": 5_000, "tool_calls": 1}


def test_strict_can_be_lifted(runner: Runner) -> None:
    runner.serve("one", "two", "three")
    first = runner.prompt("x", "--strict-budget", "--max-tokens", "900000")
    assert budget_of(first)["strict"] is True
    assert "strict" not in budget_of(again(runner, first, "--strict-budget=false"))
    assert "strict" not in budget_of(again(runner, first)), "and stays so"
    resumed = ("--resume", first.result["session_id"])
    assert "Strict:" in runner.run("-p", "/budget strict on", *resumed).stdout
    assert "Strict:" not in runner.run("-p", "/budget strict off", *resumed).stdout
