"""What commands run that are given to other commands: `sudo rm x`, `sh -c 'rm x'`, `find -exec`."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from detent.gate.shell.programs import INTERPRETERS, OPERANDS, RUNNERS, SHELLS
from detent.gate.shell.prover import RESERVED, is_assignment

Command = tuple[str, ...]
"""One simple command as its words, quotes removed."""

RUNNING = RUNNERS | SHELLS | {"find"}
_SAYING = frozenset(
    {"watch", "ssh", "su", "script", "parallel", "flock", "runuser", "entr", "trap", "sudo", "doas",
     "env", "eval", "systemd-run", "pkexec", "strace", "unshare", "nsenter"}
)  # fmt: skip
"""Of the runners, the ones that take a whole text as one word."""

_SPEAKERS = INTERPRETERS | {"make"}
"""A text among their arguments may hold a command."""

_GIVEN = frozenset({"xargs", "parallel"})
"""What they run gets more words than the text shows."""

_JOINED_VALUE = r"-[IinPLdsEa]."
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FILLED = "\ue000"
"""Stands before a word that the shell fills in; a private sign that nobody types."""

_DEEPEST = 100
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


class Inner(Struct, frozen=True):
    """What is behind a command."""

    commands: tuple[Command, ...] = ()
    texts: tuple[str, ...] = ()
    """To be read as shell text."""
    foreign: tuple[str, ...] = ()
    """Text of another language that may hold commands."""
    is_open: bool = False


def name_of(command: Sequence[str]) -> str:
    return command[0].rpartition("/")[2] or command[0]


def runs_filled_in(command: Command, is_literal: Sequence[bool]) -> bool:
    """Whether a program, or a text for a shell, that the command runs is filled in by the shell."""
    marked = tuple(w if sure else FILLED + w for w, sure in zip(command, is_literal, strict=True))
    stack = [inner(marked)]
    for _ in range(_DEEPEST):
        if not stack:
            return False
        found = stack.pop()
        if any(FILLED in run[0] for run in found.commands if run) or FILLED in "".join(found.texts):
            return True
        stack += map(inner, found.commands)
    return True


def beginning(words: Command) -> Command:
    """Without the assignments and keywords before the program."""
    at = 0
    while at < len(words) and (is_assignment(words[at]) or words[at] in RESERVED):
        at += 1
    return words[at:]


def inner(command: Command) -> Inner:
    """One step behind a command; the steps behind that are taken by whoever asks."""
    behind = beginning(command)
    if behind != command or not command:
        return Inner((behind,))
    name, words = name_of(command), command[1:]
    if name in SHELLS:
        return _shell(words)
    if name == "find":
        return _find(words)
    if name in ("source", "."):
        return Inner(is_open=True)
    if name == "trap":
        return Inner(texts=words[:2])
    if name == "eval":
        return Inner(texts=(" ".join(words),))
    if name in _SPEAKERS:
        return Inner(foreign=tuple(word for word in words if _is_text(word)))
    return _runner(name, words) if name in OPERANDS else Inner()


def _shell(words: Command) -> Inner:
    for place, word in enumerate(words):
        if word[:1] in "-+" and word[1:2] != "-" and "c" in word[1:]:
            texts = tuple(run[0] for run in _starts(words[place + 1 :], 0))
            return Inner(texts=texts, is_open=not texts)
    operands = [run[0] for run in _starts(words, 0)]
    stdin = not operands or not _STDIN.isdisjoint(operands)
    asked = any(word[:1] == "-" and word[1:2] != "-" and "s" in word for word in words)
    only_asks = words in (("--version",), ("--help",))
    return Inner(is_open=(stdin or asked) and not only_asks)


def _find(words: Command) -> Inner:
    runs: list[Command] = []
    for place, word in enumerate(words):
        if word in _FIND_RUNS:
            rest = words[place + 1 :]
            end = next((at for at, part in enumerate(rest) if part in (";", "+")), len(rest))
            runs.append(rest[:end])
    return Inner(tuple(filter(None, runs)), is_open=any("{}" in run[:1] for run in runs))


def _runner(name: str, words: Command) -> Inner:
    if name in _GIVEN:
        words = tuple(word for word in words if not re.match(_JOINED_VALUE, word))
    runs = tuple(_starts(words, OPERANDS[name]))
    if name == "time":
        runs = (words, *runs)  # a keyword: what stands behind it may look like anything
    texts: list[str] = []
    if name in _SAYING:
        texts += words
        texts += (word.partition("=")[2] or word[2:] for word in words if word[:1] == "-")
    if name == "ssh":
        texts.append(" ".join(words[1:]))
    gets_more = name in _GIVEN and any(map(_takes_any_program, runs))
    return Inner(runs, tuple(filter(_is_text, texts)), is_open=gets_more)


def _takes_any_program(run: Command) -> bool:
    """Whether words added to a command, or put into it, may say what runs."""
    name = name_of(run)
    return "{" in run[0] or name in SHELLS or (name in RUNNERS and not inner(run).commands)


def _starts(words: Command, operands: int) -> Iterator[Command]:
    """Where the inner command may begin: at the first word that is neither a flag, an assignment
    nor an operand. A word behind a flag may be the flag's value, so it is only a maybe."""
    follows_flag = False
    for place, word in enumerate(words):
        if word in ("-", "--"):  # `env -` is `env -i`
            follows_flag = False
        elif word[:1] in ("-", "+"):
            follows_flag = True
        elif not is_assignment(word):
            yield words[place:]
            if not follows_flag:
                if not operands:
                    return
                operands -= 1
            follows_flag = False


def _is_text(word: str) -> bool:
    return re.search(r"[\s;|&()`{}]", word) is not None
