"""`/permissions`: the rules that count and where they stand; `/permissions explain TOOL(INPUT)`
tells what would be decided, and why."""

import asyncio
from collections.abc import Iterator

from detent.sdk.rules_in_force import explain_in, notes_on_rules, rules_in_force
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.mode import MODES
from detent.surfaces.tables.explanation import explained, place_of
from detent.surfaces.wording.shown import visible
from detent.types.errors import BadInput

USAGE = "/permissions takes nothing, or `explain TOOL(INPUT)`, as explain Bash(git push)"


async def run(session: Session, rest: str, hear: Hear) -> str:
    word, _, call = rest.partition(" ")
    if not rest:
        lines = list(_rules(session))
    elif word == "explain" and call.strip():
        found = await asyncio.to_thread(explain_in, session, call.strip())
        lines = list(explained(found))
    else:
        raise BadInput(f"{USAGE}; not {rest!r}")
    return "\n".join(visible(line, indent=6) for line in lines)


def _rules(session: Session) -> Iterator[str]:
    yield f"Mode {session.mode}: {MODES[session.mode]}. /mode lists them all."
    rules = rules_in_force(session)
    if not rules:
        yield "There are no rules."
    for rule in rules:
        yield f"  {rule.list:<5}  {place_of(rule)}"
    yield from (f"Note: {text}" for text in notes_on_rules(session))
