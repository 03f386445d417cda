"""`/cost`: what the session has spent, by what it was for."""

from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.amounts import aligned, dollars, estimated, unpriced
from detent.types.budget import Spent


async def run(session: Session, rest: str, hear: Hear) -> str:
    by = session.spending()
    if not by:
        return "Nothing is spent."
    total = sum(by.values(), Spent())
    rows = [("", "model calls", "tokens", "dollars")]
    rows += [_row(name, spent) for name, spent in {**by, "in all": total}.items()]
    lines = aligned(rows)
    if total.estimated:
        lines.append(estimated(total))
    if total.unpriced:
        lines.append(unpriced(total))
    return "\n".join([*lines, f"At the prices of {session.prices_date}."])


def _row(name: str, spent: Spent) -> tuple[str, str, str, str]:
    return name, f"{spent.requests:,}", f"{spent.usage.total:,}", dollars(spent)
