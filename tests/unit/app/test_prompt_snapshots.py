"""The whole text that a session begins with, as on file, in typical situations.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/app/test_prompt_snapshots.py` writes them anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from detent.app import git_state, surroundings
from detent.app.options import Options
from detent.context.repository import Repository
from detent.sdk.session import Session
from detent.testing.scripted_model import ScriptedModel
from kitbench import Approving, FakeClock

SNAPSHOTS = Path(__file__).parents[2] / "requests" / "prompts"
NOON = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))
REPOSITORY = Repository(
    "/p",
    "fix/rounding",
    "main",
    ("9c1f0aa Round half to even", "41b7e02 Add the table of rates", "0d5e9b1 Begin"),
    (" M src/rates.py", "A  tests/test_rates.py", "?? notes.txt"),
)
PROJECT = {"permissions": {"allow": ["Bash(make:*)"]}, "model": "theirs"}
HOOK = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
SITUATIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "with-a-person": {"approver": Approving()},
    "plan-mode": {"permission_mode": "plan", "approver": Approving()},
    "read-only-tools": {"tools": ("Read", "Glob", "Grep")},
    "bypass": {"permission_mode": "bypassPermissions"},
    "git-repository": {},
    "memory-files": {},
    "custom-and-append": {
        "system_prompt": "You review patches.",
        "append_system_prompt": "Be kind.",
    },
    "override": {"override_system_prompt": "You answer in one word.", "append_system_prompt": "x"},
    "hooks-rules-untrusted": {
        "settings": {
            "hooks": {"PreToolUse": [HOOK], "Stop": [{"hooks": HOOK["hooks"]}]},
            "permissions": {"deny": ["Read(.env)", "Bash(git push:*)"], "ask": ["Bash(npm:*)"]},
        }
    },
    "json-schema": {"json_schema": {"type": "object"}, "permission_mode": "dontAsk"},
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_session_begins_with_the_text_on_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = begun(name, tmp_path, monkeypatch)
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_snapshot_lies_around_unused() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*")} == set(SITUATIONS)


def begun(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The prompt as it is shown, and what the first message says before the user does."""
    monkeypatch.setattr(surroundings, "_platform", lambda: "Linux, Debian GNU/Linux 12 (bookworm)")
    place = folder / "p"
    place.mkdir()
    if name == "git-repository":
        (place / ".git").mkdir()
    if name == "memory-files":
        (place / "CLAUDE.md").write_text("Use tabs.\n@docs/style.md\n")
        (place / "docs").mkdir()
        (place / "docs/style.md").write_text("Names are English.\n")
        (place / "CLAUDE.local.md").write_text("My editor is vi.\n")
    if name == "hooks-rules-untrusted":
        (place / ".claude").mkdir()
        (place / ".claude/settings.json").write_text(json.dumps(PROJECT))

    async def look(git: git_state.Git, root: str | None, cwd: str) -> Repository:
        return REPOSITORY

    monkeypatch.setattr(git_state.Git, "look", look)
    clock = FakeClock()
    clock.time = NOON
    session = Session(
        Options(
            model=ScriptedModel("hi"),
            cwd=str(place),
            environ={"HOME": str(folder / "home"), "SHELL": "/bin/zsh"},
            clock=clock,
            persist=False,
            **SITUATIONS[name],
        )
    )
    told = asyncio.run(reminders(session))
    sent = "\n".join(session._engine.kit.system)
    assert "BOUNDARY" not in sent, "it is for people"
    text = "\n\n---\n".join((session.prompt, *told))
    return text.replace(os.path.realpath(place), "/p") + "\n"


async def reminders(session: Session) -> list[str]:
    async with session:
        return [one.text for one in await session._engine.kit.reminders.due("prompt")]
