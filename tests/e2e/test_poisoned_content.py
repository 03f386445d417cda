"""A picture that a provider does not take spoils one request at most, never the session."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from detent.testing import call, fault, reply

from .conftest import BOTH_WIRES, Frame, Runner

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n not much of a picture").decode()
REFUSED = json.dumps({"error": {"type": "invalid_request_error", "message": "{}"}})
TOO_LARGE = json.dumps({"error": {"message": "Request exceeds the maximum size"}})


def image(data: str = PICTURE, kind: str = "image/png") -> Frame:
    source = {"type": "base64", "media_type": kind, "data": data}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    return {"type": "user", "message": {"role": "user", "content": content}}


def shown(runner: Runner, number: int) -> bool:
    return PICTURE in json.dumps(runner.requests[number].json)


@BOTH_WIRES
@pytest.mark.parametrize(
    "says",
    [
        "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum",
        "Could not process image",
        "messages.4.content.0: image dimensions exceed max allowed size",
        "You uploaded an unsupported image. Please make sure your image is valid.",
    ],
)
def test_a_refused_picture_is_left_out_for_good(runner: Runner, says: str) -> None:
    runner.serve(fault(400, body=REFUSED.replace("{}", says)), "I see nothing", "still nothing")
    live = runner.converse()
    live.send(image())
    result = live.next("result")
    assert result["result"] == "I see nothing"
    assert live.finish().code == 0
    again = runner.prompt("and now?", "-r", result["session_id"])
    assert (again.code, again.result["result"]) == (0, "still nothing")
    assert [shown(runner, number) for number in range(3)] == [True, False, False]
    assert "An image was left out" in json.dumps(runner.requests[1].json)
    one, two = (request.json["messages"] for request in runner.requests[1:])
    assert _plain(two)[: len(_plain(one))] == _plain(one), "resumed it is the same"


def _plain(messages: list[Any]) -> list[Any]:
    """Without the marks for the cache, which move."""
    return json.loads(
        json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', ""),
    )


@BOTH_WIRES
@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        ("no base64", "image/png", "not valid Base64"),
        (PICTURE, "image/x-icon", "image/x-icon is not one of"),
        ("A" * (5 * 1024 * 1024 + 4), "image/png", "is the most that goes"),
    ],
    ids=["not base64", "unknown kind", "too large"],
)
def test_what_nobody_takes_is_not_even_sent(
    runner: Runner, data: str, kind: str, says: str
) -> None:
    runner.serve("nothing to see")
    live = runner.converse()
    live.send(image(data, kind))
    result = live.next("result")
    assert live.finish().code == 0
    (request,) = runner.requests
    assert says in json.dumps(request.json)
    assert data not in json.dumps(request.json)
    assert data not in json.dumps(runner.entries(result["session_id"]))


@BOTH_WIRES
def test_a_request_too_large_makes_room_once(runner: Runner) -> None:
    refused = fault(413, body=TOO_LARGE)
    runner.serve("old " * 3_000, reply(call("Bash", command="echo hi")), refused, "done")
    session = runner.prompt("first").result["session_id"]
    ran = runner.frames("second", "-r", session)
    assert (ran.code, ran.result["result"]) == (0, "done")
    assert len(ran.of("system", "compact_boundary")) == 1


@BOTH_WIRES
def test_5_a_request_that_stays_too_large(runner: Runner) -> None:
    runner.serve("old " * 3_000, fault(413, body=TOO_LARGE), after="repeat_last")
    session = runner.prompt("first").result["session_id"]
    ran = runner.prompt("second", "-r", session)
    assert (ran.code, ran.result["reason"]) == (5, "prompt_too_long")
    assert "maximum size" in ran.result["errors"][0]
    assert len(runner.requests) == 3
