"""The permission rules of a session as they count now, and why it would decide as it does."""

from typing import TYPE_CHECKING, Any

from detent.app.permissions.calls import read_call
from detent.app.permissions.explaining import Explanation, RuleList, RuleSeen
from detent.app.permissions.explaining import explain as _explain
from detent.gate.terms import FREE, Policy, Rule

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["Explanation", "RuleSeen", "explain_in", "notes_on_rules", "rules_in_force"]

OF_KIND = "the session runs as an agent that is held to less than its rules say"


def rules_in_force(session: "Session") -> tuple[RuleSeen, ...]:
    """The strictest list first; those that a person has agreed to in this session are among
    them."""
    rules = session._engine.gate.rules
    lists: tuple[tuple[RuleList, tuple[Rule, ...]], ...] = (
        ("deny", rules.deny),
        ("ask", rules.ask),
        ("allow", rules.allow),
    )
    return tuple(
        RuleSeen(rule.text, name, rule.origin.scope, rule.origin.path, rule.origin.line)
        for name, each in lists
        for rule in each
    )


def explain_in(session: "Session", call: str) -> Explanation:
    """What the session's own gate would say to `TOOL(INPUT)`, by its rules, mode and folder of
    now. Runs nothing. Raises BadInput."""
    return explain_call_in(session, *read_call(call))


def explain_call_in(session: "Session", tool: str, given: dict[str, Any]) -> Explanation:
    """The same of a call that is no text."""
    engine = session._engine
    gate, wishes = engine.gate, engine.grounds.settings.sandbox
    policy = Policy(
        gate.rules,
        gate.mode,
        gate.workspace.at(session.cwd),
        trusts_sandbox=gate.trusts_sandbox,
    )
    is_held = wishes is not None and wishes.auto_allow and session.options.sandbox != "off"
    notices = () if gate.limits == FREE else (OF_KIND,)
    return _explain(policy, tool, given, notices=notices, by_sandbox=is_held)


def notes_on_rules(session: "Session") -> tuple[str, ...]:
    """What of the permissions in settings does not count, and why."""
    notices = session._engine.grounds.settings.notices
    return tuple(text for text in notices if "permissions" in text or "allow rules" in text)
