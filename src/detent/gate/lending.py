"""Rules that hold for a while: those of a command, for the turn that it begins."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from detent.gate.gate import Gatekeeper
from detent.gate.terms import Rule


@contextmanager
def lent(gate: Gatekeeper, allow: Sequence[str], deny: Sequence[str] = ()) -> Iterator[None]:
    """Exactly these are taken back: what people agree to meanwhile stays. Raises BadInput."""
    allowed = tuple(map(gate.agreed, allow if gate.takes_allow_rules else ()))
    denied = tuple(map(gate.agreed, deny))
    if not allowed and not denied:
        yield
        return
    rules = gate.rules
    gate.go_by(replace(rules, allow=(*rules.allow, *allowed), deny=(*denied, *rules.deny)))
    try:
        yield
    finally:
        rules = gate.rules
        gate.go_by(
            replace(rules, allow=_without(rules.allow, allowed), deny=_without(rules.deny, denied))
        )


def _without(rules: tuple[Rule, ...], some: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Not by what they say: somebody else may have said the same."""
    gone = {id(rule) for rule in some}
    return tuple(rule for rule in rules if id(rule) not in gone)
