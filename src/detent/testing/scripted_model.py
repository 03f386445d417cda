"""A model that follows a script, in process: no network, no key, the same every time."""

import asyncio
from collections.abc import Callable, Sequence

from detent.ports import DeltaSink
from detent.testing.reading import load_script
from detent.testing.recorded import is_export, recorded_script
from detent.testing.script import (
    Block,
    Call,
    Fault,
    Foreign,
    RedactedThink,
    Say,
    Script,
    Think,
    as_reply,
)
from detent.testing.script import Reply as ScriptedReply
from detent.types import content
from detent.types.codec import encode
from detent.types.deltas import Begun, CallReady, Delta, Sealed
from detent.types.errors import BadInput, FailureKind, ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Assistant, Reply, Request
from detent.types.usage import Usage

Spoken = ScriptedReply | Fault | str
Maker = Callable[[Request], Spoken]
"""Answers by looking at the request: for scripts that react to results."""

_KINDS: dict[int, FailureKind] = {
    400: "invalid_request",
    401: "auth",
    403: "auth",
    404: "not_found",
    408: "timeout",
    429: "rate_limit",
    529: "overloaded",
}


class ScriptedModel:
    """`requests` holds every request it was sent, for assertions."""

    def __init__(
        self,
        *replies: Spoken | Maker,
        name: str = "scripted",
        window: int = 200_000,
        max_output: int = 32_000,
        by_turn: bool = False,
        repeat_last: bool = False,
    ) -> None:
        self.name = name
        self.window = window
        self.max_output = max_output
        self._replies: Sequence[Spoken | Maker] = replies
        self._by_turn = by_turn
        self._repeat_last = repeat_last
        self.requests: list[Request] = []
        self.closed = False

    @classmethod
    def from_file(cls, path: str) -> "ScriptedModel":
        """A script in JSON, or the log of a session to be played again."""
        try:
            is_session = path.endswith(".jsonl") or is_export(path)
            plan: Script = recorded_script(path) if is_session else load_script(path)
        except OSError as error:
            raise BadInput(f"cannot read the script {path}: {error.strerror}") from None
        except ValueError as error:
            raise BadInput(f"{path}: {error}") from None
        replies = [one for one in plan.replies if isinstance(one, ScriptedReply)]
        return cls(
            *replies,
            name="scripted",
            by_turn=plan.pick == "by_turn",
            repeat_last=plan.after == "repeat_last",
        )

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        self.requests.append(request)
        reply = self._choose(request)
        await _pause(reply.delay)
        if reply.fault is not None and reply.fault.status is not None:
            raise _failure(reply.fault)
        model = reply.model or self.name
        await deltas(Begun(model, "", min(request.max_output or self.max_output, self.max_output)))
        await self._speak(reply, deltas)
        await _pause(reply.tail)
        usage = reply.usage
        return Reply(
            tuple(block for _, block in self._blocks(reply)),
            reply.stop_reason,
            Usage(
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                reasoning=usage.reasoning,
            ),
            model,
            f"msg_{len(self.requests)}",
        )

    async def aclose(self) -> None:
        self.closed = True

    def _choose(self, request: Request) -> ScriptedReply:
        said = sum(isinstance(message, Assistant) for message in request.messages)
        number = said if self._by_turn else len(self.requests) - 1
        if self._repeat_last and self._replies:
            number = min(number, len(self._replies) - 1)
        if number >= len(self._replies):
            raise ModelFailure("invalid_request", f"the script has no reply {number + 1}")
        given = self._replies[number]
        return as_reply(given if isinstance(given, ScriptedReply | Fault | str) else given(request))

    async def _speak(self, reply: ScriptedReply, deltas: DeltaSink) -> None:
        sent = 0
        for index, (scripted, block) in enumerate(self._blocks(reply)):
            for delta in _deltas(index, scripted, block):
                _maybe_fail(reply.fault, sent)
                await _pause(reply.gap)
                await deltas(delta)
                sent += 1
            if behind := _behind(index, block):
                await deltas(behind)
        _maybe_fail(reply.fault, sent)

    def _blocks(self, reply: ScriptedReply) -> list[tuple[Block, content.AssistantBlock]]:
        number = len(self.requests)
        return [
            (block, _block(block, reply.call_id(index, number)))
            for index, block in enumerate(reply.blocks)
        ]


def _block(scripted: Block, call_id: str) -> content.AssistantBlock:
    match scripted:
        case Say(text=text):
            return content.Text(text)
        case Think(text=text, signature=signature):
            return content.Thinking(text, signature or "")
        case RedactedThink(data=data):
            return content.Redacted(data)
        case Call(name=name):
            return content.Call(call_id, name, scripted.arguments)
        case Foreign(data=given):
            return content.Opaque(encode(given).decode())


def _deltas(index: int, scripted: Block, block: content.AssistantBlock) -> list[Delta]:
    match scripted, block:
        case Say(), _:
            return [TextDelta(index, piece) for piece in scripted.pieces or (scripted.text,)]
        case Think(), _:
            return [ThinkingDelta(index, piece) for piece in scripted.pieces or (scripted.text,)]
        case Call(), content.Call(id=call_id, name=name):
            return [CallDelta(index, call_id, name, piece) for piece in scripted.fragments or ("",)]
        case _:
            return []


def _behind(index: int, block: content.AssistantBlock) -> Delta | None:
    """What is told of a block when it is whole."""
    match block:
        case content.Call():
            return CallReady(index, block)
        case content.Thinking(signature=""):
            return None
        case content.Thinking() | content.Redacted() | content.Opaque():
            return Sealed(index, block)
        case _:
            return None


def _maybe_fail(fault: Fault | None, sent: int) -> None:
    if fault is None:
        return
    if fault.cut_after is not None and sent >= fault.cut_after:
        raise ModelFailure("network", "the scripted connection was cut")
    if fault.error_after is not None and sent >= fault.error_after:
        raise ModelFailure("overloaded", fault.error_message)


def _failure(fault: Fault) -> ModelFailure:
    status = fault.status or 500
    message = fault.body if isinstance(fault.body, str) else f"scripted failure {status}"
    return ModelFailure(_KINDS.get(status, "server"), message, status=status)


async def _pause(seconds: float) -> None:
    if seconds:
        await asyncio.sleep(seconds)
