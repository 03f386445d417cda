"""What a command text touches: the proven script, the findings, and the files they name."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from detent.gate.paths import real
from detent.gate.shell.finder import agrees, find
from detent.gate.shell.prover import prove
from detent.gate.shell.script import Findings, Script

MOST_FOLDERS = 20
MOST_NAMES = 4_000
"""Files of one text that are looked up on the disk."""
WRITERS = frozenset(
    {"tee", "cp", "mv", "rm", "rmdir", "touch", "truncate", "ln", "install", "dd", "mkdir", "patch",
     "chmod", "chown", "rsync", "sed", "shred", "unlink", "split", "mkfifo"}
)  # fmt: skip
_RECURSIVE = frozenset(
    {"rg", "find", "du", "tree", "tar", "zip", "rsync", "ag", "ack", "fd", "mv", "ln", "7z"}
)
_MAYBE_RECURSIVE = {
    "grep": "rR", "egrep": "rR", "fgrep": "rR", "ls": "R", "cp": "rRa", "diff": "r", "scp": "r",
    "chmod": "R", "chown": "R",
}  # fmt: skip
"""With the flags that make them so."""


class Look(Struct, frozen=True):
    script: Script | None
    """None when the text is not proven, or when the two ways to read it differ."""
    findings: Findings


@lru_cache(256)
def look(text: str) -> Look:
    script, findings = prove(text), find(text)
    return Look(script if script is not None and agrees(script, findings) else None, findings)


def names_of(word: str) -> Iterator[str]:
    """Files that a word may name: `x`, and the x of `-fx`, `--file=x`, `if=x`, `@x`, `HEAD:x`."""
    yield word
    if word.startswith("-"):
        yield word[2:]
    for mark in "=:@":
        if mark in word:
            yield word.partition(mark)[2]


def placed(words: Iterable[str], starts: Iterable[str], home: str) -> Iterator[str]:
    """Names as a shell would find them, from each of these folders."""
    starts = tuple(starts)
    for word in dict.fromkeys(words):
        if word and "\0" not in word:
            named = at_home(word, home)
            for start in starts:
                yield os.path.join(start, named)


def at_home(word: str, home: str) -> str:
    """Also behind the variables that everybody knows."""
    if word.startswith("$"):
        word = re.sub(r"^\$(?:HOME\b|\{HOME\})", "~", word)
        word = re.sub(r"^\$(?:PWD\b|\{PWD\})", ".", word)
    return home + word[1:] if word == "~" or word.startswith("~/") else word


def folders(text: str, cwd: str, home: str) -> tuple[str, ...]:
    """Where relative names of a text may start: the working folder, and wherever it goes. By name
    and by the place that a link leads to: `..` from there is another folder."""
    found = [cwd]
    for command in look(text).findings.commands:
        if command[0] in ("cd", "pushd"):
            target = next((word for word in command[1:] if not word.startswith("-")), home)
            gone = os.path.normpath(os.path.join(found[-1], at_home(target, home)))
            found.append(gone)
            if len(found) > MOST_FOLDERS:
                break
    return tuple(dict.fromkeys((*found, *map(real, found))))


def mentioned(findings: Findings) -> Iterator[str]:
    """Every file that a text names, targets of redirections included."""
    for word in (*findings.words, *findings.reads, *findings.writes):
        yield from names_of(word)


def changed(findings: Findings) -> Iterator[str]:
    """Files that a text writes: redirected to, or given to a program that writes."""
    yield from findings.writes
    for command in findings.commands:
        if command[0] in WRITERS:
            for word in command[1:]:
                yield from names_of(word)


def reads_below(command: tuple[str, ...]) -> bool:
    """Whether it reads, or takes along, what lies below the folders it names."""
    name = command[0]
    if name == "git":
        return "grep" in command[1:2]
    if name in _MAYBE_RECURSIVE:
        bundle = f"-[^-]*[{_MAYBE_RECURSIVE[name]}]|--(?:rec|dereference-rec|archive|directories)"
        return any(re.match(bundle, word) for word in command[1:])
    return name in _RECURSIVE
