"""What an edit has made wrong: the faults of a file that were not there before."""

from collections import Counter

from detent.tools.language.answers import fault_line, message_of, more, severity_of
from detent.tools.language.messages import WARNING, Diagnostic

MOST_SHOWN = 10

Key = tuple[int, str, str]
"""Severity, message and source line: an edit above moves a fault, but does not make it new."""


def keys(faults: tuple[Diagnostic, ...], lines: list[str]) -> Counter[Key]:
    return Counter(_key(fault, lines) for fault in faults)


def added(
    before: Counter[Key], faults: tuple[Diagnostic, ...], lines: list[str]
) -> list[Diagnostic]:
    """Errors, then warnings, each in the order of the file."""
    known, new = Counter(before), []
    for fault in faults:
        key = _key(fault, lines)
        if known[key]:
            known[key] -= 1
        elif severity_of(fault) <= WARNING:
            new.append(fault)
    return sorted(new, key=lambda fault: (severity_of(fault), fault.range.start.line))


def told(path: str, new: list[Diagnostic], lines: list[str], encoding: str) -> str:
    if not new:
        return ""
    shown = [fault_line(fault, lines, encoding) for fault in new[:MOST_SHOWN]]
    return "\n  ".join([f"New diagnostics in {path}:", *shown, *more(len(new), MOST_SHOWN)])


def _key(fault: Diagnostic, lines: list[str]) -> Key:
    line = fault.range.start.line
    text = lines[line].strip() if line < len(lines) else ""
    return severity_of(fault), message_of(fault), text
