"""`detent man`: the manual page, from the same data as the help."""

import re
from collections.abc import Iterable, Iterator

from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.flags import Flag
from detent.surfaces.cli.help import (
    ABOUT,
    CALLS,
    EXIT_CODES,
    SUBCOMMANDS,
    flags_of,
    sections,
)
from detent.surfaces.cli.sessions import write_for_people
from detent.types.errors import BadInput
from detent.types.version import VERSION

DESCRIPTION = (
    "Detent is a coding agent for the terminal. It reads and changes files, runs commands and asks"
    " before it does what was not allowed. What it does is kept in a log, from which a session goes"
    " on, is undone, forked and replayed.",
    "Without -p it opens an interactive session in the current folder; words on the command line"
    " are its first prompt. With -p it runs one turn and prints the answer.",
)
ENVIRONMENT = {
    "ANTHROPIC_API_KEY, OPENAI_API_KEY": "Keys to models; other providers have variables, too.",
    "ANTHROPIC_BASE_URL, OPENAI_BASE_URL": "Where they are, if not at the usual address.",
    "DETENT_MODEL": "The model, unless --model names one.",
    "DETENT_HOME": "Where sessions and settings are kept: ~/.detent.",
    "NO_COLOR": "No colours.",
    "VISUAL, EDITOR": "The editor for prompts.",
}
FILES = {
    "~/.detent/settings.json": "Your settings.",
    ".detent/settings.json, .claude/settings.json": "Those of a project.",
    "AGENTS.md, CLAUDE.md": "Memory: how to work in a folder.",
    "~/.detent/sessions/": "The logs of sessions.",
}
ESCAPES = {
    "\\": "\\e",
    "-": "\\-",
    "'": "\\(aq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
}
_ITEM = re.compile(r" {0,4}(\S.*?) {2,}(\S.*)")
"""A line of a help text: what to type, and what it does."""


def man(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent man takes no words; not {' '.join(words)!r}")
    return write_for_people(page())


def page() -> list[str]:
    return [
        f'.TH DETENT 1 "" "detent {VERSION}" "User Commands"',
        *_section("NAME", ["detent \\- a coding agent for the terminal"]),
        *_section("SYNOPSIS", _synopsis()),
        *_section("DESCRIPTION", [line for text in DESCRIPTION for line in (".PP", escaped(text))]),
        *_section("EXAMPLES", _items((call, f"{about}.") for call, about in CALLS)),
        *_section("SUBCOMMANDS", _subcommands()),
        *_section("OPTIONS", _options()),
        *_section("KEYS", ["In the interactive session:", *_items(_keys())]),
        *_section("EXIT STATUS", [escaped(" ".join(EXIT_CODES.split()))]),
        *_section("ENVIRONMENT", _items(ENVIRONMENT.items())),
        *_section("FILES", _items(FILES.items())),
    ]


def escaped(text: str) -> str:
    """A text as roff takes it: a dash that can be copied, no line that is a command, and nothing
    but ASCII, whatever the page goes through."""
    plain = "".join(ESCAPES.get(char) or _ascii(char) for char in text)
    return f"\\&{plain}" if plain.startswith(".") else plain


def _ascii(char: str) -> str:
    return char if char.isascii() else f"\\[u{ord(char):04X}]"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f".SH {title}"
    yield from lines


def _synopsis() -> Iterator[str]:
    for call in ("[FLAGS] [PROMPT]", "-p [FLAGS] [PROMPT]", "SUBCOMMAND [FLAGS]"):
        yield ".br"
        yield f".B detent\n{escaped(call)}"


def _items(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, about in pairs:
        yield ".TP"
        yield f"\\fB{escaped(name)}\\fR"
        yield escaped(about)


def _subcommands() -> Iterator[str]:
    for name, about in ABOUT.items():
        yield f".SS detent {name}"
        if name not in SUBCOMMANDS:
            yield escaped(f"{about[0].upper()}{about[1:]}.")
            continue
        yield from _told(SUBCOMMANDS[name])
        yield from _flags(flags_of(name))


def _told(text: str) -> Iterator[str]:
    """A help text, to be set in lines of any width."""
    for line in text.rstrip("\n").split("\n"):
        if match := _ITEM.fullmatch(line):
            yield from _items([(match[1], match[2])])
        elif line.startswith("     "):
            yield escaped(line.strip())  # goes on with the item above
        elif line:
            yield from (".PP", escaped(line))


def _options() -> Iterator[str]:
    for heading, flags in sections():
        yield f".SS {escaped(heading)}"
        yield from _flags(flags)


def _flags(flags: Iterable[Flag]) -> Iterator[str]:
    for flag in flags:
        names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in (*flag.aliases, flag.name))
        value = f" \\fI{escaped(flag.metavar)}\\fR" if flag.metavar else ""
        yield ".TP"
        yield names + value
        yield escaped(flag.help)


def _keys() -> list[tuple[str, str]]:
    from detent.surfaces.tui.editing.keys import listed

    return listed()
