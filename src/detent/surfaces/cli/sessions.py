"""`detent sessions`: what can be resumed."""

import time

from detent.sdk.sessions import sessions_of
from detent.surfaces.arguments import Arguments
from detent.types.codec import encode
from detent.types.errors import BadInput


def sessions(words: tuple[str, ...], arguments: Arguments) -> int:
    unknown = set(words) - {"list", "all", "json"}
    if unknown:
        raise BadInput(f"detent sessions takes: list, all, json; not {', '.join(sorted(unknown))}")
    cards = sessions_of(arguments.value("--cwd"), everywhere="all" in words)
    if "json" in words:
        print(encode(cards).decode())
        return 0
    if not cards:
        print("No sessions here yet.")
    for card in cards:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(card.active))
        turns = "1 turn" if card.turns == 1 else f"{card.turns} turns"
        where = f"  {card.cwd}" if "all" in words else ""
        print(f"{card.id}  {when}  {turns:>8}  {card.title}{where}")
    return 0
