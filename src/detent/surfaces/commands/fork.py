"""`/fork`: a new session that knows what this one knows, from here or from a step."""

import asyncio

from detent.sdk.forking import Forked, beside, find, into
from detent.sdk.looking import options_around
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.undo import told_left
from detent.surfaces.wording.shown import visible
from detent.types.errors import BadInput


async def run(session: Session, rest: str, hear: Hear) -> str:
    if rest and (not rest.isdecimal() or not int(rest)):
        raise BadInput(f"/fork takes the number of a step; not {rest!r}")
    if not session.path or not session.entries:
        raise BadInput("there is nothing to fork: nothing was said, or the session is not saved")
    forked = await asyncio.to_thread(_forked, options_around(session), session.id, rest)
    return "\n".join(_told(forked))


def _forked(options: Options, session: str, step: str) -> Forked:
    """From here nothing has to be put back, so nothing is copied."""
    wanted = find(options, session, step)
    return into(options, wanted) if step else beside(options, wanted)


def _told(forked: Forked) -> list[str]:
    after = f"after step {forked.step}" if forked.step else "before its first step"
    lines = [f"Session {forked.session}: this one {after}."]
    if not forked.is_in_place:
        lines.append(f"Its files, in a copy: {visible(forked.cwd)}")
    lines += [visible(line) for left in forked.left for line in told_left(left, forked.cwd)]
    folder = "" if forked.is_in_place else f"cd {visible(forked.cwd)} && "
    return [*lines, f"Go on with it: {folder}detent -r {forked.session}"]
