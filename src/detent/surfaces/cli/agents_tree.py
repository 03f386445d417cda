"""`detent agents tree`: who worked for whom in a session."""

import sys

from detent.sdk.agents_tree import agents_tree
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import terminal_width, write, write_for_people
from detent.surfaces.tables.agent_tree import brush_for, tree_lines
from detent.types.codec import encode
from detent.types.errors import BadInput


def tree(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput("detent agents tree takes one SESSION: an id, a name, or words of it")
    found = agents_tree("".join(words), cwd=arguments.value("--cwd"))
    if arguments.on("--json"):
        return write([encode(found).decode()])
    brush = brush_for(sys.stdout.encoding or "ascii")
    return write_for_people(tree_lines(found, terminal_width(), brush))
