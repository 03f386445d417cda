"""Amazon's frames: any split, every damage, all types of headers."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.models.cloud.eventstream import MOST_FRAME, EventStream
from detent.types.errors import ModelFailure
from eventframes import chunk, exception, frame

EMPTY = bytes.fromhex("000000100000000005c248eb7d98c8ff")
"""Known from the documentation: no headers, no payload."""
EVERY_TYPE = (
    b"\x03yes\x00\x02no\x01\x04byte\x02\x01\x05short\x03\x00\x02\x03int\x04\x00\x00\x00\x03"
    b"\x04long\x05" + bytes(8) + b"\x05bytes\x06\x00\x02hi\x04time\x08" + bytes(8)
    + b"\x04uuid\x09" + bytes(16)
)  # fmt: skip
EVENTS = [{"type": "ping"}, {"text": "grün " * 50}, {"type": "message_stop"}]
STREAM = EMPTY + b"".join(map(chunk, EVENTS))


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    stream, events = EventStream(), []
    edges = [0, *sorted(cuts), len(STREAM)]
    for start, end in pairwise(edges):
        events += stream.feed(STREAM[start:end])
    assert [json.loads(event) for event in events] == EVENTS
    assert stream.finish() == []


def test_byte_by_byte() -> None:
    stream = EventStream()
    events = [event for at in range(len(STREAM)) for event in stream.feed(STREAM[at : at + 1])]
    assert [json.loads(event) for event in events] == EVENTS


def test_headers_of_every_type_are_passed_over() -> None:
    headers = {":message-type": "event", ":event-type": "chunk"}
    assert EventStream().feed(frame(headers, b'{"bytes":"e30="}', EVERY_TYPE)) == [b"{}"]


def test_frames_that_are_no_chunks_are_passed_over() -> None:
    other = frame({":message-type": "event", ":event-type": "initial-response"}, b"{}")
    unknown = frame({":message-type": "later-invention"}, b"{}")
    assert EventStream().feed(other + unknown + chunk({})) == [b"{}"]


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        ("throttlingException", "slow down", "rate_limit"),
        ("serviceUnavailableException", "later", "overloaded"),
        ("validationException", "no such field", "invalid_request"),
        ("validationException", "prompt is too long: 9 > 8", "prompt_too_long"),
        ("modelTimeoutException", "gone", "timeout"),
        ("internalServerException", "oops", "server"),
        ("modelStreamErrorException", "oops", "server"),
        ("someLaterException", "", "server"),
    ],
)
def test_exceptions_are_failures(name: str, message: str, kind: str) -> None:
    with pytest.raises(ModelFailure, match=message or name) as caught:
        EventStream().feed(exception(name, message))
    assert caught.value.kind == kind


def test_errors_and_wordless_exceptions_are_failures() -> None:
    headers = {":message-type": "error", ":error-code": "500", ":error-message": "broken inside"}
    with pytest.raises(ModelFailure, match="broken inside"):
        EventStream().feed(frame(headers, b""))
    with pytest.raises(ModelFailure, match="oddException"):
        EventStream().feed(
            frame({":message-type": "exception", ":exception-type": "oddException"}, b"\xff")
        )


@given(st.integers(0, len(chunk(EVENTS[1])) - 1), st.integers(1, 255))
def test_a_damaged_byte_is_noticed(at: int, change: int) -> None:
    data = bytearray(chunk(EVENTS[1]))
    data[at] ^= change
    with pytest.raises(ModelFailure, match="damaged"):
        EventStream().feed(bytes(data))


@pytest.mark.parametrize(
    "bad",
    [
        frame({}, b"", b"\x05ab"),
        frame({}, b"", b"\x01a"),
        frame({}, b"", b"\x01a\x0a"),
        frame({}, b"", b"\x01a\x07\x00\x09b"),
        frame({":message-type": "event", ":event-type": "chunk"}, b'{"bytes":"?"}'),
        frame({":message-type": "event", ":event-type": "chunk"}, b"no json"),
    ],
)
def test_a_whole_frame_with_rubbish_inside(bad: bytes) -> None:
    with pytest.raises(ModelFailure, match="damaged"):
        EventStream().feed(bad)


def test_a_frame_without_end_is_refused_before_it_is_waited_for() -> None:
    import zlib

    for total, headers in ((MOST_FRAME + 1, 0), (15, 0), (40, 25)):
        prelude = total.to_bytes(4, "big") + headers.to_bytes(4, "big")
        with pytest.raises(ModelFailure, match="damaged"):
            EventStream().feed(prelude + zlib.crc32(prelude).to_bytes(4, "big"))


def test_half_a_frame_at_the_end_is_no_event() -> None:
    stream = EventStream()
    assert stream.feed(chunk({})[:-1]) == []
    assert stream.finish() == []
