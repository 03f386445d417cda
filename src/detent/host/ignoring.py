"""What `.gitignore` files leave out: nested ones, negation and folders, as git reads them."""

import os
import re
from collections.abc import Iterator

NAME = ".gitignore"
MOST_BYTES = 1 << 20
"""Of such a file; a larger one is none."""

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "digit": "0-9", "lower": "a-z",
    "space": "\\s", "upper": "A-Z", "xdigit": "0-9a-fA-F", "punct": "!-/:-@\\[-`{-~",
}  # fmt: skip


class Ignoring:
    """The rules for what lies in one folder: its own, and behind them those of the folders above.

    Paths are relative to where the first of them stands.
    """

    def __init__(self, text: str, folder: str = "", above: "Ignoring | None" = None) -> None:
        self._start = len(folder) + 1 if folder else 0
        self._above = above
        rules = [rule for line in text.split("\n") if (rule := _rule(line)) is not None]
        self._rules = [
            (_joined(regexes for _, _, regexes in group), is_folder_only, leaves_out)
            for is_folder_only, leaves_out, group in _runs(rules)
        ][::-1]

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Not asked of what lies in a folder that is left out: nothing brings that back."""
        level: Ignoring | None = self
        while level is not None:
            for regex, is_folder_only, leaves_out in level._rules:
                if (is_folder or not is_folder_only) and regex.fullmatch(path, level._start):
                    return leaves_out
            level = level._above
        return False

    def entered(self, place: str, folder: str) -> "Ignoring":
        """The rules inside of a folder that lies at `place`."""
        text = read_rules(place)
        return Ignoring(text, folder, self) if text else self


def rules_above(root: str) -> tuple[Ignoring, str]:
    """The rules of the checkout that `root` lies in, down to the folder above it, and what paths
    must begin with to be asked about."""
    top = root
    while not os.path.lexists(os.path.join(top, ".git")):
        if (parent := os.path.dirname(top)) == top:
            return Ignoring(""), ""
        top = parent
    steps = os.path.relpath(root, top).split("/") if root != top else []
    rules = Ignoring("")
    for depth in range(len(steps)):
        folder = "/".join(steps[:depth])
        rules = rules.entered(os.path.join(top, folder), folder)
    return rules, "".join(f"{step}/" for step in steps)


def read_rules(folder: str) -> str:
    """Empty where there are none, or none that can be read. A link is not followed, as in git."""
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC
        descriptor = os.open(os.path.join(folder, NAME), flags)
    except OSError:
        return ""
    try:
        data = os.read(descriptor, MOST_BYTES)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return "" if len(data) == MOST_BYTES else data.decode("utf-8-sig", "surrogateescape")


_Rule = tuple[bool, bool, str]
"""Whether it is for folders only, whether it leaves out, and a regular expression."""


def _rule(line: str) -> _Rule | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    leaves_out = not line.startswith("!")
    glob = line if leaves_out else line[1:]
    is_folder_only = glob.endswith("/")
    glob = glob[:-1] if is_folder_only else glob
    if not glob:
        return None
    if "/" not in glob:
        glob = f"**/{glob}"
    try:
        regex = _translated(glob.removeprefix("/"))
        re.compile(regex)
    except (re.error, ValueError):  # git finds nothing by such a pattern
        return None
    return is_folder_only, leaves_out, regex


def _runs(rules: list[_Rule]) -> Iterator[tuple[bool, bool, list[_Rule]]]:
    """Rules of the same sort that follow each other are asked as one."""
    group: list[_Rule] = []
    for rule in rules:
        if group and rule[:2] != group[0][:2]:
            yield *group[0][:2], group
            group = []
        group.append(rule)
    if group:
        yield *group[0][:2], group


def _joined(regexes: Iterator[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{regex})" for regex in regexes), re.DOTALL)


def _translated(glob: str) -> str:
    out, position, end = "", 0, len(glob)
    while position < end:
        rest, starts = glob[position:], position == 0 or glob[position - 1] == "/"
        if starts and rest.startswith("**/"):
            out, position = out + "(?:.*/)?", position + 3
        elif starts and rest == "**":
            out, position = out + ".+", end
        elif rest[0] == "*":
            position += len(rest) - len(rest.lstrip("*"))
            out += "[^/]*"
        elif rest[0] == "?":
            out, position = out + "[^/]", position + 1
        elif rest[0] == "[":
            one, length = _one_of(rest)
            out, position = out + one, position + length
        elif rest[0] == "\\":
            if len(rest) == 1:
                raise ValueError("nothing is escaped")
            out, position = out + re.escape(rest[1]), position + 2
        else:
            out, position = out + re.escape(rest[0]), position + 1
    return out


def _one_of(rest: str) -> tuple[str, int]:
    """A set of characters at the beginning, and how long it is written. Never a slash."""
    position = 2 if rest[1:2] in ("!", "^") else 1
    sign, inside, first = "^" if position == 2 else "", "", True
    while first or rest[position : position + 1] != "]":
        first = False
        if position >= len(rest):
            raise ValueError("the set does not end")
        named = re.match(r"\[:(\w+):\]", rest[position:])
        if named is not None:
            inside += _CLASSES.get(named[1], "")
            position += named.end()
            continue
        if rest[position] == "\\":
            position += 1
        elif rest[position] == "-" and inside and rest[position + 1 : position + 2] != "]":
            inside, position = f"{inside}-", position + 1
            continue
        inside, position = inside + _in_set(rest[position : position + 1]), position + 1
    return rf"(?![/])[{sign}{inside}]", position + 1


def _in_set(char: str) -> str:
    if not char:
        raise ValueError("the set does not end")
    return f"\\{char}" if char in "\\]^-[&~|" else char
