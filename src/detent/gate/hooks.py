"""Hooks: code of the user that looks at a call before and after it runs.

A hook is a callable, sync or async. It gets an event and gives an answer or None. An exception in
a hook is not a decision: it is reported, and the call goes on as if the hook were not there.
"""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Literal

from msgspec import Struct

from detent.types.outcomes import Outcome


class BeforeCall(Struct, frozen=True):
    tool: str
    arguments: dict[str, Any]
    call_id: str


class AfterCall(Struct, frozen=True):
    tool: str
    arguments: dict[str, Any]
    call_id: str
    outcome: Outcome


class Submitted(Struct, frozen=True):
    """A prompt on its way to the model."""

    text: str


class Stopping(Struct, frozen=True):
    """The model has finished its turn."""

    text: str
    again: bool
    """A stop hook has already made this turn go on."""


class HookAnswer(Struct, frozen=True):
    decision: Literal["allow", "ask", "deny", "none"] = "none"
    reason: str = ""
    arguments: dict[str, Any] | None = None
    """BeforeCall: run with these arguments instead."""
    context: str = ""
    """Text for the model."""
    stop: str = ""
    """Ends the turn, with this reason."""


Returned = HookAnswer | None
Hook = Callable[[Any], Returned | Awaitable[Returned]]


class HookSet(Struct, frozen=True):
    before_call: tuple[Hook, ...] = ()
    after_call: tuple[Hook, ...] = ()
    submitted: tuple[Hook, ...] = ()
    stopping: tuple[Hook, ...] = ()


async def ask_hooks(
    hooks: tuple[Hook, ...], event: Any, report: Callable[[str], None]
) -> list[HookAnswer]:
    """Every hook's answer, in order; a broken one is reported and left out."""
    answers = []
    for hook in hooks:
        try:
            returned = hook(event)
            answer: Any = await returned if isawaitable(returned) else returned
        except Exception as error:
            report(f"hook {_name(hook)} failed: {type(error).__name__}: {error}")
            continue
        if isinstance(answer, HookAnswer):
            answers.append(answer)
        elif answer is not None:
            report(f"hook {_name(hook)} gave {type(answer).__name__}, not a HookAnswer")
    return answers


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", "hook")
