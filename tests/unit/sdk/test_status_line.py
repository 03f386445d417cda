"""The status line: what its command is told, and how it is run."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk import status_line
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.version import VERSION


def test_a_session_tells_what_it_is_and_what_it_took(settings: Settings) -> None:
    """And an entry is looked at once: the line is drawn often, and a log may be long."""
    (settings.cwd / "a.txt").write_text("one\ntwo\nthree\n")
    edit = call("Edit", file_path="a.txt", old_string="two\n", new_string="2\nzwei\n")
    model = ScriptedModel(
        reply(call("Read", file_path="a.txt")),
        reply(edit, call("Write", file_path="new.txt", content="x\ny\nz\n")),
        reply("done", input=700, output=50, cache_read=39_250),
        name="house/m",
        window=200_000,
    )
    given = settings(
        model,
        permission_mode="acceptEdits",
        name="the rates",
        effort="high",
        settings={"outputStyle": "None Such"},
        persist=True,
    )

    async def play() -> tuple[dict[str, Any], dict[str, Any], Session]:
        async with Session(given) as session:
            before = status_line.payload(session)
            await session.run_turn("go")
            return before, status_line.payload(session, vim="INSERT"), session

    before, after, session = run(play)
    work = os.path.realpath(settings.cwd)
    assert before["session_name"] == "the rates"
    assert before["context_window"]["current_usage"] is None
    assert "vim" not in before and "agent" not in before
    assert json.loads(json.dumps(after)) == after
    assert after["session_id"] == session.id
    assert after["transcript_path"] == session.path != ""
    assert after["session_name"] == "the rates"
    assert after["cwd"] == work
    assert after["workspace"] == {"current_dir": work, "project_dir": work, "added_dirs": []}
    assert after["model"] == {"id": "house/m", "display_name": "m"}
    assert after["version"] == VERSION
    assert after["output_style"] == {"name": "None Such"}
    assert after["effort"] == {"level": "high"}
    assert after["thinking"] == {"enabled": True}
    assert after["vim"] == {"mode": "INSERT"}
    cost = after["cost"]
    assert (cost["total_lines_added"], cost["total_lines_removed"]) == (5, 1)
    assert cost["total_duration_ms"] >= cost["total_api_duration_ms"] >= 0
    window = after["context_window"]
    assert window["context_window_size"] == 200_000
    assert window["used_percentage"] == 20 and window["remaining_percentage"] == 80
    assert window["current_usage"] == {
        "input_tokens": 700,
        "output_tokens": 50,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 39_250,
    }
    assert not after["exceeds_200k_tokens"]


def test_what_was_counted_is_not_counted_again(settings: Settings) -> None:
    class Counting(list[Any]):
        looks = 0

        def __getitem__(self, index: Any) -> Any:
            Counting.looks += 1
            return super().__getitem__(index)

    async def play() -> list[Any]:
        async with Session(settings(ScriptedModel("hi"))) as session:
            await session.run_turn("go")
            return list(session.entries)

    entries = Counting(run(play))
    tally = status_line.Tally().read(entries)
    assert Counting.looks == len(entries) and tally.last is not None
    tally.read(entries)
    assert Counting.looks == len(entries)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cat", '{"a":1}'),
        ("printf 'one\\r\\n\\ntwo\\n\\n'", "one\n\ntwo"),
        ("seq 9", "1\n2\n3"),
        ("head -c 100000 /dev/zero | tr '\\0' x", "x" * status_line.MOST_BYTES),
        ("printf '\\377'", "\ufffd"),
        ("echo seen; echo unseen >&2", "seen"),
        ("echo so far; exit 3", ""),
        ("/no/such/program", ""),
        ("a\0b", ""),
        ('test -n "$ANTHROPIC_API_KEY" || echo "$CLAUDE_PROJECT_DIR"', "PROJECT"),
    ],
)
def test_a_command_prints_the_line_or_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")

    async def play() -> str:
        async with Session(settings(ScriptedModel("hi"))) as session:
            return await status_line.run(session, command, {"a": 1})

    assert run(play) == shown.replace("PROJECT", os.path.realpath(settings.cwd))


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(settings: Settings) -> None:
    pid = settings.cwd / "pid"
    command = f"(sleep 600 & echo $! > {pid}; wait) & wait"

    async def play() -> str:
        async with Session(settings(ScriptedModel("hi"))) as session:
            return await status_line.run(session, command, {}, seconds=0.5)

    assert run(play) == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_whoever_gives_up_leaves_no_process(settings: Settings) -> None:
    pipe = settings.cwd / "pipe"
    os.mkfifo(pipe)

    async def play() -> None:
        async with Session(settings(ScriptedModel("hi"))) as session:
            command = f"echo $$ > {pipe}; sleep 600"
            task = asyncio.create_task(status_line.run(session, command, {}, seconds=60))
            pid = int(await asyncio.to_thread(pipe.read_text))
            task.cancel()
            await asyncio.wait([task])
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    run(play)
