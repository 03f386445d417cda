"""Whether the words of a rule fit those of a command.

`x:*` and `x *` are the words of x and then anything; a `*` elsewhere is any text inside the one
command; without a `*` the words must be exactly those of the rule.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from detent.gate.shell.prover import prove

_FILLED_IN = frozenset("$`*?[{~")
"""Signs for which the shell may put other text, and more words."""


class WordsRule(Struct, frozen=True):
    words: tuple[str, ...]
    """Those that a command begins with."""
    open_end: bool
    """Anything may follow."""
    pattern: re.Pattern[str] | None = None
    """For a rule with a `*` elsewhere: what the whole command looks like."""


@lru_cache(1024)
def read(what: str) -> WordsRule:
    open_end = what.endswith((":*", " *"))
    stem = what[:-2] if open_end else what
    if "*" not in stem:
        return WordsRule(_words(stem), open_end)
    pattern = re.escape(" ".join(stem.split())).replace(r"\*", ".*")
    first = stem.partition("*")[0]
    whole_words = first.split() if first.endswith((" ", "\t")) else first.split()[:-1]
    behind = "(?: .*)?" if open_end else ""
    return WordsRule(tuple(whole_words), True, re.compile(pattern + behind, re.DOTALL))


def _words(stem: str) -> tuple[str, ...]:
    """A rule may quote as a command does."""
    script = prove(stem)
    if script is not None and len(script.commands) == 1:
        only = script.commands[0]
        words = (*only.assignments, *only.words)
        if not only.redirections and all(word.is_literal for word in words):
            return tuple(word.text for word in words)
    return tuple(stem.split())


def fits(what: str, command: Sequence[str]) -> bool:
    rule = read(what)
    if rule.pattern is not None:
        return rule.pattern.fullmatch(" ".join(command)) is not None
    start = tuple(command[: len(rule.words)])
    return start == rule.words and (rule.open_end or len(command) == len(rule.words))


def might_fit(what: str, command: Sequence[str]) -> bool:
    """Whether it could once the shell has filled in what is left open in the command."""
    rule = read(what)
    for wanted, word in zip(rule.words, command, strict=False):
        if not _FILLED_IN.isdisjoint(word):
            return True
        if wanted != word:
            return False
    further = command[len(rule.words) :]
    return (
        bool(further)
        and any(not _FILLED_IN.isdisjoint(word) for word in further)
        and (rule.pattern is not None or not rule.open_end)
    )
