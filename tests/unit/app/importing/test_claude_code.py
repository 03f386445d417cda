"""Transcripts of Claude Code as sessions of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from detent.app.importing.claude_code import read_claude_code
from detent.app.importing.record import Found, Unreadable
from detent.context.project import project
from detent.types.content import Call, Image, Redacted, Result, Text, Thinking
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    TurnEnded,
)
from detent.types.messages import Assistant, User
from detent.types.outcomes import Done, Failed
from detent.types.running import Named
from detent.types.usage import Usage

SESSION = "1d2f0c7e-9a41-4c53-8c1b-7d6f1a2b3c4d"
Line = dict[str, Any]


class Talk:
    """A transcript that is being written: each line hangs on the one before."""

    def __init__(self) -> None:
        self.lines: list[Line | str] = []
        self.last: str | None = None

    def add(self, kind: str, parent: str | None = "", **fields: Any) -> str:
        number = len(self.lines) + 1
        line = {
            "parentUuid": self.last if parent == "" else parent,
            "isSidechain": False,
            "type": kind,
            "uuid": f"u{number}",
            "timestamp": f"2026-03-01T10:00:{number:02}.500Z",
            "sessionId": SESSION,
            "cwd": "/work/app",
            "version": "2.1.3",
            **fields,
        }
        self.lines.append(line)
        self.last = line["uuid"]
        return str(line["uuid"])

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call: str, content: Any, *, is_error: bool = False, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([{**block, "is_error": is_error}], toolUseResult={"x": 1}, **fields)

    def answer(self, *blocks: Any, message: str = "", usage: Any = None, **fields: Any) -> str:
        body = {
            "id": message or f"msg_{len(self.lines)}",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
            "stop_reason": None,
            "usage": usage or {"input_tokens": 3, "output_tokens": 2},
        }
        return self.add("assistant", message=body, **fields)

    def read(self, name: str = f"{SESSION}.jsonl") -> Found:
        texts = (one if isinstance(one, str) else json.dumps(one) for one in self.lines)
        return read_claude_code([text.encode() + b"\n" for text in texts], name)


def use(call: str, name: str = "Bash", **given: Any) -> Line:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [type(entry).__name__ for entry in entries]


def test_a_talk_with_a_call_becomes_entries_with_their_times() -> None:
    talk = Talk()
    talk.user("list them")
    talk.answer(
        {"type": "thinking", "thinking": "hm", "signature": "sig"}, "Looking.", message="m1"
    )
    talk.answer(use("toolu_1", command="ls"), message="m1", usage={"output_tokens": 9})
    talk.result("toolu_1", "a.py\nb.py")
    talk.answer("Two files.")
    found = talk.read()
    assert (found.session, found.cwd) == (SESSION, "/work/app")
    opened, prompted, first, ended, last, turn = found.entries
    assert isinstance(opened, Opened) and opened.version == "claude-code 2.1.3"
    assert isinstance(prompted, Prompted) and prompted.content == (Text("list them"),)
    assert isinstance(first, Replied) and first.model == "claude-sonnet-5-5"
    call = Call("toolu_1", "Bash", '{"command":"ls"}')
    assert first.content == (Thinking("hm", "sig"), Text("Looking."), call)
    assert (first.stop, first.usage) == ("tool_use", Usage(output=9))
    assert isinstance(ended, CallEnded) and ended.outcome == Done((Text("a.py\nb.py"),))
    assert isinstance(last, Replied) and last.provider == ""
    assert isinstance(turn, TurnEnded) and turn.reason == "end_turn" and len(turn.steps) == 2
    assert turn.usage == Usage(3, 11) and turn.ms == 4000
    assert [entry.seq for entry in found.entries] == [1, 2, 3, 4, 5, 6]
    assert [entry.at for entry in found.entries] == sorted(entry.at for entry in found.entries)
    assert prompted.at == 1_772_359_201.5
    assert not found.left_out


def test_nobody_is_said_to_have_permitted_anything() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer(use("t1"))
    talk.result("t1", "done")
    assert not [entry for entry in talk.read().entries if isinstance(entry, CallStarted)]


def test_calls_that_ran_side_by_side_come_back_whole() -> None:
    """Each result hangs on its own call: the newest leaf leads to one of them only."""
    talk = Talk()
    talk.user("go")
    one = talk.answer(use("t1"), message="m1")
    two = talk.answer(use("t2"), message="m1", parent=one)
    talk.result("t2", [{"type": "text", "text": "second"}], is_error=True, parent=two)
    talk.result("t1", "first", parent=one)
    talk.answer("both")
    found = talk.read()
    assert kinds(found.entries) == [
        "Opened", "Prompted", "Replied", "CallEnded", "CallEnded", "Replied", "TurnEnded",
    ]  # fmt: skip
    replied = found.entries[2]
    assert isinstance(replied, Replied) and len(replied.content) == 2
    messages = project(found.entries)
    assert isinstance(messages[2], User)
    assert messages[2].content == (
        Result("t1", (Text("first"),)),
        Result("t2", (Text("second"),), is_error=True),
    )


def test_of_branches_the_newest_counts() -> None:
    talk = Talk()
    first = talk.user("go")
    talk.answer("the old way")
    talk.user("no")
    talk.answer("the new way", parent=first)
    found = talk.read()
    said = [e.content for e in found.entries if isinstance(e, Replied)]
    assert said == [(Text("the new way"),)]
    assert found.left_out == {"message of another branch": 2}


def test_a_compaction_is_one_and_what_stood_before_it_is_kept() -> None:
    talk = Talk()
    talk.user("go")
    before = talk.answer("a long answer")
    talk.add(
        "system",
        parent=None,
        subtype="compact_boundary",
        logicalParentUuid=before,
        compactMetadata={"trigger": "manual", "preTokens": 900},
    )
    talk.user("They went.", isCompactSummary=True)
    talk.user("and now")
    talk.answer("fine")
    found = talk.read()
    assert kinds(found.entries) == [
        "Opened", "Prompted", "Replied", "TurnEnded", "Compacted", "Prompted", "Replied",
        "TurnEnded",
    ]  # fmt: skip
    compacted = found.entries[4]
    assert isinstance(compacted, Compacted)
    assert (compacted.trigger, compacted.before_tokens) == ("manual", 900)
    first, answer = project(found.entries)
    assert isinstance(first, User) and first.content == (Text("They went."), Text("and now"))
    assert isinstance(answer, Assistant)


def test_subagents_are_left_out_and_told_of() -> None:
    talk = Talk()
    talk.user("go")
    here = talk.answer("done")
    talk.answer("inner", isSidechain=True, agentId="a1")
    talk.last = here
    found = talk.read()
    assert found.left_out == {"line of a subagent": 1}
    assert "inner" not in str(found.entries)


def test_what_the_program_said_is_no_prompt() -> None:
    talk = Talk()
    talk.user("<system-reminder>be good</system-reminder>", isMeta=True)
    talk.user("<command-name>/model</command-name>")
    talk.user("real")
    talk.answer("yes")
    entries = talk.read().entries
    assert [type(e) for e in entries[1:3]] == [Reminded, Reminded]
    assert sum(isinstance(entry, Prompted) for entry in entries) == 1


def test_an_interrupted_turn_is_one() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer(use("t1"))
    talk.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    talk.user("again")
    turns = [e for e in talk.read().entries if isinstance(e, TurnEnded)]
    assert [turn.reason for turn in turns] == ["user_cancelled", "end_turn"]
    results = [b for m in project(talk.read().entries) for b in m.content if isinstance(b, Result)]
    assert results == [Result("t1", (Text("[interrupted before it ran]"),), is_error=True)]


def test_a_prompt_that_came_meanwhile_is_steering() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer(use("t1"))
    talk.result("t1", "ok")
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "faster"}
    talk.add("attachment", attachment=queued)
    talk.add("attachment", attachment={"type": "todo", "content": []})
    talk.answer("done")
    found = talk.read()
    prompts = [e for e in found.entries if isinstance(e, Prompted)]
    assert [(p.content, p.steered) for p in prompts] == [
        ((Text("go"),), False),
        ((Text("faster"),), True),
    ]
    assert found.left_out == {"attachment": 1}


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([{"type": "summary", "summary": "Old name", "leafUuid": "x"}], "Old name"),
        ([{"type": "ai-title", "aiTitle": "Given"}, {"type": "summary", "summary": "x"}], "Given"),
        (
            [
                {"type": "custom-title", "customTitle": "Mine\n"},
                {"type": "ai-title", "aiTitle": "x"},
            ],
            "Mine",
        ),
        ([], ""),
    ],
)
def test_its_title_is_the_name(lines: list[Line], name: str) -> None:
    talk = Talk()
    talk.user("go")
    talk.answer("done")
    talk.lines += lines
    names = [entry.name for entry in talk.read().entries if isinstance(entry, Named)]
    assert names == ([name] if name else [])


def test_pictures_and_documents_come_along_and_what_is_unknown_is_told() -> None:
    def source(media: str) -> Line:
        return {"type": "base64", "media_type": media, "data": "AAAA"}

    talk = Talk()
    talk.user(
        [
            {"type": "image", "source": source("image/png")},
            {"type": "image", "source": source("image/svg+xml")},
            {"type": "text", "text": "see"},
        ]
    )
    talk.answer(
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "server_tool_use", "id": "s"},
        use("t"),
    )
    talk.result("t", [{"type": "image", "source": source("image/png")}, {"type": "odd"}])
    found = talk.read()
    prompted, replied, ended = found.entries[1:4]
    assert isinstance(prompted, Prompted) and isinstance(replied, Replied)
    assert prompted.content == (Image("image/png", "AAAA"), Text("see"))
    assert replied.content == (Redacted("xx"), Call("t", "Bash", "{}"))
    assert isinstance(ended, CallEnded) and isinstance(ended.outcome, Done)
    assert ended.outcome.content[1] == Text("[odd: left out at the import]")
    assert found.left_out == {"block 'image'": 1, "block 'server_tool_use'": 1}


def test_bookkeeping_is_counted_and_rubbish_does_not_stop_it() -> None:
    talk = Talk()
    talk.user("go")
    talk.lines += ["{broken", "[1]", '"text"', "null", '{"type": 7}', "", "[" * 100_000]
    talk.lines.append({"type": "file-history-snapshot", "snapshot": {}})
    talk.answer("done")
    talk.add("system", subtype="turn_duration", durationMs=5)
    talk.answer("no model")
    talk.lines[-1]["message"]["model"] = "<synthetic>"  # type: ignore[index]
    found = talk.read()
    assert found.left_out == {
        "unreadable line": 6,
        "file-history-snapshot": 1,
        "system line": 1,
        "message of the program": 1,
    }
    assert kinds(found.entries) == ["Opened", "Prompted", "Replied", "TurnEnded"]


def test_lines_that_come_twice_are_taken_once() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer(use("c1"))
    talk.result("c1", "out")
    talk.lines += talk.lines
    found = talk.read()
    assert kinds(found.entries) == ["Opened", "Prompted", "Replied", "CallEnded", "TurnEnded"]
    assert found.left_out == {"line that came twice": 3}


def test_half_a_character_does_not_lose_the_line() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer("cut \ud83d")
    replied = talk.read().entries[2]
    assert isinstance(replied, Replied) and replied.content == (Text("cut ?"),)


def test_lines_without_a_tree_are_taken_as_they_come() -> None:
    lines: list[Line] = [
        {"type": "user", "message": {"content": "go"}},
        {
            "type": "assistant",
            "message": {"model": "m", "content": [{"type": "text", "text": "a"}]},
        },
    ]
    found = read_claude_code([json.dumps(line).encode() for line in lines], f"{SESSION}.jsonl")
    assert kinds(found.entries) == ["Opened", "Prompted", "Replied", "TurnEnded"]
    assert found.cwd == "/"


def test_a_parent_that_cannot_be_read_does_not_lose_what_stood_before_it() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer("half of it")
    talk.lines[-1] = "{broken"
    talk.answer("and the rest")
    assert kinds(talk.read().entries) == ["Opened", "Prompted", "Replied", "TurnEnded"]


def test_a_circle_of_parents_ends() -> None:
    talk = Talk()
    talk.user("go", parent="u2")
    talk.answer("a")
    talk.answer("b", parent="u3")
    assert talk.read().entries


@pytest.mark.parametrize(
    ("name", "session"), [("x.jsonl", SESSION), (f"{SESSION.upper()}.jsonl", SESSION)]
)
def test_the_id_is_that_of_the_file_or_of_its_lines(name: str, session: str) -> None:
    talk = Talk()
    talk.user("go")
    assert talk.read(name).session == session


def test_what_is_no_transcript_is_said_so() -> None:
    with pytest.raises(Unreadable, match="no conversation"):
        read_claude_code([b"hello\n"], f"{SESSION}.jsonl")
    talk = Talk()
    talk.user("go", sessionId="../../etc/passwd")
    with pytest.raises(Unreadable, match="id"):
        talk.read("../evil.jsonl")


def test_hostile_values_become_none() -> None:
    talk = Talk()
    talk.user("go", cwd="relative", timestamp="yesterday")
    usage = {"input_tokens": -5, "output_tokens": "many", "cache_creation": 3}
    talk.answer("x", usage=usage, timestamp="9999-99-99")
    talk.answer(use("t", number=10**400), timestamp=7)
    talk.result("t", 5)
    talk.result("nobody", "x")
    found = talk.read()
    assert found.cwd == "/"
    replied = found.entries[2]
    assert isinstance(replied, Replied) and replied.usage == Usage()
    assert [e.at for e in found.entries] == sorted(e.at for e in found.entries)
    assert found.left_out["result without its call"] >= 1


def test_failed_results_are_failures() -> None:
    talk = Talk()
    talk.user("go")
    talk.answer(use("t"))
    talk.result("t", "no such file", is_error=True)
    ended = talk.read().entries[3]
    assert isinstance(ended, CallEnded) and ended.outcome == Failed("no such file")
