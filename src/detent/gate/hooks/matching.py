"""Which hooks an event is for."""

import re

_NAMES = re.compile(r"[A-Za-z0-9_ ,|-]+")


def matches(matcher: str, subject: str | None) -> bool:
    """Empty or `*` is everything; plain names are exact, anything else a pattern that may be
    found anywhere. An event with nothing to choose by is for every hook."""
    if matcher in ("", "*") or subject is None:
        return True
    if _NAMES.fullmatch(matcher):
        return subject in re.split(r"[ ,|]+", matcher)
    return re.search(matcher, subject) is not None


def fault_in(matcher: str) -> str:
    """What is wrong with it; empty when nothing is."""
    if _NAMES.fullmatch(matcher) or matcher in ("", "*"):
        return ""
    try:
        re.compile(matcher)
    except re.error as error:
        return f"the matcher {matcher!r} is no regular expression: {error}"
    return ""
