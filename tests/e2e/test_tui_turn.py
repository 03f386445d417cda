"""A whole turn in a real terminal: what is shown, asked and left behind."""

from __future__ import annotations

from collections.abc import Callable

from detent.testing import call, reply

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]


def test_a_turn_with_an_edit_and_a_question(runner: Runner, sit: Sit) -> None:
    (runner.work / "shop.py").write_text("def add(a, b):\n    return a - b\n")
    edit = call("Edit", file_path="shop.py", old_string="a - b", new_string="a + b")
    runner.serve(
        reply("I will **look**.", call("Read", file_path="shop.py")),
        reply("The sign is wrong.", edit),
        "Both numbers are added now.",
    )
    term = sit()
    term.see(READY)
    term.type("mend add")
    term.press("enter")
    asked = term.see("wants to use Edit", "Yes, this once")
    assert "-     return a - b" in asked and "+     return a + b" in asked
    assert "Edit(/shop.py)" in asked, "the rule stands there as it would be kept"
    term.type("1")
    term.see("Both numbers are added now.", "M shop.py +1 -1", READY)
    assert "return a + b" in (runner.work / "shop.py").read_text()
    term.press("ctrl+d")
    assert term.ended() == 0
    assert f"detent --resume {runner.logs[0].stem}" in term.past
