"""However a reader leaves or interrupts, the turn ends and leaves a trace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from detent.sdk.channel import AHEAD, Channel
from detent.sdk.hooks import HookAnswer, Hooks
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.testing.script import reply, say
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import Event, Opened, Prompted, TextDelta, TurnEnded


def session(tmp_path: Path, *replies: Any, **options: Any) -> Session:
    return Session(
        Options(
            model=ScriptedModel(*replies),
            cwd=str(tmp_path),
            environ={"HOME": str(tmp_path)},
            persist=False,
            **options,
        )
    )


def test_closing_the_session_while_the_iterator_is_still_held(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with session(tmp_path, reply(say(*["x"] * 500))) as one:
            events = one.send("hi")
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        return [type(entry) for entry in one.entries]

    kinds = asyncio.run(asyncio.wait_for(main(), 20))
    assert kinds[-1] is TurnEnded


def interrupted_at(tmp_path: Path, kind: type | None, **options: Any) -> list[Event]:
    async def main() -> list[Event]:
        async with session(tmp_path, "answer", **options) as one:
            seen: list[Event] = []
            events = one.send("hi")
            if kind is None:
                first = asyncio.ensure_future(anext(events))
                await asyncio.sleep(0)
                one.interrupt()
                seen.append(await first)
            async for event in events:
                seen.append(event)
                if kind is not None and isinstance(event, kind):
                    one.interrupt()
            return seen

    return asyncio.run(asyncio.wait_for(main(), 20))


def test_an_interrupt_before_the_turn_has_begun(tmp_path: Path) -> None:
    seen = interrupted_at(tmp_path, None)
    assert isinstance(seen[-1], TurnEnded)
    assert seen[-1].reason == "user_cancelled"
    assert any(isinstance(event, Prompted) for event in seen), "what was typed is kept"


def test_an_interrupt_while_the_session_opens(tmp_path: Path) -> None:
    seen = interrupted_at(tmp_path, Opened)
    assert isinstance(seen[-1], TurnEnded)
    assert any(isinstance(event, Prompted) for event in seen)


def test_an_interrupt_while_a_blocked_prompt_is_taken_back(tmp_path: Path) -> None:
    from detent.types.events import Rewound

    deny = Hooks(submitted=(lambda event: HookAnswer("deny", "no"),))
    seen = interrupted_at(tmp_path, Rewound, hooks=deny)
    assert isinstance(seen[-1], TurnEnded)


def test_an_entry_waits_for_its_own_turn_only() -> None:
    """Signals put behind an entry must not keep its writer waiting."""

    async def main() -> bool:
        channel = Channel()
        entry = asyncio.create_task(channel.put(Prompted(turn=1, content=())))
        await asyncio.sleep(0)
        for number in range(AHEAD - 1):
            await channel.put(TextDelta(0, str(number)))
        await channel.get()
        assert not entry.done(), "the reader has it but has not come back"
        await channel.get()
        await asyncio.sleep(0)
        return entry.done()

    assert asyncio.run(main())
