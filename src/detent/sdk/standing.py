"""How a session stands, at a glance. Asks nobody."""

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from detent.app.standing import branch_of, sandbox_of
from detent.app.standing import reach_of as _reach_of
from detent.types.version import VERSION

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Standing", "branch_of", "reach_of", "standing_of"]


class Standing(Struct, frozen=True):
    version: str
    session: str
    name: str
    model: str
    effort: str
    """Empty: what the provider does by itself."""
    mode: str
    folder: str
    branch: str
    """Empty where there is no repository."""
    is_trusted: bool
    memory: tuple[str, ...]
    """Files that the model reads."""
    memory_tokens: int
    sandbox: str
    tokens: int
    """Of the next request."""
    window: int
    log: str
    """Empty when the session is not saved."""


async def standing_of(session: "Session") -> Standing:
    engine = session._engine
    pieces = [one for one in await session.memory() if one.state in ("loaded", "cut")]
    ledger = await asyncio.to_thread(session.context)
    return Standing(
        version=VERSION,
        session=session.id,
        name=session.name,
        model=session.model,
        effort=session.effort,
        mode=session.mode,
        folder=session.cwd,
        branch=await asyncio.to_thread(branch_of, session.cwd),
        is_trusted=engine.grounds.is_trusted,
        memory=tuple(one.path for one in pieces),
        memory_tokens=sum(one.tokens for one in pieces),
        sandbox=await sandbox_of(engine),
        tokens=ledger.tokens,
        window=ledger.window,
        log=session.path if not engine.journal.is_new else "",
    )


def reach_of(session: "Session") -> str:
    """What a command may touch, in a line."""
    return _reach_of(session._engine)
