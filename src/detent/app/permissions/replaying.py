"""What another policy would have said to past calls."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from detent.app.permissions.calls import NotTaken, Proposer
from detent.app.permissions.cases import Answer, word_of
from detent.app.permissions.past import PastCall
from detent.app.permissions.policies import decided
from detent.gate.terms import Decision, Policy


class Change(Struct, frozen=True):
    session: str
    tool: str
    input: dict[str, Any]
    was: str
    """What became of it then, and by whom."""
    now: Answer
    """By the policy of today."""
    would_be: Answer
    rule: str | None
    """The one that would decide."""
    reason: str


class Replay(Struct, frozen=True):
    calls: int
    changed: int
    stricter: int
    looser: int
    unread: int
    """Calls that the tools of today do not take."""
    changes: tuple[Change, ...]


_STRICTNESS = ("allow", "ask", "deny")


def replay(calls: Sequence[PastCall], today: Policy, new: Policy) -> Replay:
    proposer, changes, unread = Proposer(), list[Change](), 0
    for call in calls:
        try:
            proposal = proposer.propose(call.tool, call.arguments, call.cwd, call.effects)
        except NotTaken:
            unread += 1
            continue
        now, then = decided(today, proposal), decided(new, proposal)
        if word_of(now.verdict) != word_of(then.verdict):
            changes.append(_change(call, now, then))
    stricter = sum(_STRICTNESS.index(c.would_be) > _STRICTNESS.index(c.now) for c in changes)
    return Replay(
        calls=len(calls),
        changed=len(changes),
        stricter=stricter,
        looser=len(changes) - stricter,
        unread=unread,
        changes=tuple(changes),
    )


def _change(call: PastCall, now: Decision, then: Decision) -> Change:
    return Change(
        session=call.session,
        tool=call.tool,
        input=call.arguments,
        was=f"{'allowed' if call.allowed else 'refused'} by {call.by}",
        now=word_of(now.verdict),
        would_be=word_of(then.verdict),
        rule=then.rule.text if then.rule else None,
        reason=then.verdict.reason or then.verdict.source,
    )
