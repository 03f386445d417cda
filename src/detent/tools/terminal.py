"""Program output as plain text: what a terminal would obey is taken out, what it shows stays."""

import re

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    # OSC, DCS and other strings, to their terminator. One that has none is not a string: it must
    # not hide what comes behind it.
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*[0-~]?"  # two-character escapes, and a lone ESC
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    if text.isprintable():  # most short output: one line and nothing to do
        return text
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    if "\r" in text:  # a line drawn over becomes lines of its own: nothing said is hidden
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text)
