"""`/bug`: what is needed to look into a fault, written to a file; nothing is sent."""

from detent.sdk.reports import report_fault
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line
from detent.types.errors import BadInput

WITH_LOG = "--with-log"


async def run(session: Session, rest: str, hear: Hear) -> str:
    first, _, behind = rest.partition(" ")
    with_log = first == WITH_LOG
    if first.startswith("--") and not with_log:
        raise BadInput(f"/bug takes {WITH_LOG} and what went wrong; not {first}")
    text = behind.strip() if with_log else rest
    done = await report_fault(session, text, with_log=with_log)
    lines = [one_line(f"Written: {done.path}")]
    if done.log:
        lines.append(one_line(f"The log: {done.log} (everything that was said and read is in it)"))
    else:
        lines.append(f"Nothing that was said is in it; /bug {WITH_LOG} adds the log.")
    return "\n".join([*lines, "Nothing was sent anywhere: look at it, then hand it on."])
