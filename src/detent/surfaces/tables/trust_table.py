"""What the files of a folder would do, for somebody who has to decide whether to trust them."""

from collections.abc import Iterator

from detent.sdk.trust import Asking, WouldRun
from detent.surfaces.wording.shown import visible

KINDS = {
    "runs": "runs when an event comes",
    "server": "starts as an MCP server",
    "variable": "sets the variable",
    "allows": "allows without a question",
    "folder": "adds the folder",
    "mode": "chooses the mode",
    "sets": "sets",
}


def lines(found: WouldRun) -> Iterator[str]:
    for file in found.files:
        yield from _file(file)
    if not found.files:
        yield "Its settings ask for nothing that takes trust."
    yield "Language servers may also run code of a folder that is trusted,"
    yield "and its memory files may import others from outside of it."


def _file(file: Asking) -> Iterator[str]:
    yield visible(file.path)
    for wish in file.wishes:
        yield f"  {KINDS[wish.kind]}: {visible(wish.text, indent=4)}"
    if not file.wishes:
        yield "  asks only for what no project can set; it is ignored"
