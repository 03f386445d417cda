"""Programs that run other programs: through which of them an allow rule looks, and which it never
covers together with what they run."""

import re

from detent.gate.shell.programs import RUNNERS, SHELLS, WRAPPERS
from detent.gate.shell.script import Word

HARMLESS_VARIABLES = frozenset(
    {"NODE_ENV", "CI", "LANG", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
     "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "RUST_BACKTRACE", "RUST_LOG", "GOOS", "GOARCH",
     "CGO_ENABLED"}
)  # fmt: skip
_FROM_INPUT = Word("$INPUT", is_literal=False)
"""What xargs adds to a command: nobody knows what."""

_USUAL_FOLDERS = ("/bin/", "/usr/bin/")
_DURATION = r"[0-9]+(\.[0-9]+)?[smhd]?"
_FINDS_RUNNING = ("-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from")
_VALUED = {
    "timeout": ("-k", "-s", "--signal", "--kill-after"),
    "nice": ("-n", "--adjustment"),
    "stdbuf": ("-i", "-o", "-e"),
}
"""Flags of wrappers that may stand there, with the value that follows."""
_PLAIN_FLAGS = {
    "timeout": ("--preserve-status", "--foreground", "-v", "--verbose"),
    "time": ("-p",),
    "command": ("-p",),
}


def variable(assignment: str) -> str:
    return re.split(r"\+?=", assignment, maxsplit=1)[0]


def is_harmless_assignment(word: Word) -> bool:
    name = variable(word.text)
    return name in HARMLESS_VARIABLES or name.startswith("LC_")


def unwrapped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """What a command runs behind the wrappers that an allow rule looks through; the command itself
    where that is not certain."""
    while len(words) > 1 and words[0].is_literal:
        name = words[0].text
        if name == "xargs" and words[1].is_literal and not words[1].text.startswith("-"):
            rest = (*words[1:], _FROM_INPUT)
        elif name in WRAPPERS:
            rest = _behind(name, words[1:])
        else:
            return words
        if not rest:
            return words
        words = rest
    return words


def _behind(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Past the known flags of a wrapper; nothing when there is another one."""
    at = 0
    while at < len(words) and words[at].is_literal and words[at].text.startswith("-"):
        flag = words[at].text
        valued = _VALUED.get(name, ())
        if flag in _PLAIN_FLAGS.get(name, ()) or _is_joined(flag, valued):
            at += 1
        elif flag in valued:
            at += 2
        else:
            return ()
    if name == "timeout":
        if at >= len(words) or re.fullmatch(_DURATION, words[at].text) is None:
            return ()
        at += 1
    rest = words[at:]
    return rest if rest and rest[0].is_literal and not rest[0].text.startswith("-") else ()


def _is_joined(flag: str, valued: tuple[str, ...]) -> bool:
    """`-oL`, `--signal=TERM`, and the old form `nice -5`."""
    if flag.startswith("--"):
        return flag.partition("=")[0] in valued and "=" in flag
    return (flag[:2] in valued and len(flag) > 2) or (bool(valued) and flag[1:].isdigit())


def program(word: str) -> str:
    """The bare name of a program that stands where programs usually do; else the word itself."""
    folder, slash, name = word.rpartition("/")
    return name if slash and f"{folder}/" in _USUAL_FOLDERS else word


def runs_its_arguments(words: tuple[str, ...]) -> bool:
    """A rule with a `*` for such a program does not cover what it runs."""
    name = words[0].rpartition("/")[2]
    if name == "find":
        return any(word.startswith(_FINDS_RUNNING) for word in words[1:])
    if name in SHELLS:
        return any(word[:1] == "-" and "c" in word for word in words[1:])
    return name in RUNNERS
