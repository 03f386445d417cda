"""Ten programs with a one-line bug each, and the test that shows it.

The small profile was tuned on ten others, so that these say how it does on what it has not seen.
"""

from __future__ import annotations

from typing import NamedTuple


class Repair(NamedTuple):
    name: str
    program: str
    test: str


def _test(name: str, what: str, *checks: str) -> str:
    lines = "\n".join(f"        {check}" for check in checks)
    return (
        f"import unittest\n\nfrom {name} import {what}\n\n\n"
        f"class {what.title().replace('_', '')}Test(unittest.TestCase):\n"
        f"    def test_{what.lower()}(self):\n{lines}\n"
    )


REPAIRS = (
    Repair(
        "parity",
        "def is_even(number):\n"
        "    return number % 2 == 1\n",
        _test("parity", "is_even", "self.assertTrue(is_even(4))", "self.assertFalse(is_even(7))"),
    ),
    Repair(
        "largest",
        "def largest(numbers):\n"
        '    """The largest of some numbers."""\n'
        "    best = numbers[0]\n"
        "    for number in numbers:\n"
        "        if number < best:\n"
        "            best = number\n"
        "    return best\n",
        _test("largest", "largest", "self.assertEqual(largest([3, 9, 2]), 9)"),
    ),
    Repair(
        "palindrome",
        "def is_palindrome(text):\n"
        '    """The same from both ends; upper and lower case count as one."""\n'
        "    return text == text[::-1]\n",
        _test(
            "palindrome",
            "is_palindrome",
            'self.assertTrue(is_palindrome("level"))',
            'self.assertTrue(is_palindrome("Anna"))',
        ),
    ),
    Repair(
        "factorial",
        "def factorial(n):\n"
        "    result = 1\n"
        "    for factor in range(1, n):\n"
        "        result *= factor\n"
        "    return result\n",
        _test("factorial", "factorial", "self.assertEqual(factorial(5), 120)"),
    ),
    Repair(
        "greeting",
        "def greeting(name):\n"
        '    """Greets by name, or the world when there is none."""\n'
        "    if name:\n"
        '        return "Hello, world!"\n'
        '    return f"Hello, {name}!"\n',
        _test(
            "greeting",
            "greeting",
            'self.assertEqual(greeting("Ada"), "Hello, Ada!")',
            'self.assertEqual(greeting(""), "Hello, world!")',
        ),
    ),
    Repair(
        "queue_",
        "class Queue:\n"
        '    """First in, first out."""\n'
        "\n"
        "    def __init__(self):\n"
        "        self.items = []\n"
        "\n"
        "    def put(self, item):\n"
        "        self.items.append(item)\n"
        "\n"
        "    def get(self):\n"
        "        return self.items.pop()\n",
        _test(
            "queue_", "Queue", "queue = Queue()", "queue.put(1)", "queue.put(2)",
            "self.assertEqual(queue.get(), 1)",
        ),
    ),
    Repair(
        "celsius",
        "def to_celsius(fahrenheit):\n"
        "    return fahrenheit - 32 * 5 / 9\n",
        _test("celsius", "to_celsius", "self.assertEqual(to_celsius(212), 100)"),
    ),
    Repair(
        "initials",
        "def initials(name):\n"
        '    """The first letters of a name, each with a dot: A.L."""\n'
        '    return ".".join(part[0] for part in name.split())\n',
        _test("initials", "initials", 'self.assertEqual(initials("Ada Lovelace"), "A.L.")'),
    ),
    Repair(
        "unique",
        "def unique(items):\n"
        '    """Each item once, in the order of first appearance."""\n'
        "    seen = []\n"
        "    for item in items:\n"
        "        if item in seen:\n"
        "            seen.append(item)\n"
        "    return seen\n",
        _test("unique", "unique", "self.assertEqual(unique([3, 1, 3, 2, 1]), [3, 1, 2])"),
    ),
    Repair(
        "discount",
        "def price(amount, member=False):\n"
        '    """Members pay ten percent less."""\n'
        "    if member:\n"
        "        return amount * 0.1\n"
        "    return amount\n",
        _test(
            "discount",
            "price",
            "self.assertEqual(price(200), 200)",
            "self.assertAlmostEqual(price(200, member=True), 180)",
        ),
    ),
)  # fmt: skip
