"""Shell commands, read strictly: only what is understood completely is ever called proven.

This first form knows words, quotes, `&&`, `||`, `;`, `|`, newlines and harmless redirections.
Everything else (expansions, substitutions, globs, groups, here-documents) is not provable, and
what is not provable is never allowed silently.
"""

import re

LONGEST = 10_000
_JOINS = ("&&", "||", "|")
_HARMLESS_REDIRECTIONS = (
    "2>&1", "1>&2", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null", "&>/dev/null",
)  # fmt: skip
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-^")
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Characters that nobody sees, though Python calls them printable."""

RESERVED = frozenset(
    {"!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi",
     "for", "function", "if", "in", "select", "then", "until", "while"}
)  # fmt: skip
WRAPPERS = frozenset({"timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin"})
_HARMLESS_VARIABLES = frozenset(
    {"NODE_ENV", "CI", "LANG", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
     "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "RUST_BACKTRACE", "RUST_LOG", "GOOS", "GOARCH",
     "CGO_ENABLED"}
)  # fmt: skip
# Expressions are compiled on first use: a start that runs no command does not pay for them.
_ASSIGNMENT = r"([A-Za-z_][A-Za-z0-9_]*)\+?="
_DURATION = r"[0-9]+(\.[0-9]+)?[smhd]?"

Command = tuple[str, ...]
"""One simple command as its words, quotes removed."""


def prove(text: str) -> tuple[Command, ...] | None:
    """All simple commands of a text, or None when any part of it is not understood."""
    if len(text) > LONGEST or not _is_clear(text):
        return None
    commands: list[Command] = []
    words: list[str] = []
    position, joined = 0, False
    while position < len(text):
        if text[position] in " \t":
            position += 1
        elif skipped := _redirection(text, position):
            position += skipped
        elif skipped := _starts(text, position, (*_JOINS, ";", "\n")):
            mark = text[position : position + skipped]
            if (not words and mark != "\n") or text.startswith((";&", ";;"), position):
                return None  # bash would refuse it, too
            if words:
                commands.append(tuple(words))
                words, joined = [], mark in _JOINS
            position += skipped
        else:
            word, end = _word(text, position)
            if word is None or not _may_stand(word, text[position:end], words):
                return None
            words.append(word)
            position, joined = end, False
    if words:
        commands.append(tuple(words))
    return tuple(commands) or None if not joined else None


def _is_clear(text: str) -> bool:
    """No control, invisible or direction-changing character: what is shown is what runs."""
    shown = text.replace("\t", " ").replace("\n", " ")
    return shown.isprintable() and (text.isascii() or _INVISIBLE.isdisjoint(text))


def _starts(text: str, position: int, marks: tuple[str, ...]) -> int:
    return next((len(mark) for mark in marks if text.startswith(mark, position)), 0)


def _redirection(text: str, position: int) -> int:
    """Only if its target ends there: `2>/dev/nullx` is another file."""
    length = _starts(text, position, _HARMLESS_REDIRECTIONS)
    behind = text[position + length : position + length + 1]
    return length if behind in ("", " ", "\t", "\n", ";", "|", "&") else 0


def _may_stand(word: str, raw: str, before: list[str]) -> bool:
    """At the place of the program: no keyword, job, look-alike, or assignment made of quotes."""
    if not all(map(is_assignment, before)):
        return True
    if word in RESERVED or not word.isascii() or word.startswith("%"):
        return False
    match = re.match(_ASSIGNMENT, word)
    return match is None or raw.startswith(match.group())


def _word(text: str, position: int) -> tuple[str | None, int]:
    """One word and where it ends; None when it holds anything that is not literal."""
    parts: list[str] = []
    while position < len(text):
        char = text[position]
        if char in _PLAIN:
            parts.append(char)
            position += 1
        elif char in "'\"":
            end = text.find(char, position + 1)
            inner = text[position + 1 : end]
            if end < 0 or (char == '"' and any(special in inner for special in "$`\\!")):
                return None, position
            parts.append(inner)
            position = end + 1
        elif char in " \t\n;|" or text.startswith("&&", position):
            break
        else:
            return None, position
    word = "".join(parts)
    return word, position


def is_assignment(word: str) -> bool:
    return re.match(_ASSIGNMENT, word) is not None


def unwrapped(command: Command) -> Command:
    """What a proven command runs behind the wrappers that an allow rule may look through."""
    while command and is_assignment(command[0]):
        name = re.match(_ASSIGNMENT, command[0])
        if name is None or not (name[1] in _HARMLESS_VARIABLES or name[1].startswith("LC_")):
            return command
        command = command[1:]
    while command and command[0] in WRAPPERS:
        rest = command[1:]
        if command[0] == "timeout":
            if not rest or re.fullmatch(_DURATION, rest[0]) is None:
                return command
            rest = rest[1:]
        if not rest or rest[0].startswith("-"):
            return command
        command = rest
    return command
