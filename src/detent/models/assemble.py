"""Wire pieces → deltas and one whole reply. Every codec speaks to this one object.

Blocks are keyed by whatever the wire uses (an index, a slot) and ordered by first appearance.
Pieces of one block that arrive together leave together, so the cost of a long answer depends on
how often the network woke us, not on the number of tokens.
"""

from collections.abc import Hashable
from typing import Literal

from msgspec.structs import astuple

from detent.types.content import AssistantBlock, Call, Opaque, Redacted, Text, Thinking
from detent.types.deltas import CallReady, Counted, Delta, Sealed
from detent.types.errors import ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Reply
from detent.types.usage import Usage

Kind = Literal["text", "thinking", "redacted", "opaque", "call"]
MOST_CONTENT = 32 * 1024 * 1024
"""Letters of one answer. No model writes as many; a server that goes on is broken, or worse."""
PIECE = 64
"""What a piece weighs beside its letters."""


class OpenBlock:
    __slots__ = ("closed", "id", "index", "kind", "name", "pieces", "signature")

    def __init__(self, index: int, kind: Kind, call_id: str = "", name: str = "") -> None:
        self.index = index
        self.kind = kind
        self.id = call_id
        self.name = name
        self.pieces: list[str] = []
        self.signature = ""
        self.closed = False

    def finished(self) -> AssistantBlock:
        text = "".join(self.pieces)
        match self.kind:
            case "text":
                return Text(text)
            case "thinking":
                return Thinking(text, self.signature)
            case "redacted":
                return Redacted(text)
            case "opaque":
                return Opaque(text)
            case "call":
                return Call(self.id, self.name, text, self.signature)


class Assembler:
    def __init__(self) -> None:
        self._blocks: dict[Hashable, OpenBlock] = {}
        """By key; when a key comes again, it is another block that has it now."""
        self._order: list[OpenBlock] = []
        self._out: list[Delta] = []
        self._current: OpenBlock | None = None
        self._fresh: list[str] = []
        self._usage = Usage()
        self._stop = ""
        self._ended = False
        self._weight = 0
        self._heard = False
        self.message_id = ""

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def stop_seen(self) -> bool:
        return bool(self._stop)

    def hear(self, size: int = 0) -> None:
        """Content came, shown or not. Wires say it themselves of what they hold back."""
        self._heard = True
        self._weight += size + PIECE
        if self._weight > MOST_CONTENT:
            raise ModelFailure("invalid_response", "the answer does not end")

    def piece(self, key: Hashable, kind: Kind, text: str) -> None:
        """A piece of text, thinking or arguments.

        Arguments that come behind the end of their call are no afterthought but a fault: the call
        may have begun to run with what there was.
        """
        block = self._blocks.get(key)
        if kind == "call" and (block is None or block.kind != kind or block.closed):
            raise ModelFailure("invalid_response", "arguments came that belong to no open call")
        if block is None or block.kind != kind:
            block = self._opened(key, OpenBlock(len(self._order), kind))
        self.hear(len(text))
        block.pieces.append(text)
        if block is not self._current:
            self._flush()
            self._current = block
        self._fresh.append(text)

    def call(self, key: Hashable, call_id: str, name: str) -> OpenBlock:
        """A call begins. A missing id is made up, for results must be able to name it."""
        self.hear(len(call_id) + len(name))
        self._flush()
        index = len(self._order)
        block = OpenBlock(index, "call", call_id or f"call_{index}", name)
        self._current = block
        self._fresh.append("")  # the first delta tells the name, even before any argument
        return self._opened(key, block)

    def redacted(self, key: Hashable, data: str) -> None:
        self._unseen(key, OpenBlock(len(self._order), "redacted"), data)

    def opaque(self, key: Hashable, data: str) -> None:
        """A block that only its provider understands; `data` is its JSON."""
        self._unseen(key, OpenBlock(len(self._order), "opaque"), data)

    def sign(self, key: Hashable, signature: str) -> None:
        block = self._blocks.get(key)
        if block is not None and signature:
            self.hear(len(signature))
            block.signature += signature
            self._seal(block)

    def find(self, key: Hashable) -> OpenBlock | None:
        return self._blocks.get(key)

    def close(self, key: Hashable) -> None:
        block = self._blocks.get(key)
        if block is not None and not block.closed:
            self._close(block)

    def close_all(self) -> None:
        for block in self._order:
            if not block.closed:
                self._close(block)

    def usage(self, usage: Usage) -> None:
        """Told as it comes: an answer that never becomes whole has cost something, too.
        Of a server that counts below nothing, nothing is believed."""
        if min(astuple(usage)) < 0:
            usage = Usage(*(max(0, count) for count in astuple(usage)))
        if usage != self._usage:
            self._usage = usage
            self._out.append(Counted(usage))

    def stop(self, reason: str) -> None:
        self._stop = reason

    def end(self) -> None:
        self.close_all()
        self._ended = True

    def heard(self) -> bool:
        """Whether content came since this was last asked: if so, the server is not silent."""
        heard, self._heard = self._heard, False
        return heard

    def drain(self) -> list[Delta]:
        """What became known since the last drain."""
        self._flush()
        out, self._out = self._out, []
        return out

    def reply(self, model: str, provider: str = "") -> Reply:
        """The whole answer; an answer that is none is a failure, not an empty message.

        `model` is the name we asked for: servers name their snapshot, and what is signed must go
        back to the one that signed it.
        """
        if not self._ended:
            raise ModelFailure("network", "the stream ended before the answer was complete")
        content = tuple(block.finished() for block in self._order)
        stop = self._stop or "end_turn"
        has_calls = any(isinstance(block, Call) for block in content)
        if stop == "tool_use" and not has_calls:
            raise ModelFailure("invalid_response", "the model stopped for a tool but named none")
        useful = has_calls or any(isinstance(b, Text) and b.text.strip() for b in content)
        if not useful and not self._stop:  # with a reason it is an answer, if a silent one
            raise ModelFailure("invalid_response", "the model gave an empty answer")
        return Reply(content, stop, self._usage, model, self.message_id, provider)

    def _unseen(self, key: Hashable, block: OpenBlock, data: str) -> None:
        """Whole at once, and nothing of it is shown while it streams; a later form replaces it."""
        known = self._blocks.get(key)
        if known is None or known.kind != block.kind:
            known = self._opened(key, block)
        self.hear(len(data))
        known.pieces = [data]
        self._close(known)

    def _opened(self, key: Hashable, block: OpenBlock) -> OpenBlock:
        before = self._blocks.get(key)
        if before is not None and not before.closed:
            self._close(before)
        self._blocks[key] = block
        self._order.append(block)
        return block

    def _close(self, block: OpenBlock) -> None:
        self.hear()
        block.closed = True
        if block.kind == "call":
            self._flush()
            call = block.finished()
            assert isinstance(call, Call)
            self._out.append(CallReady(block.index, call))
        self._seal(block)

    def _seal(self, block: OpenBlock) -> None:
        """An answer that breaks off must still go back with what its author has signed.

        Not every wire closes a block before the next one begins, so a signature is told at once.
        """
        if block.kind in ("text", "call") or (block.kind == "thinking" and not block.signature):
            return  # and nothing is joined: a block may be told of with each of its pieces
        sealed = block.finished()
        assert isinstance(sealed, Thinking | Redacted | Opaque)
        self._out.append(Sealed(block.index, sealed))

    def _flush(self) -> None:
        block, fresh = self._current, self._fresh
        if block is None or not fresh:
            return
        text = "".join(fresh)
        match block.kind:
            case "text":
                self._out.append(TextDelta(block.index, text))
            case "thinking":
                self._out.append(ThinkingDelta(block.index, text))
            case "call":
                self._out.append(CallDelta(block.index, block.id, block.name, text))
            case _:
                pass
        self._fresh = []
        self._current = None
