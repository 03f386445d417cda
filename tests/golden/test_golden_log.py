"""A log of either format, as it was first written, stays readable for good.

The files beside this one are never written anew. Entries that came later, and a later format, get
files of their own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args
from zlib import crc32

import msgspec

from detent.context.conversation import Conversation
from detent.context.project import project
from detent.session.blobs import Blobs
from detent.session.log import frame
from detent.session.reading import read_log
from detent.types.agents import AgentEnded, AgentStarted, ChildChanged, GroupEnded, TaskChanged
from detent.types.codec import encode
from detent.types.content import Call, Image, Redacted, Result, Text, Thinking
from detent.types.effects import Effect
from detent.types.events import (
    Budgeted,
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Entry,
    Estimated,
    HooksRan,
    Learned,
    Lost,
    Opened,
    Prompted,
    Replied,
    Restored,
    Switched,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.files import Undone
from detent.types.messages import Assistant, User
from detent.types.outcomes import Outcome
from detent.types.running import Equipped, Named, Unanswered
from kitbench import check_valid

HERE = Path(__file__).parent
LOG, MESSAGES = HERE / "log-v1.jsonl", HERE / "log-v1.messages.json"
LATER = HERE / "log-v1-withheld.jsonl"
"""With `Withheld`, documents, and the value a turn may end with."""
JUDGED = HERE / "log-v1-classified.jsonl"
"""With `Classified`, what it has cost, and a command outside the sandbox."""
SHAPED = HERE / "log-v1-shaped.jsonl"
"""With budgets, memory, trims, a compaction with all its fields, and what undoes both."""


SECOND = HERE / "log-v2.jsonl"
"""Of format 2: every entry with all its fields, and blobs beside it."""
BLOBS = Blobs(str(HERE))
DELEGATED = {AgentStarted, AgentEnded, GroupEnded, ChildChanged, TaskChanged}
AGENTS = HERE / "log-v2-agents.jsonl"
"""With subagents: these entries, and `lineage`, came after that file."""
ONCE = HERE / "log-v2-once.jsonl"
"""With a model for one turn."""
NEWER = {"lineage", "once"}
"""Fields of its entries that came after it."""


def first_version(entry: Entry) -> bytes:
    """As format 1 wrote it: what an entry is in bytes has not changed."""
    body = encode(entry)
    return b'{"crc":"%08x",%b\n' % (crc32(body), body[1:])


class Golden(msgspec.Struct):
    user: list[User]
    assistant: list[Assistant]


def test_every_entry_is_read() -> None:
    reading = read_log(str(LOG))
    assert (reading.damaged, reading.torn) == (0, False)
    assert len(reading.entries) == len(LOG.read_bytes().splitlines())
    assert {type(entry) for entry in reading.entries} == set(get_args(Entry)) - {
        Budgeted,
        Classified,
        Equipped,
        Estimated,
        HooksRan,
        Learned,
        Lost,
        Named,
        Restored,
        Trimmed,
        Unanswered,
        Undone,
        Withheld,
        *DELEGATED,
    }
    opened = reading.entries[0]
    assert isinstance(opened, Opened)
    assert opened.format == 1


def test_it_holds_one_of_everything() -> None:
    entries = read_log(str(LOG)).entries
    outcomes = {type(e.outcome) for e in entries if isinstance(e, CallEnded)}
    assert outcomes == set(get_args(Outcome))
    effects = {type(x) for e in entries if isinstance(e, CallStarted) for x in e.effects}
    assert effects == set(get_args(Effect))
    said = {type(b) for e in entries if isinstance(e, Replied) for b in e.content}
    assert {Text, Thinking, Redacted} < said
    given = {type(b) for e in entries if isinstance(e, Prompted) for b in e.content}
    assert given == {Text, Image}


def test_we_would_still_write_the_same_bytes() -> None:
    entries = read_log(str(LOG)).entries
    assert b"".join(map(first_version, entries)) == LOG.read_bytes()


def test_what_came_later_is_read_and_written_the_same() -> None:
    reading = read_log(str(LATER))
    assert (reading.damaged, reading.torn) == (0, False)
    assert Withheld in {type(entry) for entry in reading.entries}
    assert b"".join(map(first_version, reading.entries)) == LATER.read_bytes()
    *_, ended = reading.entries
    assert isinstance(ended, TurnEnded) and ended.output == {"shows": "nothing"}


def test_a_log_of_mode_auto_is_read_and_written_the_same() -> None:
    reading = read_log(str(JUDGED))
    assert (reading.damaged, reading.torn) == (0, False)
    assert b"".join(map(first_version, reading.entries)) == JUDGED.read_bytes()
    said = [entry for entry in reading.entries if isinstance(entry, Classified)]
    assert [each.decision for each in said] == ["allow", "deny"]
    *_, ended = reading.entries
    assert isinstance(ended, TurnEnded) and ended.lost["k"].input == 600
    assert "publishes" not in repr(project(reading.entries[:7])), (
        "what it says is not for the model"
    )


def test_a_log_that_was_shaped_is_read_and_written_the_same() -> None:
    reading = read_log(str(SHAPED))
    assert (reading.damaged, reading.torn) == (0, False)
    assert b"".join(map(first_version, reading.entries)) == SHAPED.read_bytes()
    later = {Budgeted, Estimated, HooksRan, Learned, Lost, Restored, Trimmed}
    assert later < {type(entry) for entry in reading.entries}


def test_what_was_shortened_reads_so_until_it_is_restored() -> None:
    entries = read_log(str(SHAPED)).entries
    memory, asked = Text('<memory file="/p/CLAUDE.md">Tabs.</memory>'), entries[2]
    assert isinstance(asked, Prompted)
    looks = Call("c1", "Read", '{"file_path":"a.py"}')
    trimmed = project(entries[:10])
    assert trimmed[0] == User((memory, *asked.content)), "it leads"
    assert trimmed[1] == Assistant((Text("I look."), looks), "m")
    assert trimmed[2] == User((Result("c1", (Text("a … text"),)),))
    compacted = project(entries[:18])
    assert compacted[0] == User((Text("A summary."), *asked.content)), "the request stays"
    assert len(compacted) == 4
    restored = project(entries)
    assert restored[0] == User((memory, *asked.content))
    assert restored[1] == Assistant((Text("First I look."), looks), "m")
    assert restored[2] == User((Result("c1", (Text("a very long text"),)),))
    for messages in (trimmed, compacted, restored):
        check_valid(messages)
    assert Conversation(entries).messages() == restored


def test_withheld_pictures_stay_notes() -> None:
    entries = read_log(str(LATER)).entries
    messages = project(entries)
    check_valid(messages)
    assert Conversation(entries).messages() == messages
    assert messages[0] == User(
        (
            Text("What do these show?"),
            Text("[An image was left out: Could not process image]"),
            Text("[The document paper.pdf was left out: Could not process image]"),
        )
    )
    shown = Result("toolu_1", (Image("image/png", "aGVsbG8="),))
    assert messages[2] == User((shown,)), "only what was named is withheld"


def test_it_projects_to_the_same_messages() -> None:
    entries = read_log(str(LOG)).entries
    messages = project(entries)
    check_valid(messages)
    assert Conversation(entries).messages() == messages
    golden = msgspec.json.decode(MESSAGES.read_bytes(), type=Golden)
    assert messages[0::2] == golden.user
    assert messages[1::2] == golden.assistant


def test_what_was_compacted_or_taken_back_is_not_sent() -> None:
    entries = read_log(str(LOG)).entries
    sent = repr(project(entries))
    for gone in ("What is in this picture?", "a blocked prompt"):
        assert gone in repr(entries)
        assert gone not in sent


def test_the_second_version_is_read_and_written_the_same(tmp_path: Path) -> None:
    reading = read_log(str(SECOND), BLOBS)
    assert (reading.damaged, reading.torn, reading.strange) == (0, False, "")
    assert {type(entry) for entry in reading.entries} == set(get_args(Entry)) - DELEGATED
    assert b"".join(frame(e, Blobs(str(tmp_path))) for e in reading.entries) == SECOND.read_bytes()
    check_valid(project(reading.entries))


def test_every_field_of_an_entry_is_in_it() -> None:
    written = fields_in(SECOND)
    for kind in set(get_args(Entry)) - DELEGATED:
        fields = set(kind.__struct_fields__) - NEWER
        assert fields <= written[kind.__name__.lower()], kind


def fields_in(log: Path) -> dict[str, set[str]]:
    written: dict[str, set[str]] = {}
    for line in log.read_bytes().splitlines():
        record = msgspec.json.decode(line)
        assert record["v"] == 2
        written.setdefault(record["type"], set()).update(record)
    return written


def test_entries_of_subagents_are_read_and_written_the_same(tmp_path: Path) -> None:
    reading = read_log(str(AGENTS))
    assert (reading.damaged, reading.torn, reading.strange) == (0, False, "")
    assert b"".join(frame(e, Blobs(str(tmp_path))) for e in reading.entries) == AGENTS.read_bytes()
    written = fields_in(AGENTS)
    for kind in DELEGATED:
        assert set(kind.__struct_fields__) <= written[kind.__name__.lower()], kind
    opened = reading.entries[0]
    assert isinstance(opened, Opened) and opened.lineage is not None
    assert all(getattr(opened.lineage, name) for name in opened.lineage.__struct_fields__)
    check_valid(project(reading.entries))


def test_a_model_for_one_turn_is_read_and_written_the_same(tmp_path: Path) -> None:
    reading = read_log(str(ONCE))
    assert (reading.damaged, reading.torn, reading.strange) == (0, False, "")
    assert b"".join(frame(e, Blobs(str(tmp_path))) for e in reading.entries) == ONCE.read_bytes()
    switched = [entry for entry in reading.entries if isinstance(entry, Switched)]
    assert [(entry.model, entry.once) for entry in switched] == [("n", True), ("m", True)]


def test_its_long_texts_lie_in_blobs() -> None:
    found = {type(entry): entry for entry in reversed(read_log(str(SECOND), BLOBS).entries)}
    prompted, compacted = found[Prompted], found[Compacted]
    assert isinstance(prompted, Prompted) and isinstance(compacted, Compacted)
    text, image, _ = prompted.content
    assert isinstance(text, Text) and text.text == "Make it beta. " * 5_000
    assert isinstance(image, Image) and len(image.data) == 22_000
    assert compacted.summary.startswith("A summary.")
    assert max(map(len, SECOND.read_bytes().splitlines())) < 4_000


def test_anybody_can_write_a_reader_from_the_document(tmp_path: Path) -> None:
    """The one in it reads all, and passes over what it must."""
    document = (HERE.parent.parent / "docs" / "log.md").read_text()
    code = document.split("```python\n")[1].split("```")[0]
    script, log = tmp_path / "reader.py", tmp_path / "sessions" / "p" / "s.jsonl"
    script.write_text(code)
    log.parent.mkdir(parents=True)
    shutil.copytree(HERE / "blobs", tmp_path / "blobs")
    for golden in (LOG, LATER, JUDGED, SHAPED, SECOND):
        lines = golden.read_bytes().splitlines(keepends=True)
        log.write_bytes(lines[0] + b"\0" * 30 + b"\n" + lines[0] + b"".join(lines[1:]) + b"torn")
        ran = subprocess.run(
            [sys.executable, script, log], capture_output=True, text=True, check=False
        )
        entries = read_log(str(golden), BLOBS).entries
        shown = [f"{entry.seq} {type(entry).__name__.lower()}" for entry in entries]
        assert ran.stdout.splitlines() == shown, ran.stderr


def test_the_document_names_every_entry_and_field() -> None:
    document = (HERE.parent.parent / "docs" / "log.md").read_text()
    for kind in get_args(Entry):
        (row,) = [
            line
            for line in document.splitlines()
            if line.startswith(f"| `{kind.__name__.lower()}`")
        ]
        for field in set(kind.__struct_fields__) - {"seq", "at"}:
            assert f"`{field}`" in row, (kind, field)
