"""`/init`: an AGENTS.md from what the project's files say, written without a model."""

import asyncio

from detent.sdk.initialising import AlreadyThere, Survey, missing, survey, write
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.wording.shown import shown, visible


async def run(session: Session, rest: str, hear: Hear) -> str:
    return await asyncio.to_thread(_written, session.cwd)


def _written(folder: str) -> str:
    found = survey(folder)
    try:
        path = write(found)
    except AlreadyThere as error:
        return _refused(found, visible(str(error)))
    lines = [f"Written: {visible(path)}", "Read it, correct it, and add what no file tells."]
    if any(name.endswith("CLAUDE.md") for name in found.rules):
        lines.append("CLAUDE.md stands before it here: add the line @AGENTS.md to that file.")
    return "\n".join(lines)


def _refused(found: Survey, why: str) -> str:
    lacks = missing(found)
    if not lacks:
        return f"{why}, and says all that /init would."
    return f"{why}. It does not say:\n\n{shown(lacks)}\n\nAdd what is right of it."
