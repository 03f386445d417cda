"""A folder with files that want to run something, opened in a real terminal."""

from __future__ import annotations

import json
from collections.abc import Callable

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]


def plant(runner: Runner) -> None:
    """A hook that would run with the first prompt."""
    entry = [{"hooks": [{"type": "command", "command": "touch hooked"}]}]
    (runner.work / ".claude").mkdir()
    (runner.work / ".claude/settings.json").write_text(
        json.dumps({"hooks": {"UserPromptSubmit": entry}})
    )


def test_a_folder_that_is_not_trusted_runs_nothing(runner: Runner, sit: Sit) -> None:
    """No is what stands chosen: Enter alone trusts nobody."""
    plant(runner)
    runner.serve("Nothing ran.")
    term = sit()
    term.see("Trust the files of", "touch hooked", "❯ 3. Do not trust it")
    assert not list(runner.work.glob("hooked")), "nothing has run before the answer"
    term.press("enter")
    term.see(READY)
    term.say("hello")
    term.rest("Nothing ran.")
    assert not (runner.work / "hooked").exists()


def test_a_folder_that_is_trusted_is_not_asked_about_again(runner: Runner, sit: Sit) -> None:
    plant(runner)
    runner.serve("It ran.")
    term = sit()
    term.see("Trust the files of")
    term.type("1")
    term.see(READY)
    term.say("hello")
    term.rest("It ran.")
    assert (runner.work / "hooked").exists()
    term.press("ctrl+d")
    assert term.ended() == 0
    again = sit()
    assert "Trust" not in again.see(READY)


def test_what_is_typed_while_it_asks_is_no_answer(runner: Runner, sit: Sit) -> None:
    """Keys pressed before the first frame are kept, and none of them says yes."""
    plant(runner)
    runner.serve("Hello.")
    term = sit()
    term.type("1 + 1?")
    term.see("Trust the files of")
    term.press("escape")
    term.see(READY, "❯ 1 + 1?")
    assert not (runner.state / "trust.json").exists()
