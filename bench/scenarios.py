"""What the scripted model says: one list of answers per scenario.

A command prints ``marker-N`` without containing it, so finding it in a request body proves that the
command ran and that its output came back. Commands are plain words: an agent that only runs
commands side by side when it can read them must be able to read these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wire import Block, Call

STEPS = 50
GROWTH_STEPS = 300
DELTAS = 20_000
PARALLEL = 5
FLOOD_BYTES = 200_000_000
DRIBBLE_SECONDS = 3.0
DRIBBLE_PIECES, DRIBBLE_HELD = 12, 10  # fewer held than pieces: call 1 has visibly begun
MARKER = b"marker-"


@dataclass(frozen=True)
class Answer:
    """The last ``held`` events are sent one by one over ``seconds``."""

    blocks: Sequence[Block]
    held: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Tool:
    """What a contestant calls its shell, and arguments it insists on; no name: it has no tools."""

    name: str = "Bash"
    argument: str = "command"
    extra: tuple[tuple[str, str], ...] = ()


def call(tool: Tool, number: int, command: str, pieces: int = 1) -> Call:
    arguments = {tool.argument: command, **dict(tool.extra)}
    return Call(f"toolu_{number:05d}", tool.name, arguments, pieces)


def echo(number: int) -> str:
    return f"printf '%s-%s\\n' marker {number}"


def echo_2k(number: int) -> str:
    return f"printf '%s-%s\\n%0999d\\n%0999d\\n' marker {number} 1 2"


DONE = Answer(["done"])


def startup(tool: Tool) -> list[Answer]:
    return [DONE]


def steps(tool: Tool) -> list[Answer]:
    return [Answer([call(tool, n, echo(n))]) for n in range(STEPS)] + [DONE]


def growth(tool: Tool) -> list[Answer]:
    return [Answer([call(tool, n, echo_2k(n))]) for n in range(GROWTH_STEPS)] + [DONE]


def stream(tool: Tool) -> list[Answer]:
    return [Answer([f"word{n % 10} " for n in range(DELTAS)])]


def parallel(tool: Tool) -> list[Answer]:
    return [Answer([call(tool, n, f"sleep 1 && {echo(n)}") for n in range(PARALLEL)]), DONE]


def early(tool: Tool) -> list[Answer]:
    """Call 0 is complete at once; the arguments of call 1 dribble in.

    A second call and not text, because the chat wire has no other sign that call 0 is complete.
    """
    first = call(tool, 0, f"date +%s.%N > early.txt; {echo(0)}")
    second = call(tool, 1, echo(1), DRIBBLE_PIECES)
    return [Answer([first, second], DRIBBLE_HELD, DRIBBLE_SECONDS), DONE]


def flood(tool: Tool) -> list[Answer]:
    """One line of 200 MB, then the marker."""
    text = f"head -c {FLOOD_BYTES} /dev/zero | tr '\\0' x; echo; {echo(0)}"
    return [Answer([call(tool, 0, text)]), DONE]


SCENARIOS = {
    "startup": startup,
    "steps": steps,
    "growth": growth,
    "stream": stream,
    "parallel": parallel,
    "early": early,
    "flood": flood,
}
# Tool results that the last request must hold.
MARKERS = {"steps": STEPS, "growth": GROWTH_STEPS, "parallel": PARALLEL, "early": 2, "flood": 1}
