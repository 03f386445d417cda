"""What roles look like: escape codes by theme. Nothing relies on colour alone."""

from collections.abc import Mapping

from msgspec import Struct

from detent.types.errors import BadInput

RESET = "\x1b[0m"

PLAIN = {
    "strong": "1", "faint": "2", "italic": "3", "underlined": "4", "chosen": "7", "struck": "9",
    "heading": "1", "link": "4", "prompt": "1", "bad": "1", "added_part": "1", "removed_part": "1",
    "asking": "1",
}  # fmt: skip
"""No colour, as `NO_COLOR` wants it."""

_ANSI = {
    **PLAIN,
    "faint": "90", "accent": "36", "good": "32", "warning": "33", "bad": "31", "asking": "1;33",
    "added": "32", "removed": "31", "added_part": "1;4;32", "removed_part": "1;4;31",
    "code": "36", "heading": "1;36", "link": "4;34", "prompt": "1;36", "quote": "3;90",
    "mode_default": "90", "mode_acceptEdits": "35", "mode_plan": "36", "mode_auto": "33",
    "mode_dontAsk": "34", "mode_bypassPermissions": "31",
    "keyword": "35", "string": "32", "number": "33", "comment": "3;90", "name": "34",
    "builtin": "36",
}  # fmt: skip
_DARK = {
    **_ANSI,
    "faint": "38;5;245", "accent": "38;5;80", "good": "38;5;114", "warning": "38;5;215",
    "bad": "38;5;203", "asking": "1;38;5;215", "added": "38;5;114", "removed": "38;5;203",
    "added_part": "38;5;231;48;5;28", "removed_part": "38;5;231;48;5;124",
    "code": "38;5;116", "heading": "1;38;5;80", "link": "4;38;5;75", "prompt": "1;38;5;80",
    "quote": "3;38;5;245",
    "mode_default": "38;5;245", "mode_acceptEdits": "38;5;177", "mode_plan": "38;5;80",
    "mode_auto": "38;5;215", "mode_dontAsk": "38;5;75", "mode_bypassPermissions": "1;38;5;203",
    "keyword": "38;5;176", "string": "38;5;114", "number": "38;5;215", "comment": "3;38;5;245",
    "name": "38;5;75", "builtin": "38;5;80",
}  # fmt: skip
_LIGHT = {
    **_DARK,
    "faint": "38;5;243", "accent": "38;5;30", "good": "38;5;28", "warning": "38;5;130",
    "bad": "38;5;160", "asking": "1;38;5;130", "added": "38;5;28", "removed": "38;5;160",
    "added_part": "38;5;16;48;5;157", "removed_part": "38;5;16;48;5;217",
    "code": "38;5;24", "heading": "1;38;5;30", "link": "4;38;5;26", "prompt": "1;38;5;30",
    "quote": "3;38;5;243",
    "mode_default": "38;5;243", "mode_acceptEdits": "38;5;90", "mode_plan": "38;5;30",
    "mode_auto": "38;5;130", "mode_dontAsk": "38;5;26", "mode_bypassPermissions": "1;38;5;160",
    "keyword": "38;5;90", "string": "38;5;28", "number": "38;5;130", "comment": "3;38;5;243",
    "name": "38;5;26", "builtin": "38;5;30",
}  # fmt: skip
_SEEN_BY_ALL_DARK = {
    "good": "38;5;75", "bad": "38;5;214", "added": "38;5;75", "removed": "38;5;214",
    "added_part": "38;5;231;48;5;25", "removed_part": "38;5;16;48;5;214", "string": "38;5;75",
    "name": "38;5;153", "warning": "38;5;227", "asking": "1;38;5;227",
    "mode_bypassPermissions": "1;38;5;214", "mode_auto": "38;5;227",
}  # fmt: skip
"""Blue and orange, which people tell apart who do not see red and green apart."""
_SEEN_BY_ALL_LIGHT = {
    "good": "38;5;25", "bad": "38;5;130", "added": "38;5;25", "removed": "38;5;130",
    "added_part": "38;5;231;48;5;25", "removed_part": "38;5;16;48;5;215", "string": "38;5;25",
    "name": "38;5;54", "mode_bypassPermissions": "1;38;5;130",
}  # fmt: skip


class Theme(Struct, frozen=True):
    name: str
    about: str
    codes: Mapping[str, str]

    def paint(self, role: str, text: str) -> str:
        """The text in this role; a role that the theme does not know is plain."""
        code = self.codes.get(role)
        return f"\x1b[{code}m{text}{RESET}" if code and text else text


THEMES = (
    Theme("dark", "For dark terminals", _DARK),
    Theme("light", "For light terminals", _LIGHT),
    Theme("dark-daltonized", "Dark, without red and green", _DARK | _SEEN_BY_ALL_DARK),
    Theme("light-daltonized", "Light, without red and green", _LIGHT | _SEEN_BY_ALL_LIGHT),
    Theme("ansi", "The sixteen colours of your terminal", _ANSI),
    Theme("plain", "No colour; bold, faint and underlined", PLAIN),
)
NONE = Theme("none", "Text alone", {})
"""For terminals that know no escapes, and for who listens to the screen."""


def theme_of(name: str, environ: Mapping[str, str]) -> Theme:
    """`NO_COLOR` counts before whatever is chosen. Raises BadInput for a name that none has."""
    if environ.get("NO_COLOR"):
        return _named("plain")
    if name and name != "auto":
        return _named(name)
    if not _knows_many_colours(environ):
        return _named("ansi")
    return _named("light" if _is_light(environ) else "dark")


def _named(name: str) -> Theme:
    for theme in THEMES:
        if theme.name == name:
            return theme
    raise BadInput(f"there is no theme {name!r}: {', '.join(theme.name for theme in THEMES)}")


def _knows_many_colours(environ: Mapping[str, str]) -> bool:
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return True
    kind = environ.get("TERM", "")
    return (
        "256" in kind or "direct" in kind or kind.startswith(("xterm-kitty", "alacritty", "foot"))
    )


def _is_light(environ: Mapping[str, str]) -> bool:
    """`COLORFGBG` is `foreground;background`, where a terminal tells."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdecimal() and int(background) in (7, 15)
