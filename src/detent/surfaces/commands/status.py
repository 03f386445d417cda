"""`/status`: how the session stands, at a glance."""

from collections.abc import Iterator

from detent.sdk.session import Session
from detent.sdk.standing import Standing, standing_of
from detent.surfaces.commands import Hear
from detent.surfaces.commands.amounts import dollars, shown_amount
from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import one_line
from detent.types.budget import WORDS

WIDTH = 10


async def run(session: Session, rest: str, hear: Hear) -> str:
    rows = list(_rows(await standing_of(session), session))
    return "\n".join(f"{name:{WIDTH}}{one_line(text)}" for name, text in rows)


def _rows(now: Standing, session: Session) -> Iterator[tuple[str, str]]:
    yield "Version", f"detent {now.version}"
    yield "Session", f"{now.session} ({now.name})" if now.name else now.session
    yield "Model", f"{now.model}, effort {now.effort}" if now.effort else now.model
    yield "Mode", now.mode
    branch = f", branch {now.branch}" if now.branch else ""
    trust = "" if now.is_trusted else ", not trusted"
    yield "Folder", f"{now.folder}{branch}{trust}"
    files = ", ".join(now.memory)
    yield "Memory", f"{files} ({now.memory_tokens:,} tokens)" if files else "no files"
    yield "Sandbox", now.sandbox
    yield "Budget", _budget(session)
    spent = session.spent
    calls = counted(spent.requests, "model call")
    yield "Cost", f"{dollars(spent)}, {spent.usage.total:,} tokens, {calls}"
    share = now.tokens / now.window if now.window else 0.0
    yield "Context", f"{share:.0%}: {now.tokens:,} of {now.window:,} tokens"
    yield "Log", now.log or "nothing is written yet, or the session is not saved"


def _budget(session: Session) -> str:
    left, limits = session.left(), session.budget.limits()
    parts = [
        f"{shown_amount(left[what])} of {shown_amount(most)} {WORDS[what]} left"
        for what, most in limits.items()
        if what in left
    ]
    return ", ".join(parts) or "no limit"
