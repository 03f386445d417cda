"""`detent demo`: the main job in a scratch repository, on your model or on a labelled script."""

import asyncio
import os
import subprocess
import sys
import tempfile
from contextlib import aclosing

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.headless.activity import tell_activity
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.headless.text import TextWriter
from detent.types.errors import NoModel
from detent.types.events import TurnEnded

PROMPT = "The test fails. Find out why, mend the program, and run the test until it passes."
TEST_COMMAND = "python3 -m unittest -q"

PROGRAM = '''\
"""Prices, in cents."""


def total(prices, discount_percent=0):
    """Sum of the prices, less a discount."""
    return sum(prices) * discount_percent // 100
'''
TEST = """\
import unittest

from shop import total


class TotalTest(unittest.TestCase):
    def test_without_discount(self):
        self.assertEqual(total([250, 750]), 1000)

    def test_with_discount(self):
        self.assertEqual(total([250, 750], 10), 900)


if __name__ == "__main__":
    unittest.main()
"""


def run_demo() -> int:
    with tempfile.TemporaryDirectory(prefix="detent-demo-") as folder:
        _prepare(folder)
        try:
            return asyncio.run(_demo(folder))
        except NoModel:
            return asyncio.run(_demo(folder, scripted=True))


def _prepare(folder: str) -> None:
    for name, text in (("shop.py", PROGRAM), ("test_shop.py", TEST)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    _git(folder, "init", "-q")
    _git(folder, "add", ".")


def _git(folder: str, *arguments: str) -> str:
    """What git says; nothing where there is no git, the demo works without."""
    try:
        ran = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True)
    except OSError:
        return ""
    return ran.stdout.decode(errors="replace").rstrip()


async def _demo(folder: str, *, scripted: bool = False) -> int:
    options = Options(
        model=_scripted_model() if scripted else "",
        cwd=folder,
        permission_mode="acceptEdits",
        allowed_tools=(f"Bash({TEST_COMMAND}:*)",),
        persist=False,
        max_turns=20,
    )
    async with Session(options) as session:
        label = "SCRIPTED (no key is set; the answers are canned)" if scripted else session.model
        _say(f"Model: {label}")
        _say(f"A scratch repository with a failing test. Prompt: {PROMPT}\n")
        writer = TextWriter(Stdout())
        async with aclosing(session.send(PROMPT)) as events:
            async for event in events:
                tell_activity(event)
                await writer.show(event)
                if isinstance(event, TurnEnded) and event.error:
                    _say(event.error)
    return _verdict(folder)


def _verdict(folder: str) -> int:
    """The test itself says whether it worked, not the model."""
    ran = subprocess.run(TEST_COMMAND.split(), cwd=folder, capture_output=True, check=False)
    _say("\nThe test passes now." if ran.returncode == 0 else "\nThe test still fails.")
    _say(_git(folder, "diff", "--stat"))
    return 0 if ran.returncode == 0 else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _scripted_model() -> str:
    return f"scripted:{os.path.join(os.path.dirname(__file__), 'demo.json')}"
