"""Terminals of every size, and one that changes while it is written to."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest

from detent.surfaces.tables.widths import width_of
from detent.testing import call, reply, say

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]
STILL = ("--settings", '{"prefersReducedMotion": true}')
HALF = 20


def items(first: int, last: int) -> list[str]:
    return [f"- item {n} of a list that is long enough for a line\n" for n in range(first, last)]


@pytest.mark.parametrize("sizes", [[(50, 30)], [(160, 30)], [(50, 20), (120, 40)], [(99, 12)]])
def test_resized_while_it_streams(runner: Runner, sit: Sit, sizes: list[tuple[int, int]]) -> None:
    """Nothing twice and nothing lost, on the screen or above it."""
    gate = threading.Event()
    pieces = [*items(1, HALF), *items(HALF, 2 * HALF), "\n", "The end."]
    runner.serve(reply(say(*pieces), hold=gate, hold_after=HALF - 1))
    term = sit(*STILL)
    term.see(READY)
    term.say("list them")
    term.see(f"item {HALF - 1} of", "esc to interrupt")
    for columns, rows in sizes:
        before = len(term.raw)
        term.resize(columns, rows)
        term.see(lambda before=before: len(term.raw) > before, "default:")
    gate.set()
    term.rest("The end.", "tokens · $")
    past = term.past
    assert re.findall(r"item (\d+) of", past) == [str(n) for n in range(1, 2 * HALF)]
    assert past.count("❯ list them") == 1
    assert past.count("❯ Describe") == 1 and past.count("default: ") == 1
    assert "esc to" not in past


@pytest.mark.parametrize(("columns", "rows"), [(20, 8), (8, 3), (300, 100)])
def test_odd_sizes(runner: Runner, sit: Sit, columns: int, rows: int) -> None:
    """A whole turn with a question in it. No line is wider than the screen, but where hardly a
    word fits."""
    (runner.work / "shop.py").write_text("def add(a, b):\n    return a - b\n")
    edit = call("Edit", file_path="shop.py", old_string="a - b", new_string="a + b")
    runner.serve(
        reply("I will look at **all** of it, 漢字 included.", call("Read", file_path="shop.py")),
        reply(edit),
        "Done it.",
    )
    term = sit(columns=columns, rows=rows)
    term.see("default")
    term.say("mend this function, which does not add at all")
    term.see(re.compile("Yes|tab:"))
    assert_fits(term)
    term.type("y")
    term.rest(lambda: len(runner.requests) == 3, "❯ ", "default")
    assert_fits(term)
    assert "return a + b" in (runner.work / "shop.py").read_text()
    term.type("?")
    term.see("❯ Describe a task", "  /") if columns > 8 else term.see("❯ De")
    term.type("/a")
    term.see("❯ /a", "/agents") if columns > 8 else term.see("❯ /a")
    assert_fits(term)
    term.press("ctrl+c")
    term.see("❯ De")
    term.press("ctrl+d")
    assert term.ended() == 0


def assert_fits(term: Term) -> None:
    """What is written to the terminal never leaves it to the terminal where to break."""
    for line in [] if term.screen.columns < 20 else re.split(rb"\r\n?|\n", term.raw):
        plain = re.sub(rb"\x1b\[[0-9;?>]*[A-Za-z]|\a", b"", line).decode()
        assert sum(map(width_of, plain)) <= term.screen.columns, plain


def test_resized_while_something_else_has_the_screen(runner: Runner, sit: Sit) -> None:
    """The transcript fits at once, and below it everything is as it was, once."""
    runner.serve("Hello to you who waits.")
    term = sit(*STILL)
    term.see(READY)
    term.say("hello")
    term.rest("waits.", "tokens · $")
    term.press("ctrl+o")
    term.see("q leaves")
    term.resize(60, 20)
    term.see("q leaves", lambda: "q leaves" in term.lines[19])
    term.type("q")
    term.see(READY)
    past = term.past
    assert past.count("❯ hello") == 1 and past.count("waits.") == 1
    assert past.count("❯ Describe") == 1 and past.count("default: ") == 1
