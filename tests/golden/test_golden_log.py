"""A log of format 1, as it was first written, stays readable for good.

The two files beside this one are never written anew. A later format gets files of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec

from detent.context.conversation import Conversation
from detent.context.project import project
from detent.session.log import frame, read_log
from detent.types.content import Image, Redacted, Text, Thinking
from detent.types.effects import Effect
from detent.types.events import CallEnded, CallStarted, Entry, Opened, Prompted, Replied
from detent.types.messages import Assistant, User
from detent.types.outcomes import Outcome
from kitbench import check_valid

HERE = Path(__file__).parent
LOG, MESSAGES = HERE / "log-v1.jsonl", HERE / "log-v1.messages.json"


class Golden(msgspec.Struct):
    user: list[User]
    assistant: list[Assistant]


def test_every_entry_is_read() -> None:
    reading = read_log(str(LOG))
    assert (reading.damaged, reading.torn) == (0, False)
    assert len(reading.entries) == len(LOG.read_bytes().splitlines())
    assert {type(entry) for entry in reading.entries} == set(get_args(Entry))
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
    assert b"".join(map(frame, entries)) == LOG.read_bytes()


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
