"""What other programs would take up in a folder and this version does not, for telling people."""

import asyncio
from typing import TYPE_CHECKING

from detent.app.not_read import Server, Skill, servers, skills

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Server", "Skill", "mcp_servers", "skills_of"]


async def mcp_servers(session: "Session") -> tuple[list[Server], list[str]]:
    """MCP servers that files name, and files that cannot be read."""
    return await asyncio.to_thread(servers, session._engine.grounds)


async def skills_of(session: "Session") -> list[Skill]:
    return await asyncio.to_thread(skills, session._engine.grounds)
