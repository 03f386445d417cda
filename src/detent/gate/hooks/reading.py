"""The JSON that a hook answers with, read strictly: what cannot be understood decides nothing."""

from collections.abc import Mapping
from typing import Any, Literal

from detent.gate.hooks import HookAnswer
from detent.types.codec import encode

LONGEST = 10_000
"""Characters of one text."""

Decision = Literal["allow", "ask", "deny", "none"]
DECISIONS: dict[str, Decision] = {
    "allow": "allow",
    "ask": "ask",
    "deny": "deny",
    "defer": "ask",  # nobody takes up later what was put off: the person decides now
    "approve": "allow",
    "block": "deny",
    "": "none",
}
"""`approve` and `block` are the older spelling, and the one of events that are no calls."""


class BadAnswer(ValueError):
    """What is wrong with a hook's answer, as the rest of a sentence about the hook."""


class WrongEvent(BadAnswer):
    """It answers to another event than the one it was told."""


def read_answer(said: Mapping[str, Any], event: str) -> HookAnswer:
    special = _object(said, "hookSpecificOutput")
    named = special.get("hookEventName", event)
    if named != event:
        raise WrongEvent(f"answered to {named!r}, but the event was {event}")
    inner = _object(special, "decision")
    if inner:
        return _for_the_person(said, special, inner)
    return _joint(
        said,
        special,
        decision=_decision(special, "permissionDecision") or _decision(said, "decision") or "none",
        reason=_text(special, "permissionDecisionReason") or _text(said, "reason"),
        arguments=_changed(special),
        stop=_stop(said),
    )


def _for_the_person(
    said: Mapping[str, Any], special: Mapping[str, Any], inner: Mapping[str, Any]
) -> HookAnswer:
    """`decision: {behavior, …}` is the answer to a question that a person would get."""
    behavior = inner.get("behavior")
    if behavior not in ("allow", "deny"):
        raise BadAnswer(f"answered with the behavior {behavior!r}; known: allow, deny")
    reason, stop = _text(inner, "message"), _stop(said)
    if behavior == "deny" and inner.get("interrupt") is True:
        stop = stop or reason or "a hook ended the turn"
    return _joint(
        said,
        special,
        decision=DECISIONS[behavior],
        reason=reason,
        arguments=_changed(inner if "updatedInput" in inner else special),
        stop=stop,
    )


def _joint(
    said: Mapping[str, Any],
    special: Mapping[str, Any],
    *,
    decision: Decision,
    reason: str,
    arguments: dict[str, Any] | None,
    stop: str,
) -> HookAnswer:
    output = special.get("updatedToolOutput", special.get("updatedMCPToolOutput"))
    return HookAnswer(
        decision=decision,
        reason=reason,
        arguments=arguments,
        context=_text(special, "additionalContext") or _text(said, "additionalContext"),
        stop=stop,
        message=_text(said, "systemMessage"),
        output=output,
    )


def _stop(said: Mapping[str, Any]) -> str:
    going_on = said.get("continue", True)
    if not isinstance(going_on, bool):
        raise BadAnswer("answered with a `continue` that is neither true nor false")
    return "" if going_on else _text(said, "stopReason") or "a hook ended the turn"


def _decision(table: Mapping[str, Any], key: str) -> Decision | None:
    word = table.get(key) or ""
    if not isinstance(word, str) or word not in DECISIONS:
        known = ", ".join(name for name in DECISIONS if name)
        raise BadAnswer(f"answered with the {key} {word!r}; known: {known}")
    return DECISIONS[word] if word else None


def _changed(table: Mapping[str, Any]) -> dict[str, Any] | None:
    changed = table.get("updatedInput")
    if changed is not None and not isinstance(changed, dict):
        raise BadAnswer("answered with an updatedInput that is no object")
    return changed


def _object(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadAnswer(f"answered with a {key} that is no object")
    return value


def _text(table: Mapping[str, Any], key: str) -> str:
    """Any other value as it stands: a denial does not fail by how it gives its reason."""
    value = table.get(key)
    if value is None:
        return ""
    return capped(value if isinstance(value, str) else encode(value).decode())


def capped(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n[… {len(text) - LONGEST:,} more characters of the hook left out]"
