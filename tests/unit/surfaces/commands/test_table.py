"""The table of commands: all there, all loadable, and open to those of a surface."""

from __future__ import annotations

import asyncio
import inspect
from importlib import import_module
from typing import Any

import pytest
from commandbench import Bench, calls, nobody, say

from detent.sdk.session import Session
from detent.surfaces.commands import COMMANDS, GROUPS, NAMES, Command, help_text, run, said
from detent.surfaces.commands.help import MORE
from detent.types.content import Text
from detent.types.errors import BadInput

THEME = Command("theme", "How it looks", "[NAME]", group="terminal", more="Try /theme dark.")
WITHOUT_WORDS = [one.name for one in COMMANDS if not one.takes]
NOT_SILENTLY = ("rename", "search")
"""They need words."""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_each_is_where_the_table_says(command: Command) -> None:
    if command.name == "help":  # it has to know what a surface adds
        return
    module, function = command.place
    found = getattr(import_module(module), function)
    assert inspect.iscoroutinefunction(found)
    assert len(inspect.signature(found).parameters) == 3


def test_names_are_in_order_and_each_has_a_group_and_a_word_of_help() -> None:
    assert list(NAMES) == sorted(set(NAMES))
    assert {one.group for one in COMMANDS} == set(GROUPS)
    assert set(MORE) == set(NAMES)


def test_nothing_is_loaded_before_it_is_wanted() -> None:
    import subprocess
    import sys

    code = """if True:
        import sys
        import detent.surfaces.commands
        print(*sorted(n for n in sys.modules if n.startswith("detent.surfaces.commands.")))
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["detent.surfaces.commands.table"]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*NOT_SILENTLY, "compact")])
def test_without_a_key_and_without_a_session_each_says_something(bench: Bench, name: str) -> None:
    """F024"""
    try:
        said = bench.answers(name)
    except BadInput as error:
        said = str(error)
        assert name in ("export", "fork", "replay") and said.startswith("there is nothing to")
    assert said.strip()
    if name != "bug":
        assert not list(bench.home.rglob("*")), "nothing was said, so nothing is kept"


@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_words_that_it_does_not_take(bench: Bench, name: str) -> None:
    with pytest.raises(BadInput, match=rf"^/{name} takes no words; not 'please'$"):
        bench.answers(f"{name} please")


@pytest.mark.parametrize(
    "text",
    [
        "agents end x", "budget usd", "bug --with-logs", "diff last", "diff turn x", "diff 0",
        "effort huge", "export notes.pdf", "fork x", "fork 0", "help nothing", "mode wild",
        "model a b", "permissions explain", "permissions allow Bash", "rename", "resume here",
        "rewind x", "search", "tasks end x", "tasks stop", "undo x",
    ],
)  # fmt: skip
def test_words_that_make_no_sense(bench: Bench, text: str) -> None:
    with pytest.raises(BadInput):
        bench.answers(text)
    assert not list(bench.work.iterdir()) and not list(bench.home.rglob("*.jsonl"))


def test_while_a_turn_runs_some_have_to_wait(bench: Bench) -> None:
    async def body(session: Session) -> None:
        events = session.send("go")
        await anext(events)
        for command in COMMANDS:
            if command.while_running:
                continue
            with pytest.raises(BadInput, match=f"/{command.name} has to wait"):
                await say(session, command.name + (" x" if command.takes else ""))
        for name in ("context", "cost", "status", "todos", "tasks", "diff", "budget", "mode plan"):
            assert await say(session, name)
        assert session.is_running and session.mode == "plan"
        async for _ in events:
            pass

    bench.run(body, calls("TodoWrite", todos=[]), "done")


# Those of a surface


def test_a_surface_adds_its_own() -> None:
    one = said((Text("/theme dark"),), (THEME,))
    assert one is not None and (one.command, one.rest) == (THEME, "dark")
    assert said((Text("/theme dark"),)) is None, "elsewhere it is a prompt"
    slip = said((Text("/thme"),), (THEME,))
    assert slip is not None and slip.command.name == "thme"
    assert "Terminal:\n  /theme [NAME]" in help_text((THEME,))
    assert "Try /theme dark." in help_text((THEME,), "/theme")
    assert "theme" not in help_text()


def test_it_may_do_one_of_ours_in_its_own_way(bench: Bench) -> None:
    own = Command("clear", "Begin another session", module=f"{__name__}:elsewhere")
    one = said((Text("/clear"),), (own,))
    assert one is not None and one.command is own
    assert help_text((own,)).count("/clear") == 1 and "Begin another session" in help_text((own,))


def test_a_module_of_a_surface_is_loaded_by_its_name(bench: Bench) -> None:
    own = Command("hum", "Hums", "[TUNE]", module="commandbench:hum")

    async def body(session: Session) -> Any:
        one = said((Text("/hum low"),), (own,))
        assert one is not None
        return await run(one, session, nobody, (own,))

    assert bench.keyless(body) == "hmm: low"


def test_help_tells_more_about_one() -> None:
    text = help_text(about="diff")
    assert text.startswith("/diff [turn [N]|session|STEP]\n") and "/diff 7" in text
    assert help_text(about="/compact").endswith(
        "It needs a model and waits until a turn has ended."
    )
    with pytest.raises(BadInput, match=r"no command /dif; did you mean /diff\?"):
        help_text(about="dif")
    assert max(map(len, help_text().splitlines())) <= 100
    assert all(len(line) <= 100 for name in NAMES for line in help_text(about=name).splitlines())


def test_a_cancelled_command_is_cancelled(bench: Bench) -> None:
    async def body(session: Session) -> None:
        task = asyncio.create_task(say(session, "status"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    bench.keyless(body)
