"""The fault corpus through the library: every case on every wire it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.headless.exit_codes import exit_code
from detent.testing import Fault, Request, ServedScript, fault, script, serve
from detent.types.content import plain_text
from detent.types.events import Discarded, Event, Replied, Retrying, TextDelta, TurnEnded

from .conftest import ALL_WIRES, PATIENCE, assert_valid, house
from .fault_cases import CASES, GOOD, Answers, Case, Ends, Recovers, Settles

KEY = "k-house"
SETTINGS: dict[str, Any] = {"retryDelays": [0, 0, 0, 0], "retryLongestWait": 0}


class Played:
    """What became of a case."""

    def __init__(self, events: Sequence[Event], server: ServedScript) -> None:
        self.events = events
        self.requests = server.requests
        self.ended = next(event for event in events if isinstance(event, TurnEnded))
        self.replies = [event for event in events if isinstance(event, Replied)]
        self.retries = [event for event in events if isinstance(event, Retrying)]
        self.code = exit_code(self.ended.reason, refused=False, status=self.ended.status)

    @property
    def text(self) -> str:
        return plain_text(self.replies[-1].content) if self.replies else ""

    def __repr__(self) -> str:
        return (
            f"exit {self.code} ({self.ended.reason}: {self.ended.error[:200]!r}) "
            f"after {len(self.requests)} requests and {len(self.retries)} retries; "
            f"text {self.text[:100]!r}"
        )


def play(case: Case, wire: str, folder: Path) -> Played:
    work = folder / "work"
    work.mkdir()
    plan = script(*case.replies, after="repeat_last" if case.repeat else "error")
    with serve(plan) as server:
        settings = {**SETTINGS, **case.settings, **house(wire, server.url)}
        environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "DETENT_HOME": str(folder / "state"),
            "HOUSE_KEY": KEY,
        }
        options = Options(
            model="house/m",
            cwd=str(work),
            settings=settings,
            environ=environ,
            permission_mode="bypassPermissions",
        )
        played = Played(asyncio.run(_events(options)), server)
        assert server.problems == [], played
    return played


async def _events(options: Options) -> list[Event]:
    async with asyncio.timeout(PATIENCE), Session(options) as session:
        return [event async for event in session.send("go")]


def check_outcome(case: Case, played: Played) -> None:
    match case.outcome:
        case Answers(text, requests):
            assert (played.code, len(played.requests)) == (0, requests), played
            assert played.text == text, played
            assert played.retries == [], played
            if case.name != "no usage":
                counts = [(reply.usage.input, reply.usage.output) for reply in played.replies]
                assert counts == [(10, 5)] * len(played.replies)
        case Recovers(requests, status, text):
            assert (played.code, played.text) == (0, text), played
            assert len(played.requests) == requests or case.repeat, played
            assert len(played.retries) == len(played.requests) - 1, played
            assert status is None or played.retries[0].status == status
            assert len(played.replies) == 1
        case Settles(texts):
            assert played.code == 0, played
            assert played.text in texts, played
        case Ends(codes, requests, says):
            assert played.code in codes, played
            assert requests is None or len(played.requests) == requests, played
            assert played.ended.error, "no reason is given"
            assert says in played.ended.error, played


def check_view(events: Sequence[Event]) -> None:
    """What a reader saw is what the log holds: nothing twice, nothing left standing."""
    shown: list[str] = []
    for event in events:
        match event:
            case TextDelta(text=text):
                shown.append(text)
            case Discarded():
                shown = []
            case Replied(content=content):
                assert "".join(shown) == plain_text(content)
                shown = []
            case _:
                pass
    assert shown == [], "text of a lost answer was not taken back"


def check_requests(played: Played, paused: bool) -> None:
    for request in played.requests:
        assert request.streams
        assert any(KEY in value for value in request.headers.values())
        assert_valid(request, paused=paused)


@pytest.mark.parametrize(
    ("case", "wire"),
    [pytest.param(case, wire, id=f"{wire}-{case.name}") for case in CASES for wire in case.wires],
)
def test_fault(case: Case, wire: str, tmp_path: Path) -> None:
    played = play(case, wire, tmp_path)
    check_outcome(case, played)
    check_view(played.events)
    check_requests(played, "pause" in case.name)
    log = tmp_path / "work" / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    assert not case.ran or lines in [["ran"] * times for times in case.ran], played
    assert "Traceback" not in played.ended.error


@ALL_WIRES
def test_a_key_that_the_server_repeats_is_not_shown(wire: str, tmp_path: Path) -> None:
    told = {"error": {"message": f"the key {KEY} is not known", "type": "authentication_error"}}
    case = Case("told", (fault(401, body=told),), Ends((7,), says="is not known"))
    played = play(case, wire, tmp_path)
    check_outcome(case, played)
    assert KEY not in played.ended.error
    assert not any(KEY in str(event) for event in played.events)


# Redirects need a second server.


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@ALL_WIRES
def test_a_redirect_to_another_host_never_carries_the_key(
    wire: str, status: int, tmp_path: Path
) -> None:
    with serve(script("stolen", after="repeat_last")) as other:
        location = {"location": f"{other.url}/v1/messages"}
        case = Case("redirect", (fault(status, headers=location),), Ends((1, 7)), repeat=True)
        played = play(case, wire, tmp_path)
        check_outcome(case, played)
        for request in [*other.requests, *other.others]:
            assert KEY not in str(request.headers)


@pytest.mark.parametrize("status", [307, 308])
@ALL_WIRES
def test_a_redirect_within_the_host_is_followed(wire: str, status: int, tmp_path: Path) -> None:
    """To the same place with a mark, relative as most servers write it."""

    def redirect(request: Request) -> Fault:
        mark = "&" if "?" in request.path else "?"
        return fault(status, headers={"location": f"{request.path}{mark}moved=1"})

    case = Case("redirect", (redirect, GOOD), Answers(requests=2))
    played = play(case, wire, tmp_path)
    check_outcome(case, played)
    assert played.requests[1].path.endswith("moved=1")
    assert played.requests[0].json == played.requests[1].json


@ALL_WIRES
def test_redirects_in_a_circle_come_to_an_end(wire: str, tmp_path: Path) -> None:
    circle = (lambda request: fault(308, headers={"location": request.path}),)
    case = Case("circle", circle, Ends((1, 7), None, "redirect"), repeat=True)
    played = play(case, wire, tmp_path)
    check_outcome(case, played)
    assert len(played.requests) < 50


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    names = [(case.name, wire) for case in CASES for wire in case.wires]
    assert len(names) >= 150
    assert len(set(names)) == len(names)
