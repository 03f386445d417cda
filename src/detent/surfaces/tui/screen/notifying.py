"""Making the person look: the terminal's bell, or a notice of the desktop through it."""

from collections.abc import Mapping

from detent.surfaces.wording.shown import shown

BELL = "\a"
KNOW_OSC9 = ("iTerm.app", "WezTerm", "ghostty", "WarpTerminal")


def notice(channel: str, text: str, environ: Mapping[str, str]) -> str:
    """What to write. In tmux a sequence must be wrapped to come through."""
    if channel == "notifications_disabled":
        return ""
    if channel == "auto":
        channel = "osc9" if _knows_osc9(environ) else "terminal_bell"
    line = " ".join(shown(text).split())[:200]
    match channel:
        case "osc9" | "iterm2" | "ghostty":
            return _through(f"\x1b]9;{line}\a", environ)
        case "iterm2_with_bell":
            return _through(f"\x1b]9;{line}\a", environ) + BELL
        case "kitty":
            return _through(f"\x1b]99;;{line}\x1b\\", environ)
        case _:
            return BELL


def _knows_osc9(environ: Mapping[str, str]) -> bool:
    return environ.get("TERM_PROGRAM") in KNOW_OSC9 or "WT_SESSION" in environ


def _through(sequence: str, environ: Mapping[str, str]) -> str:
    if not environ.get("TMUX"):
        return sequence
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
