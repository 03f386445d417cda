"""`detent memory`: which memory files count here, why, and what they cost."""

import asyncio

from detent.sdk.memory import memory_of
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands.memory_table import listed
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.errors import BadInput


def memory(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent memory takes no words; not {' '.join(words)!r}")
    found = asyncio.run(memory_of(options_from(arguments)))
    if arguments.on("--json"):
        print(encode(found).decode())
    else:
        for line in listed(found):
            print(visible(line))
    return 0
