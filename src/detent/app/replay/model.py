"""The model of a replay: it says what the log tells that it said."""

from collections.abc import Callable

from msgspec.structs import replace

from detent.app.replay.tape import Tape, bare
from detent.loop.listener import Broken
from detent.loop.summarising import CALLED, NO_SUMMARY
from detent.models.retry import halved
from detent.ports import DeltaSink
from detent.types.content import AssistantBlock, Call, Text, Thinking
from detent.types.deltas import Begun, CallReady, Counted, Delta, Sealed
from detent.types.errors import FailureKind, ModelFailure
from detent.types.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Compacted,
    Discarded,
    Entry,
    Estimated,
    Lost,
    Replied,
    Switched,
    TextDelta,
    ThinkingDelta,
)
from detent.types.messages import Reply, Request
from detent.types.running import Equipped, Unanswered
from detent.types.usage import Usage

PARTIAL = ("cancelled", "broken_off")
Found = tuple[int, Entry]


class RecordedModel:
    def __init__(
        self,
        tape: Tape,
        equipped: Equipped,
        is_compacting: Callable[[], bool],
        ids: list[str],
    ) -> None:
        """`ids` gets those that the loop will need for the calls of an answer."""
        self.name = self._first = equipped.model
        self.window = equipped.window
        self.max_output = equipped.max_output
        self.is_small = bool(equipped.terms.get("small"))
        self._outputs: dict[str, int] = equipped.terms.get("outputs") or {}
        self._tape = tape
        self._is_compacting = is_compacting
        self._ids = ids
        self.answers = 0
        """In the turn at hand, those that were cut and asked for again included."""
        self.is_silent = False
        """It has nothing more to say to the request at hand."""
        self._asked = 0
        self._gave_way = False
        """Another model has taken the request over."""
        self.tries_again = False
        """It is to make a further attempt, which the account may not allow."""
        self.has_tried = False

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        asked = min(request.max_output or self.max_output, self.max_output or request.max_output)
        self._asked, self.tries_again, self.has_tried = asked, False, False
        self._gave_way = False
        try:
            if self._is_compacting():
                return await self._sum_up(deltas, asked)
            return await self._answer(deltas, asked)
        except ModelFailure:
            self._switch(self._first)
            raise

    async def aclose(self) -> None:
        pass

    async def _answer(self, deltas: DeltaSink, asked: int) -> Reply:
        while True:
            found = self._following((CallStarted, CallEnded))
            place, entry = found[0] if found else (None, None)
            match entry:
                case Lost(what="failed") if (own := _own(found)) is not None:
                    await self._fail(place, own, deltas, asked)
                case Switched() | Lost(what="failed"):
                    await self._attempt(place, entry, deltas, asked)
                case Lost(what="cut", model=model, usage=usage):
                    await deltas(Begun(model, "", asked))
                    await self._come_to(place)
                    return Reply((), "max_tokens", usage, model)
                case Estimated(model=model):
                    answer = _behind(found)
                    if isinstance(answer, Replied) and answer.step == self.answers + 1:
                        return await self._say(place, answer, deltas)
                    await deltas(Begun(model, "", asked))
                    await self._come_to(place)
                    return Reply((), "max_tokens", Usage(), model)  # cut, and asked for again
                case Replied(stop="broken_off"):
                    await self._break_off(place, entry, _behind(found), deltas)
                case Replied():
                    return await self._say(place, entry, deltas)
                case Unanswered():
                    await self._fail(place, entry, deltas, asked)
                case _:
                    await self._wait_for_good(deltas)

    async def _say(self, place: int | None, entry: Replied, deltas: DeltaSink) -> Reply:
        await self._speak(entry, deltas)
        if entry.stop in PARTIAL:
            await deltas(Counted(entry.usage))
        if entry.stop in PARTIAL and self._tape.entries[place or 0] is entry:
            await self._wait_for_good(deltas)
        await self._come_to(place)
        return Reply(
            _as_sent(entry), entry.stop, entry.usage, entry.model, entry.message_id, entry.provider
        )

    async def _come_to(self, place: int | None) -> None:
        """The answer is there, and its entry is next."""
        await self._tape.reach(place)
        self._tape.answered = self._tape.front
        self.answers += 1

    async def _speak(self, entry: Replied, deltas: DeltaSink) -> None:
        """All that was said, at once; the calls in it begin when the tape lets them."""
        self._ids.extend(entry.sent)
        await deltas(Begun(entry.model, entry.provider, self._limit(entry.max_output)))
        content = _as_sent(entry)
        for index, block in enumerate(content):
            for delta in _deltas(index, block):
                await deltas(delta)
        calls = [block for block in content if isinstance(block, Call)]
        if entry.stop in PARTIAL and calls and not calls[-1].arguments.strip():
            # It has begun, so another one was behind it, which had not.
            await deltas(CallReady(len(content), Call("", "", "")))

    async def _fail(
        self,
        place: int | None,
        entry: Unanswered,
        deltas: DeltaSink,
        asked: int,
    ) -> None:
        await deltas(Begun(entry.model, "", asked))
        await deltas(Counted(entry.usage))
        await self._tape.reach(place)
        raise failure_of(entry)

    async def _break_off(
        self, place: int | None, entry: Replied, why: Entry | None, deltas: DeltaSink
    ) -> None:
        """As far as it came; without a reason it was interrupted before that could be told."""
        await self._speak(entry, deltas)
        await deltas(Counted(entry.usage))
        await self._tape.reach(place)
        self.answers += 1
        raise failure_of(why) if isinstance(why, Unanswered) else Broken("")

    async def _attempt(
        self, place: int | None, entry: Entry, deltas: DeltaSink, asked: int
    ) -> None:
        """One that came to nothing, or the change to another model."""
        await self._tape.reach(place)
        if isinstance(entry, Switched):
            self._switch(entry.model)
            self._gave_way = entry.model != self._first
            switched = bare(entry)
            assert isinstance(switched, Switched)
            await deltas(switched)
        elif isinstance(entry, Lost):
            await deltas(Begun(entry.model, "", asked))
            await deltas(Counted(entry.usage))
            await deltas(Discarded("the attempt failed"))
        await self._tape.reach(None if place is None else place + 1)  # until it is told

    async def _sum_up(self, deltas: DeltaSink, asked: int) -> Reply:
        while True:
            found = self._following(())
            place, entry = found[0] if found else (None, None)
            if isinstance(entry, Estimated):
                entry = _behind(found)
            entry = _useless_one(found) or entry
            match entry:
                case Switched() | Lost(what="compaction"):
                    await self._attempt(place, entry, deltas, asked)
                case Compacted(written=written, model=model) if written:
                    await deltas(Begun(model, "", asked))
                    await self._tape.reach(place)
                    return _told((Text(written),), entry.usage, model)
                case Unanswered(kind="unused" | "no_summary", model=model):
                    await deltas(Begun(model, "", asked))
                    await self._tape.reach(place)
                    return _told(_useless(entry), entry.usage, model)
                case Unanswered():
                    await self._fail(place, entry, deltas, asked)
                case _:
                    await self._wait_for_good(deltas)

    def _following(self, beside: tuple[type, ...]) -> list[Found]:
        """What the log tells of the request at hand, the next two entries of it: what other tasks
        wrote meanwhile is passed over, and nothing else."""
        found: list[Found] = []
        for place, entry in self._tape.ahead():
            if isinstance(entry, beside):
                continue
            kinds = (Switched, Lost, Estimated, Replied, Unanswered, Compacted)
            if not isinstance(entry, kinds) or len(found) == 2:
                break
            found.append((place, entry))
        return found

    def _limit(self, recorded: int) -> int:
        """What was asked for. Who runs out of time asks for half, and another model has its own."""
        tried = self._asked
        while tried > recorded and (half := halved(tried)) < tried:
            tried = half
        is_told = self._gave_way or not self._asked or tried == recorded
        return recorded if is_told else self._asked

    def _switch(self, model: str) -> None:
        if model in self._outputs:
            self.name, self.max_output = model, self._outputs[model]

    async def _wait_for_good(self, deltas: DeltaSink) -> None:
        self.is_silent = True
        try:
            while True:
                await self._tape.moved()
                if self.tries_again and not self.has_tried:
                    self.has_tried = True
                    await deltas(Begun(self.name, "", self._asked))
        finally:
            self.is_silent = False


def _behind(found: list[Found]) -> Entry | None:
    return found[1][1] if len(found) > 1 else None


def _own(found: list[Found]) -> Unanswered | None:
    """The end of the attempt that was paid for with the first of these."""
    lost, behind = found[0][1], _behind(found)
    is_one = isinstance(lost, Lost) and isinstance(behind, Unanswered)
    return behind if is_one and behind.usage == lost.usage else None  # type: ignore[union-attr,return-value]


def _useless_one(found: list[Found]) -> Unanswered | None:
    """An answer that came, was paid for, and was no summary or was not used."""
    own = _own(found) if found else None
    return own if own is not None and own.kind in ("unused", "no_summary") else None


def failure_of(entry: Unanswered) -> Exception:
    if entry.kind == "broken_off":
        return Broken(entry.error)
    kind: FailureKind = entry.kind  # type: ignore[assignment]
    return ModelFailure(
        kind,
        entry.error,
        status=entry.status,
        exhausted=entry.exhausted,
        window=entry.window,
        tokens=entry.tokens,
    )


def _as_sent(entry: Replied) -> tuple[AssistantBlock, ...]:
    """With the ids that the model wrote."""
    return tuple(
        replace(block, id=entry.sent.get(block.id, block.id)) if isinstance(block, Call) else block
        for block in entry.content
    )


def _deltas(index: int, block: AssistantBlock) -> list[Delta]:
    match block:
        case Text(text=text):
            return [TextDelta(index, text)]
        case Call(id=call_id, name=name, arguments=arguments):
            return [CallDelta(index, call_id, name, arguments), CallReady(index, block)]
        case Thinking(text=text):
            return [ThinkingDelta(index, text), Sealed(index, block)]
        case _:
            return [Sealed(index, block)]


def _told(content: tuple[AssistantBlock, ...], usage: Usage, model: str) -> Reply:
    return Reply(content, "end_turn", usage, model)


def _useless(entry: Unanswered) -> tuple[AssistantBlock, ...]:
    """An answer that is no summary, for the reason that was told; or one that was not used."""
    if entry.kind == "unused":
        return (Text(entry.error),)
    if entry.error == CALLED:
        return (Call("", "", "{}"),)
    return (Text("-"),) if entry.error == NO_SUMMARY else ()
