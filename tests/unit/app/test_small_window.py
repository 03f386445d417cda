"""A small window has no room for tools that give work to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from crewbench import crew_session
from detent.app.toolbox import OF_DELEGATION, SMALL_WINDOW
from detent.testing.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("window", "tools", "offered"),
    [
        (SMALL_WINDOW, None, OF_DELEGATION),
        (SMALL_WINDOW - 1, None, set()),
        (SMALL_WINDOW - 1, ("Agent", "Read"), {"Agent"}),
    ],
)
def test_they_are_offered_where_there_is_room_or_somebody_names_them(
    tmp_path: Path, window: int, tools: tuple[str, ...] | None, offered: set[str]
) -> None:
    session = crew_session(tmp_path, ScriptedModel("x", window=window), tools=tools)
    assert OF_DELEGATION & set(session.tools) == offered
    assert "Read" in session.tools
    assert ("# Subagents" in session.prompt) == bool(offered)
