"""The log survives whatever happens to its bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.project import project
from detent.session.blobs import Blobs
from detent.session.log import WHOLE, FileLog, frame
from detent.session.long_texts import LONG
from detent.session.reading import NotUnderstood, Reading, read_log, unframe
from detent.types.content import Call, Image, Redacted, Result, Text, Thinking
from detent.types.effects import Connects, Reads, Runs, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Rewound,
    StepRecord,
    Switched,
    TurnEnded,
)
from detent.types.outcomes import Cut, Done, Failed, Refused
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid

words = st.text(st.characters(codec="utf-8"), max_size=12)
counts = st.integers(0, 2**40)
usages = st.builds(Usage, counts, counts, counts, counts)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
data = st.none() | st.dictionaries(words, values, max_size=2)
shown = st.lists(st.builds(Text, words) | st.builds(Image, words, words), max_size=2).map(tuple)
outcomes = st.one_of(
    st.builds(Done, shown, data),
    st.builds(Failed, words, data),
    st.builds(Refused, words, words),
    st.builds(Cut, words, words),
)
said = st.one_of(
    st.builds(Text, words),
    st.builds(Thinking, words, words),
    st.builds(Redacted, words),
    st.builds(Call, words, words, words),
)
given_blocks = st.one_of(
    st.builds(Text, words),
    st.builds(Image, words, words),
    st.builds(Result, words, shown, st.booleans()),
)
effects = st.one_of(*(st.builds(kind, words) for kind in (Reads, Writes, Runs, Connects)))
times = st.floats(0, 2e9, allow_nan=False)
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(Opened, at=times, session=words, cwd=words, version=words, parent=words),
    st.builds(
        Prompted,
        at=times,
        turn=counts,
        content=st.lists(given_blocks, max_size=3).map(tuple),
        steered=st.booleans(),
    ),
    st.builds(Reminded, at=times, text=words, source=words),
    st.builds(
        Replied,
        at=times,
        turn=counts,
        step=counts,
        model=words,
        content=st.lists(said, max_size=3).map(tuple),
        stop=words,
        usage=usages,
        message_id=words,
        ms=counts,
    ),
    st.builds(
        CallStarted,
        at=times,
        call_id=words,
        name=words,
        arguments=words,
        effects=st.lists(effects, max_size=2).map(tuple),
        verdict=st.builds(Allow, words, words),
    ),
    st.builds(CallEnded, at=times, call_id=words, name=words, outcome=outcomes, ms=counts),
    st.builds(Compacted, at=times, summary=words, keeps_from=counts, before_tokens=counts),
    st.builds(Switched, at=times, model=words, mode=words),
    st.builds(Rewound, at=times, to=counts),
    st.builds(
        TurnEnded,
        at=times,
        turn=counts,
        reason=st.sampled_from(["end_turn", "user_cancelled", "api_error"]),
        steps=st.lists(st.builds(StepRecord, counts, words, words, usages), max_size=2).map(tuple),
        usage=usages,
        error=words,
        status=st.none() | st.integers(100, 599),
    ),
)


def numbered(found: Sequence[Entry]) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(found, 1)]


logs = st.lists(entries, min_size=1, max_size=6).map(numbered)


def read(content: bytes) -> Reading:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        return read_log(file.name)


def written(log: Sequence[Entry]) -> bytes:
    return b"".join(map(frame, log))


def is_part_of(some: Sequence[Entry], whole: Sequence[Entry]) -> bool:
    rest = iter(whole)
    return all(any(entry == other for other in rest) for entry in some)


@given(entries)
def test_unframing_a_frame_gives_the_entry(entry: Entry) -> None:
    line = frame(entry)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1, "one record is one line"
    assert unframe(line[:-1]) == entry


@given(logs)
def test_what_was_written_is_read(log: list[Entry]) -> None:
    assert read(written(log)) == Reading(tuple(log), 0, False, understood=len(log))


@given(logs, st.data())
@settings(max_examples=150)
def test_any_prefix_gives_the_records_before_the_cut(
    log: list[Entry], choice: st.DataObject
) -> None:
    content = written(log)
    cut = choice.draw(st.integers(0, len(content)))
    reading = read(content[:cut])
    whole = content[:cut].count(b"\n")
    # A record that lacks nothing but its newline is whole.
    spare = len(reading.entries) - whole
    assert list(reading.entries) == log[: whole + spare]
    assert spare in (0, 1)
    assert spare == 0 or content[cut : cut + 1] == b"\n"
    assert reading.torn == (cut > 0 and content[cut - 1 : cut] != b"\n")
    assert reading.damaged == (1 if reading.torn and not spare else 0)
    check_valid(project(reading.entries))


@given(logs, st.data())
@settings(max_examples=150)
def test_a_zeroed_or_scribbled_tail_costs_only_what_it_covers(
    log: list[Entry], choice: st.DataObject
) -> None:
    content = written(log)
    cut = choice.draw(st.integers(0, len(content)))
    junk = choice.draw(
        st.sampled_from([b"\0" * (len(content) - cut), b"\0\n", b"}\n{", b"\xff\xfe"])
    )
    reading = read(content[:cut] + junk)
    untouched = content[:cut].count(b"\n")
    assert list(reading.entries[:untouched]) == log[:untouched]
    assert is_part_of(reading.entries, log)


@given(logs, st.data())
@settings(max_examples=300)
def test_one_damaged_byte_costs_two_records_at_most(
    log: list[Entry], choice: st.DataObject
) -> None:
    content = bytearray(written(log))
    where = choice.draw(st.integers(0, len(content) - 1))
    content[where] ^= choice.draw(st.integers(1, 255))
    reading = read(bytes(content))
    assert is_part_of(reading.entries, log)
    assert len(reading.entries) >= len(log) - 2
    assert len(reading.entries) == len(log) or reading.damaged, "what is lost is counted"
    check_valid(project(reading.entries))


@given(logs, st.integers(1, 40), entries)
@settings(max_examples=60)
def test_after_a_torn_tail_the_next_record_is_readable(
    log: list[Entry], lost: int, new: Entry
) -> None:
    content = written(log)
    torn = content[: max(0, len(content) - lost)]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/s.jsonl"
        Path(path).write_bytes(torn)
        before = read_log(path)
        again = FileLog(path, lambda: 5.0, before.entries, before.torn)
        again.lock()
        again.append(new)
        again.append(new)
        again.close()
        assert Path(path).read_bytes().startswith(torn), "the file is never rewritten"
        after = read_log(path)
    last = before.entries[-1].seq if before.entries else 0
    added = tuple(replace(new, seq=last + more, at=5.0) for more in (1, 2))
    assert after.entries == (*before.entries, *added)
    assert after.damaged == before.damaged
    assert not after.torn


FOREIGN = [
    b"",
    b"not json",
    b'{"type":"prompted","turn":1,"content":[]}',
    b'{"crc":"00000000","type":"switched"}',
    b"[1,2]",
    b"\xef\xbb\xbf{}",
]


@given(logs, st.lists(st.sampled_from(FOREIGN), max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_foreign_lines_are_passed_over_and_counted(
    log: list[Entry], foreign: list[bytes], random: object
) -> None:
    lines = [frame(entry)[:-1] for entry in log]
    for line in foreign:
        lines.insert(random.randint(0, len(lines)), line)  # type: ignore[attr-defined]
    reading = read(b"\n".join(lines) + b"\n")
    assert list(reading.entries) == log
    assert reading.damaged == sum(bool(line) for line in foreign)


def checked(rest: bytes) -> bytes:
    return b'{"crc":"%08x",%b' % (crc32(b"{" + rest), rest)


@pytest.mark.parametrize(
    ("rest", "strange"),
    [
        (b'"type":"dreamt","seq":2,"of":"sheep"}', "an entry 'dreamt'"),
        (b'"v":2,"type":"dreamt","seq":2}', "an entry 'dreamt'"),
        (b'"v":2,"type":"rewound","seq":2,"to":"the beginning"}', "an entry 'rewound'"),
        (b'"v":3,"type":"switched","seq":2}', "format 3"),
        (b'"v":3,"packed":"gzip","data":"H4sI"}', "format 3"),
        (b'"v":17,"blobs":7}', "format 17"),
    ],
)
def test_a_record_of_a_later_version_is_no_damage(rest: bytes, strange: str) -> None:
    first, third = Switched(seq=1, model="a"), Switched(seq=3, model="b")
    later = checked(rest)
    reading = read(b"".join((frame(first), later + b"\n", frame(third))))
    assert reading == Reading((first, third), 0, False, strange, understood=1)
    with pytest.raises(NotUnderstood):
        unframe(later)


recipes = st.tuples(words, st.sampled_from([1, 1, 1, 900, 4_000, 17_000, 70_000]))
"""A word and how often: the texts themselves would be too much to print."""


def made(recipe: tuple[str, int]) -> str:
    word, times = recipe
    return (word or "x") * times


@given(st.lists(recipes, min_size=6, max_size=6))
@settings(max_examples=60, deadline=None)
def test_long_texts_leave_the_line_and_come_back(drawn: list[tuple[str, int]]) -> None:
    texts = [*map(made, drawn)]
    one, two, three, four, five, six = texts
    content = (Text(one), Image("image/png", two))
    data = {three: [four, {"x": [five]}]}
    entry = CallEnded(seq=1, call_id=six, name="n", outcome=Done(content, data), seen={four: five})
    with tempfile.TemporaryDirectory() as home:
        blobs = Blobs(home)
        line = frame(entry, blobs)
        assert unframe(line, blobs) == entry
        assert line.count(b"\n") == 1
        kept = sum(len(text.encode()) for text in texts if len(text) < LONG)
        keys = len(three.encode()) + 2 * len(four.encode())  # keys of an object stay in the line
        assert len(line) < max(WHOLE, 6 * (kept + keys)) + 2_000
        assert frame(entry, blobs) == line, "the same bytes again"


@given(st.lists(recipes, min_size=1, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_a_blob_that_is_damaged_or_gone_costs_only_what_names_it(
    drawn: list[tuple[str, int]], choice: st.DataObject
) -> None:
    log = numbered([Reminded(text=made(recipe), source="s", at=1.0) for recipe in drawn])
    with tempfile.TemporaryDirectory() as home:
        blobs = Blobs(home)
        path = Path(home, "s.jsonl")
        path.write_bytes(b"".join(frame(entry, blobs) for entry in log))
        stored = sorted(file for file in Path(home, "blobs").glob("*/*") if file.is_file())
        if stored:
            victim = choice.draw(st.sampled_from(stored))
            content = bytearray(victim.read_bytes())
            harm = choice.draw(st.sampled_from(["gone", "empty", "zeros", "flipped"]))
            content[choice.draw(st.integers(0, len(content) - 1))] ^= 1
            harmed = {"empty": b"", "zeros": bytes(len(content)), "flipped": bytes(content)}
            victim.unlink() if harm == "gone" else victim.write_bytes(harmed[harm])
            lost = victim.parent.name + victim.name
        reading = read_log(str(path), blobs)
        kept = [e for e in log if not stored or lost.encode() not in frame(e, blobs)]
    assert list(reading.entries) == kept
    assert reading.damaged == len(log) - len(kept)


@given(logs, st.data())
@settings(max_examples=60)
def test_reading_twice_or_saving_again_changes_nothing(
    log: list[Entry], choice: st.DataObject
) -> None:
    """Whatever the damage: what was understood once, and is written anew, is the same again."""
    content = bytearray(written(log))
    where = choice.draw(st.integers(0, len(content) - 1))
    content[where:] = bytes(len(content) - where)
    first = read(bytes(content))
    assert read(bytes(content)) == first
    assert read(written(first.entries)).entries == first.entries


@pytest.mark.parametrize("line", [b"", b"{", b'{"crc":"', b'{"crc":"00000000",}', b"\0" * 50])
def test_a_line_that_is_no_record_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        unframe(line)


def test_a_record_that_comes_twice_counts_once() -> None:
    first, second = Switched(seq=1, model="a"), Switched(seq=2, model="b")
    reading = read(frame(first) + frame(first) + frame(second) + frame(first))
    assert reading == Reading((first, second), 2, False, understood=2)
