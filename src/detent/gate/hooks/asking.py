"""Asking hooks: all at once, and one answer made of theirs."""

import asyncio
from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any, Literal

from msgspec.structs import replace

from detent.gate.hooks import Hook, HookAnswer

Decision = Literal["allow", "ask", "deny", "none"]
STRICTNESS: tuple[Decision, ...] = ("none", "allow", "ask", "deny")


async def ask_hooks(
    hooks: Sequence[Hook], event: Any, report: Callable[[str], None]
) -> list[HookAnswer]:
    """Every hook's answer, in their order; a broken one is reported and left out."""

    async def ask(hook: Hook) -> HookAnswer | None:
        try:
            returned = hook(event)
            answer: Any = await returned if isawaitable(returned) else returned
        except Exception as error:
            report(f"hook {_name(hook)} failed: {type(error).__name__}: {error}")
            return HookAnswer(ran=(f"{_name(hook)} (failed)",))
        if isinstance(answer, HookAnswer):
            if answer.message:
                report(answer.message)
            return replace(answer, ran=answer.ran if _is_many(hook) else (_name(hook),))
        if answer is not None:
            report(f"hook {_name(hook)} gave {type(answer).__name__}, not a HookAnswer")
        return None if _is_many(hook) else HookAnswer(ran=(_name(hook),))

    if len(hooks) == 1:
        answers: list[HookAnswer | None] = [await ask(hooks[0])]
    else:
        answers = await asyncio.gather(*(ask(hook) for hook in hooks))
    return [answer for answer in answers if answer is not None]


def joined(answers: Sequence[HookAnswer]) -> HookAnswer:
    """The strictest decision with all that was said for it, the last change, all contexts."""
    decisions: list[Decision] = ["none", *(answer.decision for answer in answers)]
    decision = max(decisions, key=STRICTNESS.index)
    deciding = [a for a in answers if a.decision == decision]
    changes = [a.arguments for a in answers if a.arguments is not None]
    outputs = [a.output for a in answers if a.output is not None]
    return HookAnswer(
        decision=decision,
        reason="\n".join(a.reason for a in deciding if a.reason),
        arguments=changes[-1] if changes else None,
        context="\n".join(a.context for a in answers if a.context),
        stop=next((a.stop for a in answers if a.stop), ""),
        output=outputs[-1] if outputs else None,
        ran=tuple(name for answer in answers for name in answer.ran),
    )


def _is_many(hook: Hook) -> bool:
    """It stands for several, and says itself which of them ran."""
    return getattr(hook, "is_many", False)


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", "hook")
