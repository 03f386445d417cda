"""`detent doctor`: what works here, tried out."""

import asyncio
import sys

from detent.sdk.doctor import examine
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import write_for_people
from detent.surfaces.tables.health_table import lines
from detent.surfaces.wishes import options_from
from detent.types.codec import encode
from detent.types.errors import BadInput


def doctor(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent doctor takes no words; not {' '.join(words)!r}")
    health = asyncio.run(examine(options_from(arguments)))
    if arguments.on("--json"):
        print(encode(health).decode())
    else:
        encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
        is_plain = arguments.on("--screen-reader") or not encoding.startswith("utf")
        write_for_people(lines(health, plain=is_plain))
    return 1 if health.problems else 0
