"""Rules in a copy of a folder: what is said of a file is said of its copy."""

import os

from msgspec.structs import replace

from detent.gate.paths import real
from detent.gate.rules import READING, WRITING
from detent.gate.terms import Rule, RuleSet, Workspace


def with_copies(rules: RuleSet, original: str, copy: Workspace) -> RuleSet:
    """Each rule as it is, and as it reads in the copy, whose first root stands for the original."""

    def doubled(those: tuple[Rule, ...]) -> tuple[Rule, ...]:
        moved = (_moved(rule, original, copy) for rule in those)
        return (*those, *(rule for rule in moved if rule is not None))

    return RuleSet(allow=doubled(rules.allow), ask=doubled(rules.ask), deny=doubled(rules.deny))


def _moved(rule: Rule, original: str, copy: Workspace) -> Rule | None:
    """None where it would be the same."""
    if rule.tool not in READING | WRITING or not rule.what:
        return None
    what, origin = rule.what, rule.origin
    if what.startswith("~/"):
        what = f"/{os.path.join(copy.home, what[2:])}"
    if what.startswith("//"):
        place = counterpart(what[1:], original, copy.roots[0])
        return replace(rule, what=f"/{place}") if place else None
    if not what.startswith("/"):  # below the folder that the session began in, by any gate
        plain = what.removeprefix("./")
        below = plain if "/" in plain.rstrip("/") else f"**/{plain}"
        return None if plain.startswith("..") else replace(rule, what=f"/{copy.project}/{below}")
    place = counterpart(real(origin.folder), original, copy.roots[0]) if origin.folder else ""
    return replace(rule, origin=replace(origin, folder=place)) if place else None


def counterpart(path: str, original: str, copy: str) -> str:
    """The place in the copy that stands for this one; empty for a place outside."""
    if path == original:
        return copy
    inside = path.startswith(f"{original.rstrip('/')}/")
    return os.path.join(copy, path[len(original.rstrip("/")) + 1 :]) if inside else ""
