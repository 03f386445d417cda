"""`/mode`: the permission modes; `/mode MODE` goes on in another one."""

from collections.abc import Iterator

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session, parse_mode
from detent.sdk.switching import switch_mode
from detent.surfaces.commands import Hear

MODES = {
    "default": "asks before anything that no rule allows and that is not harmless",
    "acceptEdits": "edits files of the workspace unasked; asks about the rest",
    "plan": "only looks and plans; nothing is changed until you agree to the plan",
    "auto": "a model decides about what no rule decides, where the settings name one",
    "dontAsk": "never asks: what no rule allows is refused",
    "bypassPermissions": "runs everything that no rule forbids, unasked",
}
"""What each means, in a line."""
KEPT = ("plan", "dontAsk")
"""Those that a session takes along when it goes on: they hold back, and widen nothing."""


async def run(session: Session, rest: str, hear: Hear) -> str:
    if not rest:
        return "\n".join(listed(session.mode))
    before, mode = session.mode, parse_mode(rest)
    if mode == before:
        return f"The mode is {mode} already."
    now = await switch_mode(session, mode)
    text = f"The mode is {now} now (before: {before}): {MODES[now]}."
    if is_keyless(session.options) and now not in KEPT:
        text += f" It ends with this run: a session that goes on keeps only {' and '.join(KEPT)}."
    return text


def listed(current: str) -> Iterator[str]:
    width = max(map(len, MODES))
    for mode, about in MODES.items():
        yield f"{'>' if mode == current else ' '} {mode:{width}}  {about}"
