"""The moments of the gate at which hooks have a say, and what their answers do."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from detent.gate.hooks import HookAnswer
from detent.gate.hooks.events import (
    AfterCall,
    BeforeCall,
    PermissionAsked,
    PermissionRefused,
    Stopping,
    Submitted,
)
from detent.ports import Proposal, Revised
from detent.types.codec import encode
from detent.types.effects import Reads, Writes
from detent.types.errors import PromptBlocked
from detent.types.outcomes import Done, Failed, Outcome, done, is_error, text_of, with_context

Tell = Callable[[Any], Awaitable[HookAnswer]]

PATHS = ("file_path", "notebook_path", "path")
GO_ON = "A hook wants the turn to go on, and did not say why."


async def before(tell: Tell, proposal: Proposal) -> HookAnswer:
    given = whole_paths(proposal)
    return await tell(BeforeCall(proposal.tool, given, proposal.call.id, proposal))


async def asked(tell: Tell, proposal: Proposal, reason: str, rules: tuple[str, ...]) -> HookAnswer:
    given, call_id = whole_paths(proposal), proposal.call.id
    return await tell(PermissionAsked(proposal.tool, given, call_id, reason, rules, proposal))


async def refused(tell: Tell, proposal: Proposal, reason: str) -> None:
    given = whole_paths(proposal)
    await tell(PermissionRefused(proposal.tool, given, proposal.call.id, reason, proposal))


async def after(tell: Tell, proposal: Proposal, outcome: Outcome, ms: int) -> Revised:
    """A hook cannot undo a call, but it can say that it was wrong."""
    given = whole_paths(proposal)
    answer = await tell(AfterCall(proposal.tool, given, proposal.call.id, outcome, ms, proposal))
    if answer.output is not None and not is_error(outcome):
        outcome = _replaced(answer.output)
    if answer.decision == "deny":
        taken_place = "" if is_error(outcome) else ", though the action has taken place"
        note = f"[A hook objects{taken_place}: {answer.reason or 'it gave no reason'}]"
        outcome = Failed(f"{text_of(outcome)}\n\n{note}".strip())
    if answer.context:
        outcome = with_context(outcome, answer.context)
    return Revised(outcome, answer.stop)


async def submitted(tell: Tell, text: str) -> str:
    answer = await tell(Submitted(text))
    if answer.decision == "deny" or answer.stop:
        raise PromptBlocked(answer.reason or answer.stop or "A hook blocked the prompt.")
    return answer.context


async def stopping(tell: Tell, text: str, again: bool) -> str:
    answer = await tell(Stopping(text, again))
    return "" if answer.stop else feedback(answer)


def feedback(answer: HookAnswer) -> str:
    """What makes a turn go on; empty lets it end."""
    reason = (answer.reason or GO_ON) if answer.decision == "deny" else ""
    return "\n".join(filter(None, (reason, answer.context)))


def whole_paths(proposal: Proposal) -> dict[str, Any]:
    """The arguments, with the paths of file tools as those that the call will touch: a hook must
    not have to know where the session stands."""
    touched = {e.path for e in proposal.effects if isinstance(e, Reads | Writes)}
    touched |= proposal.places.keys()
    given = dict(proposal.arguments)
    for name in PATHS:
        value = given.get(name)
        if isinstance(value, str) and not os.path.isabs(value):
            joined = os.path.join(proposal.cwd, os.path.expanduser(value))
            whole = os.path.normpath(joined)
            given[name] = whole if whole in touched else value
    return given


def _replaced(output: Any) -> Done:
    if isinstance(output, str):
        return done(output)
    return done(encode(output).decode(), output if isinstance(output, dict) else None)
