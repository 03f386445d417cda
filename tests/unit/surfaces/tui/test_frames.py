"""The stage: how often it is painted, and what stands there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Output, Told
from detent.surfaces.tui.dialogs.dialog import Row
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.stage import FRAME, TICK, Below
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Progress,
    Prompted,
    Replied,
    TextDelta,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from terminalbench import Box, Written, run_in_made_up_time, settle, staged

PROMPT = Prompted(turn=1, content=(Text("go"),))


def play(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(body())  # type: ignore[arg-type]


def press(box: Box, key: str) -> None:
    assert box.taker is not None, "the keys are the text box's"
    box.taker.press(key)


# --- frames


def count_frames(terminal: Written) -> int:
    return len(terminal.writes)


def test_events_make_at_most_thirty_frames_in_a_second() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.paint()
        before, begun = count_frames(terminal), asyncio.get_running_loop().time()
        for number in range(3_000):
            stage.hear(TextDelta(0, f"word{number} "))
            await asyncio.sleep(0.001)
        took = asyncio.get_running_loop().time() - begun
        frames = count_frames(terminal) - before
        assert frames <= took / FRAME + 1
        assert frames >= took / FRAME / 3, "and it does not stand still"
        assert "word2999" in terminal.screen or "word2990" in terminal.screen
        stage.leave()

    run_in_made_up_time(body())


def test_a_burst_is_one_frame() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.paint()
        before = count_frames(terminal)
        for number in range(500):
            stage.show(Told(f"line {number}"))
        await asyncio.sleep(2 * FRAME)
        assert count_frames(terminal) == before + 1
        assert "line 0\n" in terminal.screen and "line 499" in terminal.screen
        stage.leave()

    run_in_made_up_time(body())


def test_a_key_is_painted_at_once() -> None:
    async def body() -> None:
        stage, terminal, box = staged()
        stage.paint()
        for char in "abc":
            box.text += char
            stage.paint()
            assert box.text in terminal.screen

    run_in_made_up_time(body())


def test_who_does_nothing_writes_nothing() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.paint()
        before = count_frames(terminal)
        await asyncio.sleep(3_600)
        assert count_frames(terminal) == before and stage._ticker is None
        stage.leave()

    run_in_made_up_time(body())


def test_the_spinner_turns_while_it_works_and_rests_after() -> None:
    async def body() -> None:
        loop = asyncio.get_running_loop()
        for more, most, least in (({}, 1 / TICK, 6), ({"is_still": True}, 1.0, 0.9)):
            stage, terminal, _ = staged(now=loop.time, **more)
            stage.hear(PROMPT)
            await asyncio.sleep(0.1)
            before = count_frames(terminal)
            await asyncio.sleep(10)
            assert least * 10 <= count_frames(terminal) - before <= most * 10 + 1
            stage.hear_end(TurnEnded(turn=1, reason="end_turn"), 0.0)
            await asyncio.sleep(2)
            before = count_frames(terminal)
            await asyncio.sleep(60)
            assert count_frames(terminal) == before
            stage.leave()

    run_in_made_up_time(body())


def test_who_listens_to_the_screen_hears_no_spinner() -> None:
    async def body() -> None:
        stage, terminal, _ = staged(now=asyncio.get_running_loop().time, is_linear=True)
        stage.hear(PROMPT)
        stage.hear(TextDelta(0, "Some words"))
        await asyncio.sleep(30)
        assert "esc to interrupt" not in terminal.screen and "Some words" not in terminal.screen
        assert count_frames(terminal) <= 2
        stage.hear(TextDelta(0, ".\n\n"))
        await asyncio.sleep(1)
        assert "Some words." in terminal.screen, "once it is finished"
        stage.leave()

    run_in_made_up_time(body())


def test_nothing_is_painted_while_the_terminal_is_somebody_elses() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.paint()
        before = count_frames(terminal)
        stage.is_away = True
        stage.show(Told("meanwhile"))
        await asyncio.sleep(1)
        assert count_frames(terminal) == before
        stage.is_away = False
        stage.paint()
        assert "meanwhile" in terminal.screen, "and nothing was lost"
        stage.leave()

    run_in_made_up_time(body())


def test_nobody_writes_to_a_terminal_that_is_gone() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        terminal.is_gone = True
        stage.show(Told("too late"))
        await asyncio.sleep(1)
        assert terminal.writes == []
        stage.leave()

    run_in_made_up_time(body())


# --- what stands there


def started(id: str, name: str = "Bash", arguments: str = '{"command":"make"}') -> CallStarted:
    return CallStarted(
        call_id=id, name=name, arguments=arguments, effects=(), verdict=Allow("test")
    )


def test_a_turn_on_the_screen() -> None:
    async def body() -> None:
        stage, terminal, _ = staged(Written(60, 30))
        stage.hear(PROMPT)
        stage.hear(TextDelta(0, "First **bold**.\n\nSecond"))
        stage.paint()
        assert "First bold." in terminal.screen and "Second" in terminal.screen
        assert "Writing…" in terminal.screen and "esc to interrupt" in terminal.screen
        stage.hear(
            Replied(
                turn=1, step=1, model="m", content=(Text("…"), Call("c", "Bash", "{}")), stop="",
                usage=Usage(10, 2),
            )
        )  # fmt: skip
        stage.hear(started("c"))
        stage.hear(Progress("c", "Bash", "compiling\n3 of 12 files\n"))
        stage.paint()
        assert "▸ Bash make" in terminal.screen
        assert "█████░░░░░░░░░░░░░░░ 3 of 12 files" in terminal.screen
        stage.hear(CallEnded(call_id="c", name="Bash", outcome=done("all good"), ms=1500))
        stage.hear_end(TurnEnded(turn=1, reason="end_turn", usage=Usage(10, 2)), 0.5)
        stage.paint()
        assert "✓ Bash make · all good · 1.5s" in terminal.screen
        assert "▸" not in terminal.screen and "esc to interrupt" not in terminal.screen
        assert "12 tokens · $0.5000" in terminal.screen
        stage.leave()
        assert "Describe a task" not in terminal.screen, "nothing live is left behind"
        assert terminal.screen.count("Second") == 1

    play(body)


def test_the_list_of_things_to_do_stands_while_it_works() -> None:
    todos = (
        '{"todos":[{"content":"one","status":"completed"},'
        '{"content":"two","status":"in_progress"},{"content":"three","status":"pending"}]}'
    )

    async def body() -> None:
        stage, terminal, _ = staged(Written(60, 30))
        stage.hear(PROMPT)
        stage.hear(started("t", "TodoWrite", todos))
        stage.hear(CallEnded(call_id="t", name="TodoWrite", outcome=done("ok")))
        stage.paint()
        for line in ("[x] one", "[>] two", "[ ] three"):
            assert line in terminal.screen
        stage.toggle_todos()
        stage.paint()
        assert "[ ] three" not in terminal.screen
        stage.hear_end(TurnEnded(turn=1, reason="end_turn"), None)
        stage.toggle_todos()
        stage.paint()
        assert "[ ] three" in terminal.screen, "who wants to see it sees it"
        stage.leave()

    play(body)


def test_what_waits_and_what_runs_beside_is_told() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.below = lambda: Below(
            queued=("↳ after this turn: then\nthat",), jobs=("⚙ b1 sleep 9\nls · 3s",),
            footer=("default: asks before it acts",), busy="/compact",
        )  # fmt: skip
        stage.paint()
        for text in ("then that", "⚙ b1 sleep 9 ls · 3s", "asks before it acts", "/compact"):
            assert text in terminal.screen, text
        stage.leave()

    play(body)


def test_another_size_is_noticed_before_the_signal_comes() -> None:
    async def body() -> None:
        stage, terminal, box = staged(Written(60, 20))
        stage.show(Told("above"))
        box.text = "typed"
        stage.paint()
        terminal.columns, terminal.lines = 40, 15
        terminal.glass.resize(15, 40)
        stage.paint()
        assert stage.look.width == 40 and stage.painter.height == 15
        stage.show(Output("", "below " * 3))
        stage.paint()
        assert terminal.screen.count("typed") == 1
        stage.leave()

    play(body)


def test_a_redrawn_screen_is_clean() -> None:
    async def body() -> None:
        stage, terminal, box = staged()
        box.text = "typed"
        stage.paint()
        terminal.glass.feed("\x1b[5;5Hsomebody else")
        stage.redraw()
        assert terminal.glass.past[-terminal.lines :][0].endswith("typed")
        assert "somebody else" not in "\n".join(terminal.glass.display)
        stage.leave()

    play(body)


def test_a_list_on_the_stage_hides_the_text_box() -> None:
    async def body() -> None:
        stage, terminal, box = staged()
        stage.look = replace(stage.look, width=60)
        asked: asyncio.Task[Any] = asyncio.create_task(
            stage.ask(Listing("Which model?", (Row("one", value=1), Row("two", value=2))))
        )
        await settle()
        stage.paint()
        assert "Which model?" in terminal.screen and "Describe a task" not in terminal.screen
        assert terminal.glass.cursor.hidden
        press(box, "2")
        assert (await asked).value == 2
        await settle()
        stage.paint()
        assert "Which model?" not in terminal.screen and "Describe a task" in terminal.screen
        assert not terminal.glass.cursor.hidden
        stage.leave()

    play(body)


def test_a_call_of_a_turn_that_has_broken_off_is_not_at_work_any_more() -> None:
    async def body() -> None:
        stage, terminal, _ = staged()
        stage.hear(PROMPT)
        stage.hear(TextDelta(0, "half a sen"))
        stage.hear(started("c"))
        stage.rest()
        stage.paint()
        assert "▸" not in terminal.screen and "esc to interrupt" not in terminal.screen
        assert "half a sen" in terminal.screen, "what was written so far is kept"
        stage.leave()
        assert "half a sen" in terminal.screen

    play(body)
