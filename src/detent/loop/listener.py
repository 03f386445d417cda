"""The sink of one answer: shows it, starts its calls, remembers it in case it breaks off."""

from collections.abc import Awaitable, Callable

from detent.loop.calls import CallRunner
from detent.loop.kit import Kit
from detent.loop.limits import Tally
from detent.loop.spending import lose, unanswered
from detent.types.content import AssistantBlock, Call, Opaque, Redacted, Text, Thinking
from detent.types.deltas import Begun, CallReady, Counted, Delta, Sealed
from detent.types.errors import Overdrawn
from detent.types.events import CallDelta, Discarded, TextDelta
from detent.types.messages import Reply
from detent.types.usage import Usage


class Broken(Exception):
    """Out of the model, past its retries: this answer must not be asked for again."""


class Listener:
    def __init__(self, kit: Kit, tally: Tally, runner: CallRunner) -> None:
        self._kit = kit
        self._tally = tally
        self._runner = runner
        self._asked = Begun(kit.model.name)
        self._texts: dict[int, list[str]] = {}
        self._sealed: dict[int, Thinking | Redacted | Opaque] = {}
        self._open: set[int] = set()
        """Calls that have begun to arrive."""
        self._waiting: dict[int, Call] = {}
        """Calls that are whole and have not begun to run."""
        self._counted = Usage()
        """What the attempt at hand has cost so far."""

    async def __call__(self, delta: Delta) -> None:
        match delta:
            case Begun():
                self._asked, self._tally.sent = delta, delta.max_output
            case CallReady(index=index, call=call):
                self._open.discard(index)
                self._waiting[index] = call
                if self._kit.limits.early_calls:
                    self._begin()
            case Sealed(index=index, block=block):
                self._sealed[index] = block
            case Counted(usage=usage):
                self._counted = usage
            case _:
                if isinstance(delta, TextDelta):
                    self._texts.setdefault(delta.index, []).append(delta.text)
                elif isinstance(delta, CallDelta):
                    self._open.add(delta.index)
                elif isinstance(delta, Discarded):
                    self._discard(delta.reason)
                await self._kit.emit(delta)

    def _begin(self) -> None:
        """In the order of the answer, whichever is whole first. No arguments may be none, or a cut
        before the first: only a call behind it tells, or the end.
        """
        for index in sorted(self._waiting):
            is_last = index == max(self._waiting.keys() | self._open)
            if min(self._open, default=index) < index:
                return
            if is_last and not self._waiting[index].arguments.strip():
                return
            self._runner.begin(index, self._waiting.pop(index))

    def _discard(self, reason: str) -> None:
        if self._runner.acted:
            raise Broken(reason)
        self._runner.discard()
        self._open.clear()
        self._waiting.clear()
        self._texts.clear()
        self._sealed.clear()
        self._counted = Usage()

    def unanswered(self, failure: Exception) -> Callable[[], Awaitable[None]]:
        """What tells of it, with what it has cost so far; behind all that must be kept, for one may
        be interrupted while telling. What the account refused was never asked for."""
        entry = unanswered(self._asked.model, failure, self._counted)

        async def tell() -> None:
            if not isinstance(failure, Overdrawn):
                await self._kit.emit(entry)

        return tell

    async def lose(self) -> None:
        """Nothing of it is kept, but what it has cost."""
        counted, self._counted = self._counted, Usage()
        await lose(self._kit.emit, self._asked.model, counted)

    def partial(self, stop: str) -> Reply:
        """What is sealed is kept for the sake of what follows it: alone it would be refused."""
        texts = {index: Text("".join(pieces)) for index, pieces in self._texts.items()}
        blocks: dict[int, AssistantBlock] = {**self._sealed, **texts, **self._runner.ready()}
        said = {index for index, text in texts.items() if text.text.strip()}
        last = max(said | self._runner.ready().keys(), default=-1)
        content = tuple(blocks[index] for index in sorted(blocks) if index <= last)
        return Reply(content, stop, self._counted, self._asked.model, provider=self._asked.provider)
