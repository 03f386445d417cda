"""The keys as data: what each does, for the keyboard and for the help that lists them."""

from msgspec import Struct


class Key(Struct, frozen=True):
    keys: tuple[str, ...]
    """As prompt_toolkit calls them; several are pressed one after the other."""
    action: str
    shown: str = ""
    about: str = ""
    """Empty: not listed."""
    when: str = ""
    """`empty`: nothing is typed; `running`: a turn runs."""


KEYS = (
    Key(("enter",), "send", "enter", "send; while it works: say it after the current call"),
    Key(("tab",), "tab", "tab", "complete; while it works: queue for after the turn"),
    Key(("c-j",), "newline", "ctrl+j", "new line (also shift+enter, alt+enter, \\ then enter)"),
    Key(("escape", "enter"), "newline"),
    Key(("escape",), "escape", "esc", "interrupt; twice: go back to an earlier prompt"),
    Key(("c-c",), "cancel", "ctrl+c", "clear, or interrupt; twice: leave"),
    Key(("c-d",), "leave", "ctrl+d", "leave", when="empty"),
    Key(("s-tab",), "mode", "shift+tab", "next permission mode"),
    Key(("up",), "up", "↑ ↓", "earlier prompts"),
    Key(("down",), "down"),
    Key(("c-r",), "search", "ctrl+r", "search in earlier prompts"),
    Key(("c-g",), "editor", "ctrl+g", "write in your editor ($VISUAL, $EDITOR)"),
    Key(("c-s",), "stash", "ctrl+s", "put what is typed aside, and back"),
    Key(("c-v",), "picture", "ctrl+v", "paste a picture from the clipboard"),
    Key(("escape", "up"), "take_back", "alt+↑", "take back what is queued"),
    Key(("c-b",), "background", "ctrl+b", "let the running command go on in the background",
        when="running"),
    Key(("c-t",), "todos", "ctrl+t", "show or hide the to-do list"),
    Key(("c-o",), "transcript", "ctrl+o", "the whole transcript, every detail"),
    Key(("escape", "t"), "thinking", "alt+t", "show or hide thinking"),
    Key(("c-l",), "redraw", "ctrl+l", "draw the screen again"),
    Key(("c-z",), "suspend", "ctrl+z", "suspend (fg comes back)"),
    Key(("?",), "keys", "?", "these keys", when="empty"),
)  # fmt: skip

SIGNS = (
    ("/", "commands"),
    ("@", "files and folders: @src/a.py, @src/a.py#L10-20"),
    (
        "!",
        "run a command yourself; told with your next prompt (!! tells nothing)",
    ),
    ("#", "remember something in a memory file"),
)
"""What the first character of a prompt, or of a word, means."""


def listed() -> list[tuple[str, str]]:
    return [*SIGNS, *((key.shown, key.about) for key in KEYS if key.about)]
