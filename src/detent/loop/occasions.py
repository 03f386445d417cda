"""The occasions of a turn that hooks are told of, beside calls, prompts and the end.

Loaded with the first hook that listens to one of them.
"""

from typing import Any

from msgspec.structs import replace

from detent.loop.kit import Kit
from detent.loop.limits import Halt
from detent.types.codec import arguments_object
from detent.types.content import Call, plain_text
from detent.types.errors import PromptBlocked
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    HooksRan,
    Notice,
    Reminded,
    Replied,
)
from detent.types.outcomes import Outcome
from detent.types.verdicts import HookAnswer

Ran = tuple[str, dict[str, Any], str, Outcome, int]
"""A call: tool, arguments, id, how it ended and after how many milliseconds."""

LONGEST_SAID = 2_000
FAILURES = ("api_error", "retries_exhausted", "prompt_too_long", "invalid_response", "max_tokens")


async def session_started(kit: Kit, source: str) -> None:
    answer = await kit.gate.happened("session_started", source=source, model=kit.model.name)
    if answer.context:
        await kit.emit(Reminded(text=answer.context, source="session hook"))
    if answer.stop:
        raise PromptBlocked(answer.stop)


async def may_compact(kit: Kit, compacted: Compacted) -> bool:
    if kit.gate.hears("before_compact"):
        answer = await _with_receipt(
            kit,
            "PreCompact",
            "before_compact",
            trigger=_trigger(compacted),
            instructions=compacted.instructions,
        )
        if is_against(answer):
            reason = answer.reason or answer.stop or "it gave no reason"
            text = f"a hook keeps the conversation from being shortened: {reason}"
            await kit.emit(Notice(text, "warning"))
            return False
    if kit.gate.hears("on_context_compact"):
        before = compacted.before_tokens
        await kit.gate.happened(
            "on_context_compact", trigger=compacted.trigger, before_tokens=before
        )
    return True


def is_against(answer: HookAnswer) -> bool:
    return answer.decision == "deny" or bool(answer.stop)


async def has_compacted(kit: Kit, compacted: Compacted) -> None:
    trigger, summary = _trigger(compacted), compacted.summary
    await _with_receipt(kit, "PostCompact", "after_compact", trigger=trigger, summary=summary)


async def _with_receipt(kit: Kit, event: str, moment: str, **facts: Any) -> HookAnswer:
    """The log says who was told, what they said and how long it took."""
    begun = kit.clock.elapsed()
    answer = await kit.gate.happened(moment, **facts)
    if answer.ran:
        said = "\n".join(filter(None, (answer.reason, answer.context, answer.stop)))
        ms = kit.lap(begun, event)
        told = HooksRan(event=event, hooks=answer.ran, said=said[:LONGEST_SAID], ms=ms)
        await kit.emit(replace(told, denied=is_against(answer)))
    return answer


def _trigger(compacted: Compacted) -> str:
    """Hooks know two; after a prompt that was too long it is automatic as well."""
    return "manual" if compacted.trigger == "manual" else "auto"


async def calls_ended(kit: Kit) -> str:
    """Why the turn must stop; empty lets it go on."""
    answer = await kit.gate.happened("after_calls", calls=_calls(kit))
    if answer.context:
        await kit.emit(Reminded(text=answer.context, source="batch hook"))
    if answer.decision == "deny":
        return answer.stop or answer.reason or "a hook stopped the turn after its calls"
    return answer.stop


def _calls(kit: Kit) -> list[Ran]:
    """The calls of the last answer: as they ran, and in the order in which they were asked for.

    They start while the model still speaks, so some may stand before the answer in the log.
    """
    asked: list[Call] | None = None
    ended: dict[str, CallEnded] = {}
    started: dict[str, CallStarted] = {}
    for entry in reversed(kit.conversation.entries):
        match entry:
            case CallEnded(call_id=call_id):
                ended[call_id] = entry
            case CallStarted(call_id=call_id):
                started[call_id] = entry
            case Replied(content=content):
                if asked is not None:
                    break
                asked = [block for block in content if isinstance(block, Call)]
            case _:
                pass
    return [
        _as_it_ran(call, started.get(call.id), ended[call.id])
        for call in asked or ()
        if call.id in ended
    ]


def _as_it_ran(call: Call, started: CallStarted | None, ended: CallEnded) -> Ran:
    name, text = (started.name, started.arguments) if started else (call.name, call.arguments)
    return name, arguments_object(text) or {}, call.id, ended.outcome, ended.ms


async def has_failed(kit: Kit, halt: Halt) -> None:
    if halt.reason not in FAILURES:
        return
    replies = (e for e in reversed(kit.conversation.entries) if isinstance(e, Replied))
    last = next(replies, None)
    text = plain_text(last.content) if last else ""
    await kit.gate.happened("stop_failed", error=halt.reason, details=halt.message, text=text)
