"""What the gate says of a call. Joining two verdicts gives the stricter: order cannot matter."""

from typing import Any, Literal

from msgspec import Struct


class Ruling(Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True, gc=False):
    """Base of every verdict; `source` names the rule, mode, hook or person that decided."""

    source: str
    reason: str = ""


class Allow(Ruling, frozen=True):
    pass


class Ask(Ruling, frozen=True):
    rules: tuple[str, ...] = ()
    """Rules that would permit the call from now on, the narrowest first."""


class Deny(Ruling, frozen=True):
    pass


Verdict = Allow | Ask | Deny

_STRICTNESS: dict[type, int] = {Allow: 0, Ask: 1, Deny: 2}


def strictest(first: Verdict, *others: Verdict) -> Verdict:
    """The strictest of all; among equals the first, so that its reason is the one told."""
    return max((first, *others), key=lambda verdict: _STRICTNESS[type(verdict)])


class HookAnswer(Struct, frozen=True):
    """What a hook of the user has to say to an event."""

    decision: Literal["allow", "ask", "deny", "none"] = "none"
    reason: str = ""
    arguments: dict[str, Any] | None = None
    """Before a call: run with these arguments instead."""
    context: str = ""
    """Text for the model."""
    stop: str = ""
    """Ends the turn, with this reason."""
    message: str = ""
    """For people."""
    output: Any = None
    """After a call: what the model gets instead of its result."""
    ran: tuple[str, ...] = ()
    """Who has answered, by name."""
