"""What a session is told of where it runs: once in its prompt, and of changes (F150, F151)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from detent.app import git_state, surroundings
from detent.app.options import Options
from detent.app.surroundings import Lookout, day, look_around, wants_git
from detent.app.wire import assemble
from detent.context.conversation import Conversation
from detent.context.repository import LONGEST_AGAIN, LONGEST_STATUS, Repository
from detent.sdk.session import Session
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Text
from detent.types.events import Compacted, Opened, Prompted, Reminded, Rewound
from detent.types.messages import User
from kitbench import FakeClock

NOON = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))
A_DAY = 24 * 3600.0
AT_HOME = Repository(
    "/p", "main", "main", ("1111111 Newest", "2222222 Older"), (" M a.py", "?? b.py")
)


class Watched:
    """A conversation and its lookout; git says what the test wants."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        (folder / ".git").mkdir(exist_ok=True)
        self.says: Repository | None = AT_HOME
        self.looks = 0
        self.now = NOON
        self.conversation = Conversation()
        self.lookout = Lookout(
            self.conversation, lambda: str(folder), lambda: self.now, day(NOON), {}, **options
        )

        async def look(git: git_state.Git, root: str | None, cwd: str) -> Repository | None:
            self.looks += 1
            return self.says

        monkeypatch.setattr(git_state.Git, "look", look)
        self._seq = 0

    def add(self, entry: Any) -> int:
        self._seq += 1
        self.conversation.add(type(entry)(**{**_fields(entry), "seq": self._seq}))
        return self._seq

    def prompt(self, text: str = "hi", moment: Any = "prompt") -> list[str]:
        """A prompt comes; gives what is told with it, by name."""
        if moment == "prompt":
            self.add(Prompted(turn=1, content=(Text(text),)))
        due = asyncio.run(self.lookout.due(moment))
        for one in due:
            assert (one.source, one.leads) == ("surroundings", True)
            self.add(one)
        return [one.path for one in due]

    @property
    def told(self) -> str:
        return "\n".join(self.conversation.told.values())


def _fields(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__struct_fields__}


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path, monkeypatch)


# Git


def test_git_is_told_with_the_first_prompt_and_before_it(watched: Watched) -> None:
    assert watched.prompt("What now?") == ["git", "git status"]
    (message,) = watched.conversation.messages()
    assert isinstance(message, User)
    standing, status, prompt = (block.text for block in message.content)  # type: ignore[union-attr]
    assert standing == (
        "<surroundings>\nGit repository /p, on branch main\nRecent commits:\n"
        "1111111 Newest\n2222222 Older\n</surroundings>"
    )
    assert status == "<surroundings>\ngit status:\n M a.py\n?? b.py\n</surroundings>"
    assert prompt == "What now?"


def test_only_what_changed_is_told_again(watched: Watched) -> None:
    watched.prompt()
    assert watched.prompt() == []
    watched.says = Repository("/p", "main", "main", AT_HOME.commits)
    assert watched.prompt() == ["git status"]
    assert "git status: clean" in watched.told
    watched.says = Repository("/p", "topic", "main", AT_HOME.commits)
    assert watched.prompt() == ["git"]
    assert "on branch topic (default branch: main)" in watched.told
    assert watched.prompt() == []
    assert watched.looks == 5, "each prompt looks anew"


def test_a_change_of_a_long_status_is_told_in_short(watched: Watched) -> None:
    lines = tuple(f" M file{number:04}.py" for number in range(300))
    watched.says = Repository("/p", changes=lines)
    watched.prompt()
    first = watched.conversation.told["surroundings", "git status"]
    assert LONGEST_AGAIN < len(first) < LONGEST_STATUS + 100
    assert watched.prompt() == []
    watched.says = Repository("/p", changes=lines[:200])
    assert watched.prompt() == ["git status"]
    assert len(watched.conversation.told["surroundings", "git status"]) < LONGEST_AGAIN + 100
    assert watched.prompt() == [], "the short form counts as told"


def test_it_is_told_again_where_the_model_can_no_longer_read_it(watched: Watched) -> None:
    start = watched.add(Opened(session="s", cwd="/p", version="1"))
    watched.prompt()
    after = watched.add(Prompted(turn=2, content=(Text("more"),)))
    watched.add(Compacted(summary="In short.", keeps_from=after))
    assert watched.prompt(moment="compacted") == ["git", "git status"]
    assert watched.prompt() == []
    watched.add(Rewound(to=start))
    assert watched.prompt() == ["git", "git status"]


def test_a_resumed_session_is_told_only_what_is_new(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.prompt()
    resumed = Watched(tmp_path, monkeypatch)
    for entry in watched.conversation.entries:
        resumed.add(entry)
    assert resumed.prompt() == []
    resumed.says = Repository("/p", "main", "main", AT_HOME.commits, ("?? c",))
    assert resumed.prompt() == ["git status"]


def test_calls_are_no_occasion(watched: Watched) -> None:
    assert watched.prompt(moment="calls") == []
    assert watched.looks == 0


def test_git_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(tmp_path, monkeypatch, tells_git=False)
    assert watched.prompt() == []
    assert watched.looks == 0
    assert wants_git({}, True) and not wants_git({}, False)
    name = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
    assert not wants_git({name: "1"}, True)
    assert wants_git({name: "0"}, False), "the variable beats the setting"


def test_without_a_repository_nothing_is_loaded(tmp_path: Path) -> None:
    """In a process of its own, to see what is imported."""
    code = (
        "import asyncio, sys; from detent.app.surroundings import Lookout;"
        "from detent.context.conversation import Conversation;"
        f"cwd = {str(tmp_path)!r};"
        "out = Lookout(Conversation(), lambda: cwd, lambda: 0.0, '1970-01-01', {});"
        "print(list(asyncio.run(out.due('prompt'))), 'detent.app.git_state' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "TZ": "UTC"},
    )  # fmt: skip
    assert ran.stdout == "[] False\n"


# The date


def test_a_changed_date_is_told_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(tmp_path, monkeypatch, tells_git=False)
    assert watched.prompt() == [], "the prompt has it"
    watched.now += A_DAY
    assert watched.prompt() == ["date"]
    assert "The date is now 2026-01-03." in watched.told
    assert watched.prompt() == []
    watched.now += A_DAY
    assert watched.prompt() == ["date"]
    watched.now -= 2 * A_DAY
    assert watched.prompt() == ["date"], "what it was told last is wrong again"


# What stands in the prompt


def test_what_is_seen_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / "os-release"
    release.write_text('NAME="X"\nPRETTY_NAME="X Linux 7 (seven)"\nID=x\n')
    monkeypatch.setattr(surroundings, "OS_RELEASE", (str(tmp_path / "none"), str(release)))
    seen = look_around("/p", NOON, {"SHELL": "/usr/bin/zsh"}, ("/q",))
    assert (seen.cwd, seen.date, seen.folders) == ("/p", "2026-01-02", ("/q",))
    assert seen.shell == "bash for commands; the user's own is zsh"
    assert look_around("/p", NOON, {"SHELL": "/bin/bash"}).shell == "bash"
    assert look_around("/p", NOON, {}).shell == "bash"
    if sys.platform == "linux":
        assert seen.platform == "Linux, X Linux 7 (seven)"
        monkeypatch.setattr(surroundings, "OS_RELEASE", ())
        assert look_around("/p", NOON, {}).platform == f"Linux {os.uname().release}"


@pytest.mark.skipif(sys.platform == "win32", reason="as seen from elsewhere")
def test_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plist = tmp_path / "version"
    plist.write_text("<key>ProductVersion</key>\n\t<string>14.5</string>\n<key>x</key>")
    monkeypatch.setattr(surroundings, "MAC_VERSION", str(plist))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert look_around("/p", NOON, {}).platform == "macOS 14.5"
    plist.unlink()
    assert look_around("/p", NOON, {}).platform == f"macOS {os.uname().release}"


# Wired


def options(folder: Path, clock: FakeClock, **more: Any) -> Options:
    environ = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
    return Options(
        model=ScriptedModel("one", "two"), cwd=str(folder), environ=environ, clock=clock, **more
    )


def test_a_resumed_session_sends_the_same_prompt_on_another_day(tmp_path: Path) -> None:
    clock = FakeClock()
    clock.time = NOON

    async def turn(**more: Any) -> tuple[str, str, list[str]]:
        async with Session(options(tmp_path, clock, **more)) as session:
            begun = len(session.entries)
            await session.run_turn("hi")
            new = session.entries[begun:]
            told = [e.text for e in new if isinstance(e, Reminded) and e.source == "surroundings"]
            return session.id, session.prompt, told

    first, prompt, told = asyncio.run(turn())
    assert "- Date: 2026-01-02" in prompt and told == []
    clock.time += A_DAY
    again, same, told = asyncio.run(turn(resume=first))
    assert (again, same) == (first, prompt)
    assert told == ["<surroundings>\nThe date is now 2026-01-03.\n</surroundings>"]
    _, fresh, _ = asyncio.run(turn())
    assert "- Date: 2026-01-03" in fresh
    _, forked, _ = asyncio.run(turn(resume=first, fork=True))
    assert forked == prompt


def test_a_real_repository_reaches_the_model(tmp_path: Path) -> None:
    for command in (["init", "-q", "-b", "main"], ["commit", "-qm", "First", "--allow-empty"]):
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", *command],
            cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )  # fmt: skip
    (tmp_path / "new.txt").write_text("")
    clock = FakeClock()

    async def told(**more: Any) -> str:
        session = Session(options(tmp_path, clock, persist=False, **more))
        async with session:
            await session.run_turn("hi")
            return "\n".join(e.text for e in session.entries if isinstance(e, Reminded))

    text = asyncio.run(told())
    assert "on branch main" in text and " First" in text and "?? new.txt" in text
    assert asyncio.run(told(settings={"includeGitInstructions": False})) == ""
    assert asyncio.run(told(override_system_prompt="Only this.")) == ""
    assert "on branch main" in asyncio.run(told(system_prompt="Mine."))


def test_other_folders_are_in_the_prompt(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    engine = assemble(options(tmp_path, FakeClock(), add_dirs=("more",), persist=False))
    assert f"- Other folders: {os.path.realpath(more)}\n" in engine.kit.system[1]
