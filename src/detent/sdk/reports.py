"""A report of a fault, written to a file below the program's own folder; nothing is sent."""

import asyncio
from typing import TYPE_CHECKING

from detent.app.reporting import Written, write_report

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Written", "report_fault"]


async def report_fault(session: "Session", text: str = "", *, with_log: bool = False) -> Written:
    """Nothing of what was said is in it, unless with a copy of the log. Raises BadInput."""
    return await asyncio.to_thread(write_report, session._engine, text, with_log=with_log)
