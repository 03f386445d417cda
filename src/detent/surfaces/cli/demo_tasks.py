"""What the demo asks for, and how we see whether it was done."""

import os
import subprocess
import sys

from msgspec import Struct

TEST_COMMAND = "python3 -m unittest -q"


class Task(Struct, frozen=True):
    scene: str
    prompt: str
    files: tuple[tuple[str, str], ...]
    allowed: tuple[str, ...]
    check: tuple[str, ...]
    """A command that must succeed and, with `prints`, say exactly that."""
    good: str
    bad: str
    prints: str | None = None

    def holds(self, folder: str) -> bool:
        """Tests that were given must be as they were: a changed one proves nothing."""
        kept = all(_read(folder, name) == text for name, text in self.files if "test" in name)
        try:
            ran = subprocess.run(
                self.check, cwd=folder, capture_output=True, check=False, timeout=30
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        said = ran.stdout.decode(errors="replace").split()
        return kept and ran.returncode == 0 and (self.prints is None or said == self.prints.split())


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


MENDING = Task(
    scene="A scratch repository with a failing test.",
    prompt="The test fails. Find out why, mend the program, and run the test until it passes.",
    files=(
        (
            "shop.py",
            '''\
"""Prices, in cents."""


def total(prices, discount_percent=0):
    """Sum of the prices, less a discount."""
    return sum(prices) * discount_percent // 100
''',
        ),
        (
            "test_shop.py",
            """\
import unittest

from shop import total


class TotalTest(unittest.TestCase):
    def test_without_discount(self):
        self.assertEqual(total([250, 750]), 1000)

    def test_with_discount(self):
        self.assertEqual(total([250, 750], 10), 900)


if __name__ == "__main__":
    unittest.main()
""",
        ),
    ),
    allowed=(f"Bash({TEST_COMMAND}:*)",),
    check=tuple(TEST_COMMAND.split()),
    good="The test passes now.",
    bad="The test still fails.",
)

SMALL = Task(
    scene="An empty scratch repository.",
    prompt="Write fizzbuzz.py that prints FizzBuzz for the numbers 1 to 15, and run it.",
    files=(),
    allowed=("Bash(python3 fizzbuzz.py:*)", "Bash(python fizzbuzz.py:*)"),
    check=(sys.executable, "fizzbuzz.py"),
    prints="1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz",
    good="fizzbuzz.py prints what it should.",
    bad="fizzbuzz.py does not print what it should.",
)
"""One a 1.5 B model does reliably; docs/local-models.md has the figures."""
