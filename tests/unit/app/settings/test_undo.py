"""`undo` in settings: what is kept of files."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.checkpoints.terms import Terms
from detent.app.settings.record import Settings, Source
from detent.app.settings.sources import merge
from detent.app.settings.undo import UndoWishes
from detent.types.errors import BadInput


def merged(*values: Any, project: Any = None, trusted: bool = False) -> Settings:
    sources = [Source("user", f"user{n}", {"undo": one}, False) for n, one in enumerate(values)]
    if project is not None:
        sources.append(Source("project", "theirs", {"undo": project}, True))
    return merge(sources, trusted=trusted)


def test_nothing_said_is_as_usual() -> None:
    assert merge([], trusted=False).undo is None
    assert merged({}).undo == UndoWishes()


def test_every_key_counts_and_the_later_wins() -> None:
    first = {
        "ignored": True,
        "maxFiles": 5,
        "maxMegabytes": 0.5,
        "maxFileMegabytes": 2,
        "maxSeconds": 1.5,
    }
    settings = merged(first, {"enabled": False, "maxFiles": 6})
    assert settings.undo == UndoWishes(False, Terms(True, 6, 1 << 19, 2 << 20, 1.5))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "user0: undo must be an object"),
        ({"enabled": 1}, "user0: undo: enabled must be true or false"),
        ({"maxFiles": 1.5}, "user0: undo: maxFiles must be a whole number"),
        ({"maxMegabytes": -1}, "user0: undo: maxMegabytes must not be negative"),
        ({"maxSeconds": "1"}, "user0: undo: maxSeconds must be a number"),
    ],
)
def test_what_makes_no_sense_is_named(value: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        merged(value)


def test_what_is_not_known_is_worth_a_hint() -> None:
    assert "user0: undo: unknown setting maxfiles" in merged({"maxfiles": 1}).hints


def test_a_project_that_nobody_trusts_cannot_switch_it_off() -> None:
    settings = merged({}, project={"enabled": False})
    assert settings.undo == UndoWishes()
    assert any("undo" in notice for notice in settings.notices)
    trusted = merged({}, project={"enabled": False}, trusted=True).undo
    assert trusted is not None
    assert not trusted.enabled
