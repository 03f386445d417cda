"""A session in which everything happens that an export must be able to tell."""

from __future__ import annotations

from html.parser import HTMLParser

from msgspec.structs import replace

from detent.session.blobs import digest_of
from detent.types.budget import Budget
from detent.types.content import Call, Document, Image, Opaque, Redacted, Text, Thinking
from detent.types.effects import Runs, Writes
from detent.types.events import (
    Budgeted,
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    StepRecord,
    Switched,
    Trim,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Cut, Done, Failed, Refused
from detent.types.running import Equipped, Named, Unanswered
from detent.types.usage import Usage
from detent.types.verdicts import Allow

SESSION = "0ab32335-4a19-4532-bb92-3b4d2b001333"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
BEFORE, AFTER = b"one\ntwo\n", b"one\nTWO <b>\n"
BLOBS = {digest_of(data): data for data in (BEFORE, AFTER)}

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "h1", "table", "tr", "th", "td", "section",
    "header", "pre", "details", "summary", "code", "b", "p", "ins", "del", "img",
}  # fmt: skip
"""Tags of a page."""


class Read(HTMLParser):
    """A page as a browser would read it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def kept(data: bytes) -> FileState:
    return FileState("file", 0o644, len(data), digest_of(data))


def answer(*content: object, turn: int = 1, step: int = 1, **more: object) -> Replied:
    return Replied(
        turn=turn,
        step=step,
        model="model-1",
        content=content,  # type: ignore[arg-type]
        stop="tool_use",
        usage=Usage(10, 5),
        **more,  # type: ignore[arg-type]
    )


def numbered(*entries: Entry) -> tuple[Entry, ...]:
    return tuple(
        replace(entry, seq=number, at=1_790_000_000.0 + number)
        for number, entry in enumerate(entries, 1)
    )


def everything() -> tuple[Entry, ...]:
    step = StepRecord(1, "model-1", "end_turn", Usage(10, 5))
    change = Change("/work/a.txt", kept(BEFORE), kept(AFTER))
    return numbered(
        Opened(session=SESSION, cwd="/work", version="0.1", format=2),
        Equipped(model="model-1", system=("Be good.", "You are in /work.")),
        Budgeted(budget=Budget(tokens=1000)),
        Reminded(text="Use tabs.", source="memory", path="/work/CLAUDE.md"),
        Reminded(text="Today is Monday.", source="date"),
        Prompted(turn=1, content=(Text("do it"), Image("image/png", PIXEL))),
        answer(
            Thinking("let me see"),
            Redacted("xxxx"),
            Opaque('{"type":"search"}'),
            Text("Editing."),
            Call("c1", "Edit", '{"file_path":"a.txt"}'),
            Call("c2", "Bash", '{"command":"false"}'),
        ),
        CallStarted(
            call_id="c1",
            name="Edit",
            arguments="{}",
            effects=(Writes("/work/a.txt"),),
            verdict=Allow("mode"),
        ),
        CallEnded(
            call_id="c1", name="Edit", outcome=Done((Text("Edited."),)), ms=1500, changed=(change,)
        ),
        CallStarted(
            call_id="c2",
            name="Bash",
            arguments="{}",
            effects=(Runs("false"),),
            verdict=Allow("mode"),
        ),
        CallEnded(call_id="c2", name="Bash", outcome=Failed("exit code 1")),
        answer(Call("c3", "Rm", "not json"), Call("c4", "Slow", "{}"), Call("c5", "Never", "")),
        CallEnded(call_id="c3", name="Rm", outcome=Refused("no", "rule")),
        CallEnded(call_id="c4", name="Slow", outcome=Cut("timed out", "so far")),
        Trimmed(stage="micro", trims=(Trim(9, "shorter"),)),
        Withheld(entries=(6,), reason="too many pictures"),
        Unanswered(model="model-1", kind="overloaded", error="try later"),
        answer(Text("It is done. — ✓")),
        TurnEnded(turn=1, reason="end_turn", steps=(step,), usage=Usage(10, 5)),
        Compacted(summary="They edited a.txt.", keeps_from=20, replaced=4),
        Restored(entries=(15,)),
        Switched(model="model-2", reason="overloaded"),
        Prompted(turn=2, content=(Text("never mind"), Document("application/pdf", "JVBERg=="))),
        answer(Text("A wrong way."), turn=2),
        Rewound(to=22),
        Undone(of=(9,), changes=(Change("/work/a.txt", kept(AFTER), kept(BEFORE)),), left=("/x",)),
        Prompted(turn=2, content=(Text("again"),), steered=True),
        answer(Text("Fine."), turn=2),
        TurnEnded(turn=2, reason="user_cancelled", error="by you"),
        Named(name="the edit"),
    )
