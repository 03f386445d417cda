"""Slash commands in headless runs: no turn, the same frames and exit codes."""

from __future__ import annotations

import json
import signal
import threading

import pytest

from detent.testing import call, reply

from .conftest import Frame, Runner

ALL = [
    "agents", "budget", "bug", "clear", "compact", "context", "cost", "diff", "doctor", "effort",
    "export", "fork", "help", "hooks", "init", "mcp", "memory", "mode", "model", "permissions",
    "redo", "rename", "replay", "resume", "rewind", "search", "skills", "status", "tasks", "todos",
    "undo", "usage",
]  # fmt: skip
LONG = "A long answer about boats, quays and the tide. " * 120
FACTS = json.dumps({"goal": "keep the quay dry", "last_request": "and now?"})
NO_KEY: dict[str, str | None] = {
    "ANTHROPIC_API_KEY": None,
    "ANTHROPIC_BASE_URL": None,
    "OPENAI_API_KEY": None,
}


def user(text: str, **fields: object) -> Frame:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def grown(runner: Runner, *more: object, turns: int = 5) -> str:
    """A session of some turns; its id."""
    runner.serve(*[reply(LONG, input=2_000 * (n + 1), output=900) for n in range(turns)], *more)
    first = runner.prompt("keep the quay dry").result
    for number in range(turns - 1):
        runner.prompt(f"and step {number}?", "--continue")
    return str(first["session_id"])


# Without a model


@pytest.mark.parametrize(
    "text",
    ["/help diff", "/memory", "/context", "/budget", "/agents", " /help \n", "/status", "/todos"],
)
def test_what_needs_no_model_works_without_a_key_and_without_a_network(
    runner: Runner, text: str
) -> None:
    """F024"""
    ran = runner.run("-p", text, shell="true", env=NO_KEY)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.strip()
    assert runner.logs == [], "nothing was said, so there is no session"


def test_help_names_all_of_them(runner: Runner) -> None:
    lines = runner.run("-p", "/help", env=NO_KEY).stdout.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  /")]
    assert sorted(names) == [f"/{name}" for name in ALL]


def test_a_command_asks_no_model(runner: Runner) -> None:
    runner.serve("never")
    for text in ("/help", "/context", "/memory", "/budget"):
        assert runner.prompt(text).code == 0
    assert runner.requests == []


def test_its_result_is_that_of_a_turn_that_was_none(runner: Runner) -> None:
    runner.serve("never")
    result = runner.prompt("/memory").result
    assert (result["subtype"], result["is_error"], result["num_turns"]) == ("success", False, 0)
    assert (result["total_cost_usd"], result["usage"]["input_tokens"]) == (0, 0)
    assert "No memory files" in result["result"]


def test_memory_and_context_show_the_session(runner: Runner) -> None:
    (runner.work / "CLAUDE.md").write_text("Always say please.\n")
    session = grown(runner, turns=2)
    memory = runner.prompt("/memory", "--continue").result["result"]
    assert str(runner.work / "CLAUDE.md") in memory
    context = runner.prompt("/context", "--resume", session).result
    assert context["session_id"] == session
    assert f"Session {session}" in context["result"]
    assert "memory" in context["result"] and "messages" in context["result"]
    assert len(runner.requests) == 2


# What is no command


@pytest.mark.parametrize(
    "text", ["/etc/passwd", "/helpme", "/unknown thing", "/ help", "//help", "say /help", "/"]
)
def test_other_texts_with_a_slash_are_prompts(runner: Runner, text: str) -> None:
    runner.serve("answered")
    assert runner.prompt(text).result["result"] == "answered"
    assert runner.requests[0].user_texts == [text]


def test_a_command_beside_piped_text_is_a_prompt(runner: Runner) -> None:
    runner.serve("answered")
    assert runner.prompt("/help", stdin="some text").result["result"] == "answered"


def test_they_can_be_switched_off(runner: Runner) -> None:
    runner.serve("answered")
    ran = runner.prompt("/help", "--disable-slash-commands")
    assert ran.result["result"] == "answered"


@pytest.mark.parametrize("way", ["-p", "host"])
def test_those_that_are_switched_off_are_not_offered(runner: Runner, way: str) -> None:
    runner.serve("answered", "answered")
    for flags, offered in (((), True), (("--disable-slash-commands",), False)):
        if way == "-p":
            init = runner.frames("x", *flags).of("system")[0]
        else:
            live = runner.converse(*flags)
            live.say("x")
            init = live.next("system", "init")
            live.finish()
        assert ("compact" in init["slash_commands"]) is offered


def test_what_stands_on_the_next_line_belongs_to_the_command(runner: Runner) -> None:
    runner.serve("never")
    assert "limit" in runner.run("-p", "/budget\ntokens 5").stdout
    assert not runner.requests


def test_words_that_a_command_does_not_take(runner: Runner) -> None:
    ran = runner.run("-p", "/memory please", env=NO_KEY)
    assert ran.code == 2
    assert "/memory takes no words" in ran.stderr


# Budgets


def test_a_budget_is_set_and_kept_with_the_session(runner: Runner) -> None:
    session = grown(runner, "more", turns=2)
    said = runner.prompt("/budget tokens 1000000", "--resume", session).result["result"]
    assert "1,000,000" in said
    assert "1,000,000" in runner.prompt("/budget", "--resume", session).result["result"]
    lifted = runner.prompt("/budget tokens none", "--resume", session).result["result"]
    assert "1,000,000" not in lifted
    entries = [entry for entry in runner.entries(session) if entry["type"] == "budgeted"]
    assert len(entries) == 2


def test_a_budget_that_is_spent_stops_the_next_turn(runner: Runner) -> None:
    session = grown(runner, "never", turns=2)
    runner.prompt("/budget tokens 100", "--resume", session)
    ran = runner.prompt("go on", "--resume", session)
    assert (ran.code, ran.result["reason"]) == (4, "budget_exceeded")
    assert len(runner.requests) == 2


@pytest.mark.parametrize(
    "rest", ["usd", "usd x", "usd -1", "usd 0", "tokens 1.5", "money 5", "usd 1 2", "usd inf"]
)
def test_a_wish_that_makes_no_sense(runner: Runner, rest: str) -> None:
    ran = runner.run("-p", f"/budget {rest}", env=NO_KEY)
    assert ran.code == 2
    assert "/budget" in ran.stderr


# Compacting


def test_compact_tells_the_old_in_short(runner: Runner) -> None:
    session = grown(runner, reply(FACTS, input=11_000, output=70), "the rest")
    ran = runner.frames("/compact the numbers of the berths", "--resume", session)
    assert ran.code == 0, ran
    kinds = [frame.get("subtype") for frame in ran.frames]
    assert kinds[0] == "init" and kinds[-1] == "success"
    (boundary,) = ran.of("system", "compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert "Compacted:" in ran.result["result"]
    (compacted,) = [e for e in runner.entries(session) if e["type"] == "compacted"]
    assert compacted["instructions"] == "the numbers of the berths"
    before = len(runner.requests)
    assert runner.prompt("and now?", "--resume", session).result["result"] == "the rest"
    assert len(runner.requests) == before + 1
    assert len(str(runner.requests[-1].body)) < len(str(runner.requests[4].body))


def test_what_asking_for_the_summary_cost_is_in_the_result(runner: Runner) -> None:
    session = grown(runner, reply(FACTS, input=11_000, output=70))
    result = runner.prompt("/compact", "--resume", session).result
    assert result["usage"]["input_tokens"] == 11_000
    assert result["total_cost_usd"] > 0
    assert result["num_turns"] == 0


@pytest.mark.parametrize("way", ["-p", "host"])
def test_a_compaction_can_be_interrupted(runner: Runner, way: str) -> None:
    """What it has cost until then is told, and kept with the session."""
    held = threading.Event()
    (runner.work / "a").write_text("alpha beta\n" * 900)
    read = reply(call("Read", file_path="a"), input=3_000)
    runner.serve(*[read] * 6, reply("done", input=20_000), reply("{}", input=900, hold=held))
    try:
        if way == "-p":
            session = runner.prompt("look").result["session_id"]
            live = runner.start("-p", "/compact", "--resume", session, "--output-format", "json")
            runner.server.wait_for(8)
            live.process.send_signal(signal.SIGINT)
        else:
            live = runner.converse()
            live.say("look")
            live.next("result")
            live.say("/compact")
            runner.server.wait_for(8)
            live.control("interrupt")
        result = live.next("result")
        assert (result["reason"], result["is_error"]) == ("user_cancelled", True)
        assert live.finish().code == (130 if way == "-p" else 0)
        entries = runner.entries(result["session_id"])
        lost = sum(entry["usage"]["input"] for entry in entries if entry["type"] == "lost")
        assert result["usage"]["input_tokens"] == lost  # none, if it had not heard of it yet
        assert "compacted" not in [entry["type"] for entry in entries]
    finally:
        held.set()


def test_a_new_session_has_nothing_to_compact(runner: Runner) -> None:
    runner.serve("never")
    result = runner.prompt("/compact").result
    assert result["result"] == "There is nothing to compact yet."
    assert runner.requests == [] and runner.logs == []


def test_compact_needs_a_model(runner: Runner) -> None:
    session = grown(runner)
    ran = runner.run("-p", "/compact", "--resume", session, env=NO_KEY)
    assert ran.code == 7


# Frames both ways


def test_commands_between_turns(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    live.say("first")
    assert live.next("result")["result"] == "one"
    live.say("/budget requests 7")
    told = live.next("result")
    assert "model calls" in told["result"] and told["num_turns"] == 0
    live.say("/budget requests seven")
    wrong = live.next("result")
    assert wrong["is_error"] and "whole number" in wrong["result"]
    live.say("second")
    assert live.next("result")["result"] == "two"
    live.end_input()
    ran = live.finish()
    assert ran.code == 0
    assert len({frame["session_id"] for frame in ran.frames if "session_id" in frame}) == 1
    for init in ran.of("system", "init"):
        assert init["slash_commands"] == ALL


def test_a_command_is_not_joined_with_prompts_that_wait(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    live.send(user("first"), user("/help"), user("second"))
    live.end_input()
    ran = live.finish()
    results = [frame["result"] for frame in ran.of("result")]
    assert [text.split()[0] for text in results] == ["one", "Conversation:", "two"]


def test_a_host_may_mean_the_text_itself(runner: Runner) -> None:
    runner.serve("answered")
    live = runner.converse()
    live.send(user("/help", client_composed=True))
    assert live.next("result")["result"] == "answered"
    live.end_input()
    assert live.finish().code == 0


def test_a_command_is_the_whole_of_a_prompt(runner: Runner) -> None:
    runner.serve("answered")
    live = runner.converse()
    blocks = [{"type": "text", "text": "/help"}, {"type": "text", "text": "is what I typed"}]
    live.send({"type": "user", "message": {"role": "user", "content": blocks}})
    assert live.next("result")["result"] == "answered"
    live.end_input()
    assert live.finish().code == 0


def test_help_for_a_host_without_a_key(runner: Runner) -> None:
    live = runner.converse()
    live.say("/help")
    assert live.next("result")["result"].startswith("Conversation:")
    live.end_input()
    assert live.finish().code == 0


def test_a_host_is_told_which_there_are(runner: Runner) -> None:
    runner.serve("never")
    live = runner.converse()
    commands = live.control("initialize")["response"]["commands"]
    named = {command["name"]: command for command in commands}
    assert list(named) == ALL and named["memory"]["argumentHint"] == ""
    assert named["undo"]["argumentHint"] == "[STEP]"
    live.end_input()
    live.finish()


# Slips


@pytest.mark.parametrize(("text", "meant"), [("/contxt", "context"), ("/bugdet", "budget")])
def test_a_slip_of_the_pen_costs_nothing(runner: Runner, text: str, meant: str) -> None:
    runner.serve("never")
    ran = runner.run("-p", text)
    assert ran.code == 2 and f"unknown command {text}; did you mean /{meant}?" in ran.stderr
    live = runner.converse()
    live.say(text)
    result = live.next("result")
    assert result["is_error"] is True and f"did you mean /{meant}?" in result["result"]
    assert live.finish().code == 2
    assert not runner.requests and runner.logs == []


@pytest.mark.parametrize("text", ["/contxt of it", "/src/contxt", "/zebra"])
def test_all_else_is_a_prompt(runner: Runner, text: str) -> None:
    runner.serve("answered")
    assert runner.prompt(text).result["result"] == "answered"


# What is changed


def test_a_diff_of_a_session_that_is_over(runner: Runner) -> None:
    (runner.work / "a").write_text("one\n")
    edit = reply(call("Bash", command="echo two >> a"))
    runner.serve(edit, "done")
    session = runner.prompt("x", "--permission-mode", "bypassPermissions").result["session_id"]
    told = runner.run("-p", "/diff", "--resume", session, env=NO_KEY)
    assert told.stdout.endswith("--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n one\n+two\n")
    assert runner.run("-p", "/diff never", "--resume", session, env=NO_KEY).code == 2


def test_a_host_clears_the_chat_and_renames_the_session(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    live.say("the first thing")
    live.next("result")
    for text, answer in (("/clear", "The chat is empty"), ("/rename quay", "is called quay")):
        live.say(text)
        assert answer in live.next("result")["result"]
    live.say("the second thing")
    live.next("result")
    live.end_input()
    assert live.finish().code == 0
    assert runner.requests[1].user_texts[-1] == "the second thing"
    assert "the first thing" not in runner.requests[1].user_texts
    assert "quay: " in runner.run("-p", "/resume", env=NO_KEY).stdout


# What it has cost


@pytest.mark.parametrize("name", ["cost", "usage"])
def test_cost_tells_what_it_was_for_and_at_which_prices(runner: Runner, name: str) -> None:
    session = grown(runner, turns=2)
    lines = runner.run("-p", f"/{name}", "--resume", session, env=NO_KEY).stdout.splitlines()
    assert lines[0].split() == ["model", "calls", "tokens", "dollars"]
    assert lines[1].split()[:3] == ["main", "2", "7,800"] and "$" in lines[1]
    assert lines[-1].startswith("At the prices of 20")


def test_an_unknown_price_is_said(runner: Runner) -> None:
    runner.serve(reply("x", input=100, output=5))
    session = runner.prompt("x", "--model", "mystery-1").result["session_id"]
    told = runner.run("-p", "/cost", "--resume", session).stdout
    assert "unknown" in told and "105 tokens of models of unknown price" in told


# What a run would say as well


def test_notes_of_the_settings_are_told(runner: Runner) -> None:
    ran = runner.run("-p", "/budget", "--settings", '{"budget": {"tool_calls": 3}}', env=NO_KEY)
    assert ran.code == 0 and "budget: unknown key tool_calls" in ran.stderr


def test_who_has_switched_compaction_off(runner: Runner) -> None:
    session = grown(runner, turns=2)
    ran = runner.run("-p", "/compact", "--resume", session, env={"DISABLE_COMPACT": "1"})
    assert ran.code == 0 and "DISABLE_COMPACT has switched it off" in ran.stdout


@pytest.mark.parametrize(
    "name", ["modelCalls", "model-calls", "MODEL_CALLS", "model calls", "requests"]
)
def test_a_limit_goes_by_many_names_and_is_shown_under_one(runner: Runner, name: str) -> None:
    told = runner.run("-p", f"/budget {name} 1000000000000", env=NO_KEY).stdout
    assert told.splitlines()[1].split() == [
        "model", "calls", "0", "1,000,000,000,000", "1,000,000,000,000",
    ]  # fmt: skip
