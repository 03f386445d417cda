"""JSON exports read back: what cannot be is refused, before anything of it is among our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.app.importing.own import read_own
from detent.app.importing.record import Unreadable

SESSION = "1d2f0c7e-9a41-4c53-8c1b-7d6f1a2b3c4d"


def exported(*, opened: dict[str, Any] | None = None, **prompt: Any) -> bytes:
    first = {"type": "opened", "seq": 1, "at": 1.0, "session": SESSION, "cwd": "/p", "version": "0"}
    said = {"type": "prompted", "seq": 2, "at": 2.0, "turn": 1, "content": []}
    entries = [{**first, **(opened or {})}, {**said, **prompt}]
    return json.dumps({"detent": "session", "v": 1, "entries": entries}).encode()


def test_what_is_sound_is_read() -> None:
    found = read_own(exported())
    assert (found.session, found.cwd, len(found.entries)) == (SESSION, "/p", 2)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (exported(seq=2**64), "order"),
        (exported(seq=1), "order"),
        (exported(seq=-1), "order"),
        (exported(at=1e300), "times"),
        (exported(at=-1e300), "times"),
        (exported(opened={"cwd": "../.."}), "folder"),
        (exported(opened={"cwd": "/a\0b"}), "folder"),
        (exported(opened={"session": "../../x"}), "which session"),
        (b'{"detent":"session","v":9}', "later version"),
        (b'{"detent":"snapshot","v":1}', "snapshot"),
    ],
)
def test_what_cannot_be_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_own(data)
