"""Compaction from outside: by the model in the middle of a turn, without it, learned, undone."""

from __future__ import annotations

import json
from typing import Any

from detent.testing import call, fault, reply

from .conftest import BOTH_WIRES, Runner

SUMMARY = {
    "goal": "count the lines",
    "constraints": [],
    "decisions": [],
    "failed_approaches": ["wc was not there"],
    "open_todos": [],
    "files_touched": [],
    "last_request": "?",
    "current_state": "half of them are counted",
    "next_step": "count on",
}
LONG = "for i in $(seq 400); do echo some line of output $i; done"
ONLY_AUTO = {"compaction": {"order": ["auto"], "tokens": 20_000}}


def steps(*inputs: int) -> list[Any]:
    return [reply(call("Bash", command=f"{LONG} # {n}"), input=n, output=1) for n in inputs]


def settings(runner: Runner, **more: Any) -> tuple[str, ...]:
    return ("--settings", json.dumps({**ONLY_AUTO, **more}))


def texts(request: Any) -> str:
    return json.dumps(request.json["messages"])


@BOTH_WIRES
def test_the_model_sums_up_in_the_middle_of_a_turn(runner: Runner) -> None:
    given = reply(json.dumps(SUMMARY), input=900, output=80)
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), given, reply("done", input=50, output=5))
    wish = "Count the lines. Never use `wc_old`."
    ran = runner.frames(wish, *settings(runner), "--permission-mode", "bypassPermissions")
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    (boundary,) = ran.of("system", "compact_boundary")
    metadata = boundary["compact_metadata"]
    assert metadata["trigger"] == "auto" and "is_reactive" not in metadata
    assert metadata["pre_tokens"] > 30_000 > metadata["post_tokens"] > 0
    assert metadata["duration_ms"] >= 0
    states = [frame["status"] for frame in ran.of("system", "status")]
    assert states[:2] == ["compacting", None]
    asking, after = runner.requests[4], runner.requests[5]
    earlier, asked = runner.requests[3].json["messages"], asking.json["messages"]
    assert len(asked) > len(earlier) and _bare(asked[: len(earlier)]) == _bare(earlier)
    assert asking.json["tools"] == runner.requests[3].json["tools"]
    assert "half of them are counted" in texts(after) and "wc was not there" in texts(after)
    assert wish in texts(after), "word for word"
    (entry,) = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "compacted"]
    assert (entry["by"], entry["usage"]) == ("model", {"input": 900, "output": 80})
    assert entry["keeps"] and entry["replaced"]


@BOTH_WIRES
def test_a_summary_that_fails_thrice_is_made_without_the_model(runner: Runner) -> None:
    bad = reply("I would rather not.", input=10, output=2)
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), bad, bad, bad, reply("done", input=50))
    ran = runner.frames("go", *settings(runner), "--permission-mode", "bypassPermissions")
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert len(runner.requests) == 8
    notices = [frame["content"] for frame in ran.of("system", "informational")]
    assert any("gave no summary" in text for text in notices)
    (entry,) = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "compacted"]
    assert entry["failures"] == 3 and "Tools used: Bash" in entry["summary"]


def test_the_setting_makes_it_without_the_model(runner: Runner) -> None:
    local = {"compaction": {**ONLY_AUTO["compaction"], "summariser": "local"}}
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), reply("done", input=50))
    ran = runner.frames("go", *settings(runner, **local), "--permission-mode", "bypassPermissions")
    assert (ran.code, len(runner.requests)) == (0, 5), ran


VLLM = (
    "This model's maximum context length is 12000 tokens. However, your request has 13456 input "
    "tokens. Please reduce the length of the input messages."
)


@BOTH_WIRES
def test_the_window_is_learned_from_the_servers_words(runner: Runner) -> None:
    refused = fault(400, body=json.dumps({"error": {"message": VLLM, "code": 400}}))
    quiet = [reply(call("Bash", command=f"{LONG} # {n}"), input=0, output=0) for n in range(4)]
    runner.serve(*quiet, refused, reply("done", input=0, output=0))
    ran = runner.frames(
        "go", "--settings", '{"compaction": {"order": ["auto"]}}',
        "--permission-mode", "bypassPermissions",
    )  # fmt: skip
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    (boundary,) = ran.of("system", "compact_boundary")
    assert boundary["compact_metadata"]["is_reactive"] is True
    (entry,) = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "learned"]
    assert entry["window"] == 12_000
    sizes = [len(texts(request)) for request in runner.requests]
    assert sizes[-1] < sizes[-2] / 2


def test_uncompact_gives_back_the_same_bytes(runner: Runner) -> None:
    local = {"compaction": {**ONLY_AUTO["compaction"], "summariser": "local"}}
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), reply("done", input=50), "more")
    bypass = ("--permission-mode", "bypassPermissions")
    ran = runner.frames("go", *settings(runner, **local), *bypass)
    session = ran.result["session_id"]
    assert ran.of("system", "compact_boundary")
    done = runner.run("uncompact")
    assert done.code == 0 and f"Session {session}: 1 shortening undone" in done.stdout, done
    assert "messages came back" in done.stdout and "They fit into the window" in done.stdout
    off = ("--settings", '{"autoCompactEnabled": false}')
    runner.prompt("and now?", "-r", session, *off, *bypass)
    before, after = runner.requests[3].json["messages"], runner.requests[-1].json["messages"]
    assert _bare(after[: len(before)]) == _bare(before)
    assert len(after) > len(before)
    again = runner.run("uncompact", session[:8])
    assert again.code == 0 and "nothing was left out" in again.stdout
    none = runner.run("uncompact", "nosuch")
    assert none.code == 2 and "no session 'nosuch' was found" in none.stderr


def _bare(value: Any) -> Any:
    """Without cache marks, which belong to a request."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if key != "cache_control"}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def test_hooks_leave_a_receipt(runner: Runner) -> None:
    note = "cat >> heard.jsonl; echo >> heard.jsonl"
    hooks = {
        "PreCompact": [{"matcher": "auto", "hooks": [{"type": "command", "command": note}]}],
        "PostCompact": [{"hooks": [{"type": "command", "command": note}]}],
    }
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), json.dumps(SUMMARY), reply("done", input=50))
    ran = runner.frames(
        "go", *settings(runner, hooks=hooks), "--permission-mode", "bypassPermissions"
    )
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    heard = [
        json.loads(line) for line in (runner.work / "heard.jsonl").read_text().split("\n") if line
    ]
    assert [one["hook_event_name"] for one in heard] == ["PreCompact", "PostCompact"]
    assert (heard[0]["trigger"], heard[0]["custom_instructions"]) == ("auto", "")
    assert "half of them are counted" in heard[1]["compact_summary"]
    entries = runner.entries(ran.result["session_id"])
    receipts = [entry for entry in entries if entry["type"] == "hooksran"]
    assert [(one["event"], one["hooks"]) for one in receipts] == [
        ("PreCompact", [note]),
        ("PostCompact", [note]),
    ]
    order = [e["type"] for e in entries if e["type"] in ("hooksran", "compacted")]
    assert order == ["hooksran", "compacted", "hooksran"]


def test_a_hook_that_says_no_keeps_the_conversation(runner: Runner) -> None:
    refuse = {"type": "command", "command": "echo keep it >&2; exit 2"}
    hooks = {"PreCompact": [{"hooks": [refuse]}]}
    runner.serve(*steps(1_000, 2_000, 3_000, 30_000), reply("done", input=50))
    ran = runner.frames(
        "go", *settings(runner, hooks=hooks), "--permission-mode", "bypassPermissions"
    )
    assert (ran.code, len(runner.requests)) == (0, 5), ran
    receipts = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "hooksran"]
    assert receipts and receipts[0]["said"].strip() == "keep it"
