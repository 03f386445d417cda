"""A small model made useful: the same port outside, a short, constrained conversation inside."""

import secrets
from collections.abc import Callable, Sequence

from msgspec import Raw, Struct

from detent.models.small import edits, proposing
from detent.models.small.actions import ANSWER, HAND_OVER, Fields, as_call, form, is_action, menu
from detent.models.small.repeats import note, repeated, without_hasty_answer
from detent.models.small.spoken import SpokenText
from detent.models.small.story import story_of, task_of
from detent.models.small.telling import folder_of, messages_of, system_of
from detent.ports import DeltaSink, Model
from detent.types.codec import arguments_object, encode
from detent.types.content import Call, Text, plain_text
from detent.types.deltas import CallReady, Delta, Sealed
from detent.types.events import CallDelta, Discarded, TextDelta, ThinkingDelta
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec, User
from detent.types.usage import Usage

WINDOW_OUTSIDE = 4
"""Results are shortened in here, so the loop may gather this many windows before it compacts."""
FOR_PROMPT_AND_ANSWER = 2_000
"""Tokens of the window that the conversation leaves to the prompt and the answer."""
MOST_SAMPLES = 4
"""For one step: as it likes, with a note, without the tool it insists on, and at last an answer."""
UNCLEAR = "That was no action, or it was cut because it was too long. Answer with one short action."
NO_CHANGE = "Nothing in {path} would change. Do something else, or answer."


class SmallModel:
    """Wraps any model. It keeps nothing between requests: all it knows is in the request."""

    is_small = True
    """Nobody asks it to sum up a long conversation."""

    def __init__(
        self, inner: Model, new_id: Callable[[], str] = lambda: f"call_{secrets.token_hex(6)}"
    ) -> None:
        self.name = inner.name
        self.window = inner.window * WINDOW_OUTSIDE
        self.max_output = inner.max_output
        self._inner = inner
        self._new_id = new_id

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        answer = _Answer(self._inner, request, deltas)
        return await (answer.act(self._new_id) if answer.acts else answer.talk())

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Said(Struct, frozen=True):
    """What the inner model chose: an action, or words that are none."""

    raw: str
    stop: str
    action: Fields | None = None
    streamed: str = ""
    """What of an answer has been shown already."""

    @property
    def value(self) -> Fields | None:
        """The last word as data, where it has to be that."""
        action = self.action or {}
        return action.get("value") if action.get("tool") == ANSWER else None

    @property
    def answer(self) -> str:
        """The words for the user; empty when it is another action or a broken one."""
        if self.action is not None:
            return str(self.action.get("text", "")) if self.action["tool"] == ANSWER else ""
        return self.streamed or ("" if self.raw.startswith("{") else self.raw)


class _Answer:
    """One answer to the loop, which may take several of the inner model."""

    def __init__(self, inner: Model, request: Request, deltas: DeltaSink) -> None:
        self._inner = inner
        self._deltas = deltas
        self._max_output = request.max_output
        self._system = system_of(request.system)
        self._story = story_of(request.messages, folder_of(request.system))
        self._files = edits.shown_files(self._story)
        self._messages = messages_of(self._story, inner.window - FOR_PROMPT_AND_ANSWER)
        self._usage = Usage()
        self._message_id = ""
        self._value = _schema_of_value(request.tools)
        self.menu = menu(spec.name for spec in request.tools)
        self.acts = bool(self.menu) or self._value is not None

    async def talk(self) -> Reply:
        """No tools are offered: plain words, as they come."""
        reply = await self._sample(Request(self._system[1:], self._messages), self._deltas)
        return self._reply(Text(plain_text(reply.content)), reply.stop)

    async def act(self, new_id: Callable[[], str]) -> Reply:
        offered = without_hasty_answer([*self.menu, ANSWER], self._story)
        messages, objected = self._messages, set[str]()
        for left in reversed(range(MOST_SAMPLES)):
            said = await self._choose(messages, offered if left else [ANSWER])
            if said.value is not None and self._value is not None:
                return await self._called(Call(new_id(), HAND_OVER, encode(said.value).decode()))
            if said.answer or not left:
                return await self._answered(said)
            objection = UNCLEAR
            if said.action is not None and said.action["tool"] != ANSWER:
                call, objection = await self._proposed(said.action)
                if call is not None:
                    return await self._called(Call(new_id(), *call))
                if said.action["tool"] in objected:
                    offered = [one for one in offered if one != said.action["tool"]]
                objected.add(said.action["tool"])
            messages = [*messages, Assistant((Text(said.raw or "{}"),)), _words(objection)]
        raise AssertionError("the last sample is taken as an answer")

    async def _choose(self, messages: Sequence[Message], offered: Sequence[str]) -> _Said:
        paths = edits.editable(self._files, task_of(self._story))
        spoken = SpokenText()

        async def listen(delta: Delta) -> None:
            nonlocal spoken
            if isinstance(delta, TextDelta):
                if fresh := spoken.feed(delta.text):
                    await self._deltas(TextDelta(0, fresh))
            elif not isinstance(delta, ThinkingDelta | CallDelta | CallReady | Sealed):
                spoken = SpokenText() if isinstance(delta, Discarded) else spoken
                await self._deltas(delta)

        request = Request(self._system, messages, form=form(offered, paths, self._value))
        reply = await self._sample(request, listen)
        raw = plain_text(reply.content).strip()
        action = arguments_object(raw) if raw else None
        valid = action is not None and is_action(action, offered, paths)
        return _Said(raw, reply.stop, action if valid else None, spoken.text)

    async def _proposed(self, action: Fields) -> tuple[tuple[str, str] | None, str]:
        """The real call, or what speaks against making it."""
        tool, arguments = as_call(action)
        if tool == "Edit":
            change = await self._change(self._files[action["path"]])
            if change is None:
                return None, NO_CHANGE.format(path=action["path"])
            arguments |= {"old_string": change.old, "new_string": change.new}
        result = repeated(self._story, tool, arguments)
        if result is not None:
            return None, note(result)
        return (tool, encode(arguments).decode()), ""

    async def _change(self, shown: edits.Shown) -> edits.Replacement | None:
        """A short file is written again; where that comes to nothing, or is too long, a line."""
        if proposing.can_rewrite(shown):
            asked = proposing.rewrite_request(self._story, shown)
            reply = await self._sample(Request(proposing.SYSTEM, asked), _nobody)
            if change := edits.from_rewrite(shown, plain_text(reply.content)):
                return change
        asked = proposing.line_request(self._story, shown)
        picked = Request(proposing.SYSTEM, asked, form=edits.line_form(shown))
        reply = await self._sample(picked, _nobody)
        said = arguments_object(plain_text(reply.content)) or {}
        return edits.from_line(shown, str(said.get("old", "")), str(said.get("new", "")))

    async def _sample(self, request: Request, deltas: DeltaSink) -> Reply:
        bounded = Request(
            request.system, request.messages, max_output=self._max_output, form=request.form
        )
        reply = await self._inner.stream(bounded, deltas)
        self._usage += reply.usage
        self._message_id = self._message_id or reply.message_id
        return reply

    async def _answered(self, said: _Said) -> Reply:
        text = said.answer or said.raw or "(The model gave no answer.)"
        if not said.streamed:
            await self._deltas(TextDelta(0, text))
        elif text != said.streamed:
            await self._deltas(TextDelta(0, text.removeprefix(said.streamed)))
        cut = said.action is None and said.stop == "max_tokens"
        return self._reply(Text(text), "max_tokens" if cut else "end_turn")

    async def _called(self, call: Call) -> Reply:
        await self._deltas(CallDelta(0, call.id, call.name, call.arguments))
        await self._deltas(CallReady(0, call))
        return self._reply(call, "tool_use")

    def _reply(self, block: Text | Call, stop: str) -> Reply:
        return Reply((block,), stop, self._usage, self._inner.name, self._message_id)


def _schema_of_value(tools: Sequence[ToolSpec]) -> Raw | None:
    """None when words will do. References would point nowhere inside our own schema."""
    for spec in tools:
        if spec.name == HAND_OVER:
            return Raw(b'{"type":"object"}') if b'"$ref"' in bytes(spec.schema) else spec.schema
    return None


def _words(text: str) -> User:
    return User((Text(text),))


async def _nobody(delta: Delta) -> None:
    """Drafts are not shown."""
