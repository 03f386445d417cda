"""What the settings say of the terminal: how it looks, what it runs for itself, how it speaks.

The keys are those of the ecosystem's files, and other programs write them too. So a word that we do
not know is worth a hint and counts for nothing; a value of the wrong kind is a mistake as anywhere.
"""

from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from detent.app.settings.values import Values, number, switch, table, text, texts, whole
from detent.types.errors import BadInput

EditorMode = Literal["normal", "vim"]
Screen = Literal["inline", "fullscreen"]
Channel = Literal[
    "auto", "terminal_bell", "osc9", "iterm2", "iterm2_with_bell", "kitty", "ghostty",
    "notifications_disabled",
]  # fmt: skip
EDITORS: tuple[EditorMode, ...] = ("normal", "vim")
SCREENS: dict[str, Screen] = {
    "inline": "inline",
    "default": "inline",
    "fullscreen": "fullscreen",
}
"""Ours by whatever name."""
CHANNELS: tuple[Channel, ...] = (
    "auto", "terminal_bell", "osc9", "iterm2", "iterm2_with_bell", "kitty", "ghostty",
    "notifications_disabled",
)  # fmt: skip
Word = TypeVar("Word", bound=str)


class StatusLine(Struct, frozen=True):
    """A command whose output stands below the prompt; sdk/status_line.py says what it is told."""

    command: str
    padding: int = 0
    """Blanks to its left."""
    refresh_interval: float = 0.0
    """Seconds after which it is run again though nothing has happened; 0 is never."""


class SpinnerVerbs(Struct, frozen=True):
    verbs: tuple[str, ...]
    mode: Literal["append", "replace"] = "append"


class InterfaceWishes(Struct, frozen=True):
    """As usual where nothing is said."""

    theme: str = ""
    editor_mode: EditorMode = "normal"
    status_line: StatusLine | None = None
    output_style: str = ""
    """As it was written, whether there is such a style or not."""
    preferred_notif_channel: Channel = "auto"
    spinner_verbs: SpinnerVerbs | None = None
    spinner_tips_enabled: bool = True
    screen_reader: bool = False
    """One line after another, and nothing that moves."""
    reduced_motion: bool = False
    show_thinking_summaries: bool = False
    verbose: bool = False
    respect_gitignore: bool = True
    """What git ignores is not offered as a file to mention."""
    file_suggestion: str = ""
    """A command that names files for what was typed behind `@`."""
    tui: Screen = "inline"


def interface_wishes(
    values: Values, name: str, old: InterfaceWishes
) -> tuple[InterfaceWishes, list[str]]:
    """And what of it counts for nothing."""
    hints: list[str] = []

    def one_of(key: str, known: dict[str, Word], before: Word) -> Word:
        word = text(values, key, name)
        if word and word not in known:
            hints.append(f"{name}: {key} {word[:80]!r} is not known, and does nothing")
        return known.get(word, before)

    def is_on(key: str, before: bool) -> bool:
        return switch(values, key, name, before)

    calm = is_on("prefersReducedMotion", old.reduced_motion)
    wishes = replace(
        old,
        theme=text(values, "theme", name) or old.theme,
        editor_mode=one_of("editorMode", {word: word for word in EDITORS}, old.editor_mode),
        status_line=_status_line(values, name, old.status_line, hints),
        output_style=text(values, "outputStyle", name) or old.output_style,
        preferred_notif_channel=one_of(
            "preferredNotifChannel",
            {word: word for word in CHANNELS},
            old.preferred_notif_channel,
        ),
        spinner_verbs=_verbs(values, name, old.spinner_verbs),
        spinner_tips_enabled=is_on("spinnerTipsEnabled", old.spinner_tips_enabled),
        screen_reader=is_on("screenReader", old.screen_reader),
        reduced_motion=is_on("reducedMotion", calm),
        show_thinking_summaries=is_on("showThinkingSummaries", old.show_thinking_summaries),
        verbose=is_on("verbose", old.verbose),
        respect_gitignore=is_on("respectGitignore", old.respect_gitignore),
        file_suggestion=_command(values, "fileSuggestion", name, hints) or old.file_suggestion,
        tui=one_of("tui", SCREENS, old.tui),
    )
    return wishes, hints


def _status_line(
    values: Values, name: str, old: StatusLine | None, hints: list[str]
) -> StatusLine | None:
    command = _command(values, "statusLine", name, hints)
    if not command:
        return old
    given, inside = table(values, "statusLine", name), f"{name}: statusLine"
    padding = whole(given, "padding", inside, 0) or 0
    interval = number(given, "refreshInterval", inside, 0.0) or 0.0
    return StatusLine(command, padding, float(interval))


def _command(values: Values, key: str, name: str, hints: list[str]) -> str:
    """Of `{"type": "command", "command": …}`; empty where nothing of that kind is said."""
    if values.get(key) is None:
        return ""
    given = table(values, key, name)
    kind = text(given, "type", f"{name}: {key}") or "command"
    if kind != "command":
        hints.append(f"{name}: {key} of type {kind[:80]!r} is not known, and does nothing")
        return ""
    return text(given, "command", f"{name}: {key}").strip()


def _verbs(values: Values, name: str, old: SpinnerVerbs | None) -> SpinnerVerbs | None:
    """A list, or `{"mode": "replace", "verbs": […]}`."""
    given: Any = values.get("spinnerVerbs")
    if given is None:
        return old
    if isinstance(given, list):
        given = {"verbs": given}
    if not isinstance(given, dict):
        raise BadInput(f"{name}: spinnerVerbs must be a list of strings, or an object with verbs")
    inside = f"{name}: spinnerVerbs"
    verbs = tuple(filter(None, map(str.strip, texts(given, "verbs", inside))))
    mode = text(given, "mode", inside)
    if mode not in ("", "append", "replace"):
        raise BadInput(f"{inside}: mode is one of append, replace, not {mode!r}")
    return SpinnerVerbs(verbs, "replace" if mode == "replace" and verbs else "append")
