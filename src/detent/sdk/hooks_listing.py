"""The hooks of a session: which there are, where they stand, and whether they run."""

import asyncio
from typing import TYPE_CHECKING

from detent.app.hook_listing import HookListing, HookSeen, listing

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["HookListing", "HookSeen", "hooks_of"]


async def hooks_of(session: "Session") -> HookListing:
    return await asyncio.to_thread(listing, session._engine.grounds)
