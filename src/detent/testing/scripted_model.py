"""A model that follows a script, in process: no network, no key, the same every time."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from detent.ports import DeltaSink
from detent.testing.choosing import Choosing, NoReply
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
    script,
)
from detent.testing.script import Reply as ScriptedReply
from detent.testing.streaming import until_set
from detent.testing.talk import scenario_in
from detent.types import content
from detent.types.codec import encode
from detent.types.deltas import Begun, CallReady, Delta, Sealed
from detent.types.errors import BadInput, FailureKind, ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Assistant, Reply, Request, User
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


class _Asked:
    def __init__(self, request: Request) -> None:
        self._request = request

    @property
    def scenario(self) -> str | None:
        said = (one for one in self._request.messages if isinstance(one, User))
        return scenario_in([text for one in said if (text := content.plain_text(one.content))])

    @property
    def turn(self) -> int:
        return sum(isinstance(message, Assistant) for message in self._request.messages)


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
        scenarios: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """`scenarios`, by name: replies for conversations whose prompt says `SCENARIO:name`."""
        self.name = name
        self.window = window
        self.max_output = max_output
        self._replies: Sequence[Any] = replies
        """Functions here are asked with the neutral request."""
        self._scenarios = scenarios or {}
        self._by_turn = by_turn
        self._repeat_last = repeat_last
        self._told: dict[str | None, int] = {}
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
        return cls(
            *plan.replies,  # type: ignore[arg-type]
            by_turn=plan.pick == "by_turn",
            repeat_last=plan.after == "repeat_last",
            scenarios=plan.scenarios,
        )

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        self.requests.append(request)
        number = len(self.requests)
        reply = self._choose(request)
        await _pause(reply.delay)
        if reply.hold is not None:
            await until_set(reply.hold)
        if reply.fault is not None and reply.fault.status is not None:
            raise _failure(reply.fault)
        model = reply.model or self.name
        await deltas(Begun(model, "", min(request.max_output or self.max_output, self.max_output)))
        blocks = _blocks(reply, number)
        await _speak(reply, blocks, deltas)
        await _pause(reply.tail)
        usage = reply.usage
        return Reply(
            tuple(block for _, block in blocks),
            reply.stop_reason,
            Usage(
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                reasoning=usage.reasoning,
            ),
            model,
            f"msg_{number}",
        )

    async def aclose(self) -> None:
        self.closed = True

    def _choose(self, request: Request) -> ScriptedReply:
        """The plan may have been changed meanwhile; what is kept is how much of it was told."""
        plan = script(
            *self._replies,
            scenarios=self._scenarios,
            pick="by_turn" if self._by_turn else "sequence",
            after="repeat_last" if self._repeat_last else "error",
        )
        self._told[None] = len(self.requests) - 1 - sum(self._of_scenarios.values())
        try:
            return Choosing(plan, self._told).choose(_Asked(request), request)
        except NoReply as error:
            raise ModelFailure("invalid_request", str(error)) from None

    @property
    def _of_scenarios(self) -> dict[str | None, int]:
        return {name: told for name, told in self._told.items() if name is not None}


async def _speak(
    reply: ScriptedReply, blocks: list[tuple[Block, content.AssistantBlock]], deltas: DeltaSink
) -> None:
    sent = 0
    for index, (scripted, block) in enumerate(blocks):
        for delta in _deltas(index, scripted, block):
            _maybe_fail(reply.fault, sent)
            await _pause(reply.gap)
            await deltas(delta)
            sent += 1
        if behind := _behind(index, block):
            await deltas(behind)
    _maybe_fail(reply.fault, sent)


def _blocks(reply: ScriptedReply, number: int) -> list[tuple[Block, content.AssistantBlock]]:
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
