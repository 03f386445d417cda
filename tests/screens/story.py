"""Events as a session in the folder of the bench would send them."""

from __future__ import annotations

from typing import Any

from detent.types.agents import AgentStarted
from detent.types.codec import encode
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Event,
    Prompted,
    Reason,
    Replied,
    TextDelta,
    TurnEnded,
)
from detent.types.files import Change, FileState
from detent.types.outcomes import Done, Outcome, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

from .bench import FOLDER

USAGE = Usage(input=1_200, output=340, cache_read=22_860)
PATCH = [
    {
        "oldStart": 5, "oldLines": 4, "newStart": 5, "newLines": 6,
        "lines": [
            " ",
            " def total(lines, rate):",
            "-    net = sum(line.price for line in lines)",
            "-    return round(net * rate, 2)",
            '+    net = sum((line.price for line in lines), Decimal("0"))',
            "+    return cents(net * rate)",
            "+",
            "+",
            "+def cents(amount):",
            '+    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)',
        ],
    }
]  # fmt: skip
SMALL_PATCH = [
    {
        "oldStart": 6, "oldLines": 3, "newStart": 6, "newLines": 3,
        "lines": [
            " def total(lines, rate):",
            "     net = sum(line.price for line in lines)",
            "-    return round(net * rate, 2)",
            "+    return cents(net * (1 + rate))",
        ],
    }
]  # fmt: skip


def prompt(text: str, *, steered: bool = False) -> Prompted:
    return Prompted(turn=1, content=(Text(text),), steered=steered)


def streamed(text: str) -> list[Event]:
    """In pieces, as they come."""
    return [TextDelta(0, text[at : at + 7]) for at in range(0, len(text), 7)]


def answer(text: str = "", *calls: Call) -> Replied:
    content = ((Text(text),) if text else ()) + calls
    return Replied(turn=1, step=1, model="m", content=content, stop="end_turn", usage=USAGE)


def answered(text: str) -> list[Event]:
    return [*streamed(text), answer(text)]


def begun(number: int, name: str, **arguments: Any) -> CallStarted:
    return CallStarted(
        call_id=f"c{number}", name=name, arguments=encode(arguments).decode(), effects=(),
        verdict=Allow("mode"),
    )  # fmt: skip


def over(number: int, name: str, outcome: Outcome, ms: int = 0, *changed: str) -> CallEnded:
    changes = tuple(
        Change(f"{FOLDER}/{path}", FileState("file", size=1), FileState("file", size=2))
        for path in changed
    )
    return CallEnded(call_id=f"c{number}", name=name, outcome=outcome, ms=ms, changed=changes)


def bash(
    number: int, command: str, output: str, *, code: int = 0, ms: int = 1_400, changed: str = ""
) -> list[Event]:
    from detent.types.outcomes import Failed

    data = {"exitCode": code}
    outcome = done(output, data) if code == 0 else Failed(f"{output}\nExit code {code}", data)
    files = (changed,) if changed else ()
    return [begun(number, "Bash", command=command), over(number, "Bash", outcome, ms, *files)]


def read(number: int, path: str, lines: int) -> list[Event]:
    outcome = done("…", {"file": {"numLines": lines}})
    full = f"{FOLDER}/{path}"
    return [begun(number, "Read", file_path=full), over(number, "Read", outcome)]


def edit(number: int, path: str, patch: list[dict[str, Any]] = PATCH) -> list[Event]:
    full = f"{FOLDER}/{path}"
    outcome = Done((Text("edited"),), {"filePath": full, "structuredPatch": patch})
    start = begun(number, "Edit", file_path=full, old_string="…", new_string="…")
    return [start, over(number, "Edit", outcome, 0, path)]


def made(number: int, path: str, content: str) -> list[Event]:
    full = f"{FOLDER}/{path}"
    data = {"type": "create", "filePath": full, "content": content, "structuredPatch": []}
    start = begun(number, "Write", file_path=full, content=content)
    change = Change(full, FileState(), FileState("file", size=len(content)))
    ended = over(number, "Write", Done((Text("written"),), data))
    return [start, CallEnded(call_id=ended.call_id, name="Write", outcome=ended.outcome,
                             changed=(change,))]  # fmt: skip


def todos(number: int, *items: tuple[str, str]) -> list[Event]:
    listed = [{"content": text, "status": status} for status, text in items]
    return [begun(number, "TodoWrite", todos=listed), over(number, "TodoWrite", done("ok"))]


def agent(number: int, kind: str, about: str, **more: Any) -> AgentStarted:
    return AgentStarted(
        agent=f"a{number}", kind=kind, call_id="c1", description=about, model="m", **more
    )


def end(reason: Reason = "end_turn", *, error: str = "", ms: int = 42_300) -> TurnEnded:
    usage = USAGE + USAGE
    return TurnEnded(turn=1, reason=reason, usage=usage, ms=ms, error=error)
