"""`/mcp`: the MCP servers that files here name. None of them is started."""

from detent.sdk.not_read import mcp_servers
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line

NOT_YET = "MCP is not part of this version: no server is started, and none of its tools is offered."


async def run(session: Session, rest: str, hear: Hear) -> str:
    servers, faults = await mcp_servers(session)
    lines = [NOT_YET, "Servers that files here name:" if servers else "No file here names one."]
    for server in servers:
        lines.append(one_line(f"  {server.name}  {server.what}"))
        lines.append(one_line(f"      {server.path}"))
    return "\n".join([*lines, *(one_line(f"Note: {fault}") for fault in faults)])
