"""Commands of the person's own, beside the model's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput
from detent.types.events import CallEnded, CallStarted
from detent.types.outcomes import text_of

BYPASS: dict[str, Any] = {"permission_mode": "bypassPermissions", "persist": True}


async def turn(session: Session, prompt: str, meets: Callable[[Any], bool], do: Any) -> list[Any]:
    """A turn; what is to be done when an event comes is done then."""
    events = []
    async for event in session.send(prompt):
        events.append(event)
        if meets(event):
            await do()
    return events


class TestShell:
    def test_it_runs_where_the_session_works(self, settings: Settings) -> None:
        async def body() -> None:
            heard: list[str] = []
            async with Session(settings(ScriptedModel())) as session:
                ran = await session.shell("pwd; echo err >&2; exit 3", heard.append)
                assert (ran.exit_code, ran.path, ran.note) == (3, "", "")
                assert sorted(ran.output.split("\n")) == [str(settings.cwd), "err"]
                assert "".join(heard).startswith((str(settings.cwd), "err"))
                assert ran.seconds >= 0 and ran.command.startswith("pwd")
                assert list(session.entries) == []

        run(body)

    def test_much_output_is_bounded_and_whole_in_a_file(self, settings: Settings) -> None:
        async def body() -> str:
            async with Session(settings(ScriptedModel(), persist=True)) as session:
                ran = await session.shell("seq 50000")
                assert len(ran.output) <= 30_000 and ran.output.endswith("\n50000")
                assert ran.path.startswith(session.path.removesuffix(".jsonl"))
                return ran.path

        assert len(Path(run(body)).read_text().split()) == 50_000

    def test_a_change_of_folder_lasts_within_the_workspace(self, settings: Settings) -> None:
        (settings.cwd / "sub").mkdir()

        async def body() -> None:
            async with Session(settings(ScriptedModel())) as session:
                ran = await session.shell("cd sub")
                assert session.cwd == str(settings.cwd / "sub")
                assert ran.note == f"[Working folder: {session.cwd}]"
                ran = await session.shell("cd /")
                assert session.cwd == str(settings.cwd / "sub")
                assert "outside the workspace" in ran.note

        run(body)

    def test_while_a_turn_runs_the_folder_stays(self, settings: Settings) -> None:
        (settings.cwd / "sub").mkdir()
        model = ScriptedModel(reply(call("Bash", command="pwd")), "done")

        async def body() -> None:
            async with Session(settings(model, **BYPASS)) as session:

                async def go() -> None:
                    ran = await session.shell("cd sub && pwd")
                    assert ran.output == str(settings.cwd / "sub")
                    assert ran.note.startswith("[The working folder stays")

                started = lambda event: isinstance(event, CallStarted)  # noqa: E731
                events = await turn(session, "go", started, go)
                (ended,) = (e.outcome for e in events if isinstance(e, CallEnded))
                assert text_of(ended) == session.cwd == str(settings.cwd)

        run(body)

    def test_cancelling_ends_it(self, settings: Settings) -> None:
        async def body() -> None:
            heard: asyncio.Queue[str] = asyncio.Queue()
            async with Session(settings(ScriptedModel())) as session:
                command = "sleep 60 & echo $! $$; wait"
                task = asyncio.create_task(session.shell(command, heard.put_nowait))
                pids = [int(word) for word in (await heard.get()).split()]
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                for pid in pids:
                    with pytest.raises(ProcessLookupError):
                        os.kill(pid, 0)

        run(body)

    @pytest.mark.parametrize("command", ["", "  ", "echo \0", "#" + "x" * 200_000])
    def test_what_no_shell_takes(self, settings: Settings, command: str) -> None:
        async def body() -> None:
            async with Session(settings(ScriptedModel())) as session:
                with pytest.raises(BadInput):
                    await session.shell(command)

        run(body)
