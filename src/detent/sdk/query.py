"""The shortest way in: one prompt, one turn."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from detent.app.options import Options
from detent.sdk.session import Prompt, Session
from detent.sdk.summary import TurnSummary
from detent.types.events import Event


async def query(prompt: Prompt, options: Options | None = None) -> AsyncGenerator[Event, None]:
    """`async for event in detent.query("…")`: everything that happens, as it happens."""
    async with Session(_waiting(options)) as session, aclosing(session.send(prompt)) as events:
        async for event in events:
            yield event


async def run(prompt: Prompt, options: Options | None = None) -> TurnSummary:
    """The same, as the summary of the turn."""
    async with Session(_waiting(options)) as session:
        return await session.run_turn(prompt)


def _waiting(options: Options | None) -> Options:
    """The session ends with its turn, and whoever works in the background with it."""
    return replace(options or Options(), waits_for_agents=True)
