"""Rules to offer with a question, the narrowest first: none that permits more than it seems to."""

import re

from detent.gate.shell.programs import INTERPRETERS, RUNNERS, SHELLS
from detent.gate.shell.script import Simple, Word
from detent.gate.wrappers import (
    is_harmless_assignment,
    runs_its_arguments,
    unwrapped,
)

_NEVER = frozenset({"rm", "rmdir", "shred", "dd", "mkfs"})
"""What these remove is a question of its own each time."""
_NEVER_WIDE = INTERPRETERS | RUNNERS | SHELLS
"""They run what they are given: only the exact command is offered."""
_LONGEST = 200


def rules_for(simple: Simple) -> tuple[str, ...]:
    """For one part of a command: as it is, and with its first two words and anything behind."""
    plain = all(map(is_harmless_assignment, simple.assignments))
    words = unwrapped(simple.words) if plain else (*simple.assignments, *simple.words)
    texts = tuple(word.text for word in words)
    if not simple.words or not all(map(_can_be_written, words)):
        return ()
    name = (texts[0] if plain else simple.words[0].text).rpartition("/")[2]
    exact = f"Bash({' '.join(map(_quoted, texts))})"
    if name in _NEVER or len(exact) > _LONGEST:
        return ()
    is_wide = plain and len(texts) > 2 and re.fullmatch(r"[A-Za-z][\w:.-]*", texts[1], re.ASCII)
    if not is_wide or re.sub(r"[\d.]+$", "", name) in _NEVER_WIDE or runs_its_arguments(texts):
        return (exact,)
    return (exact, f"Bash({texts[0]} {texts[1]}:*)")


def _can_be_written(word: Word) -> bool:
    """A `*` in a rule would match anything, a line break would be hard to see."""
    return word.is_literal and not any(char in word.text for char in "*'\n\t")


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./=:,@%+^-]+", word, re.ASCII) else f"'{word}'"
