"""What can be typed where, from the same data as the parser and the help."""

from typing import Literal

from msgspec import Struct

from detent.surfaces.cli.flags import Flag
from detent.surfaces.cli.help import ABOUT, TAKEN, flags_of, sections

Takes = Literal["nothing", "words", "folder", "file", "session", "text"]

MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
WORDS = {"MODE": MODES, "FORM": ("md", "html", "json", "snapshot")}
"""By what the help calls a value: those there are, where the parser leaves it to others."""
ACTIONS = {
    "agents": ("list", "show", "tree"),
    "completion": ("bash", "zsh", "fish"),
    "help": tuple(ABOUT),
    "models": ("list", "json", "check", "pull", "remove"),
    "permissions": ("explain", "test", "replay", "suggest"),
    "sessions": ("list", "show", "search", "name", "delete", "export", "import", "reindex"),
}
"""What may come behind a subcommand."""
BEHIND: dict[Takes, tuple[str, ...]] = {
    "session": (
        "context ", "fork ", "replay ", "uncompact ", "agents tree", "sessions show",
        "sessions name", "sessions delete", "sessions export",
    ),
    "folder": ("init ", "trust "),
    "file": ("sessions import", "permissions test"),
}  # fmt: skip
"""What a subcommand takes, or one with its action."""


class Offer(Struct, frozen=True):
    """A flag, as a shell needs to know it."""

    names: tuple[str, ...]
    about: str
    takes: Takes
    words: tuple[str, ...] = ()
    is_optional: bool = False


class Offers(Struct, frozen=True):
    subcommands: dict[str, str]
    """With what they are for."""
    flags: tuple[Offer, ...]
    """Of a run."""
    own: dict[str, tuple[Offer, ...]]
    """Of subcommands."""


def offers() -> Offers:
    run = tuple(_offer(flag) for _, flags in sections() for flag in flags)
    own = {name: tuple(map(_offer, flags_of(name))) for name in TAKEN}
    return Offers({**ABOUT, "help": "this help, or that of a subcommand"}, run, own)


def only_there(found: Offers, subcommand: str) -> list[Offer]:
    """Flags of a subcommand that a run does not have, or that are another thing there."""
    return [one for one in found.own[subcommand] if one not in found.flags]


def _offer(flag: Flag) -> Offer:
    words = flag.choices or WORDS.get(flag.metavar, ())
    names = (flag.name, *flag.aliases)
    return Offer(names, flag.help, _takes(flag, words), words, flag.kind == "optional")


def _takes(flag: Flag, words: tuple[str, ...]) -> Takes:
    if flag.kind == "switch":
        return "nothing"
    if words:
        return "words"
    if flag.metavar == "DIR":
        return "folder"
    if "FILE" in flag.metavar:
        return "file"
    is_session = flag.metavar == "SESSION" or flag.name in ("--resume", "--sessions")
    return "session" if is_session else "text"
