"""The ledger of a session: the request it would send now, or one that it has sent."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.engine import Engine
from detent.context.books import Books
from detent.context.cache_watch import changed_head, head_of, last_miss
from detent.context.conversation import Conversation
from detent.context.ledger import Sent, blocks_of, carried_over, counted, rows_of
from detent.context.pressure import state_of, window_of
from detent.context.provenance import sent_before
from detent.loop.kit import Kit
from detent.loop.limits import Tally, first_output
from detent.loop.stages import no_trace
from detent.loop.step import request_of
from detent.types.errors import BadInput
from detent.types.events import Entry, Reminded, Replied
from detent.types.ledger import ContextLedger, LedgerBlock
from detent.types.messages import Request
from detent.types.weights import Weights


def ledger_of(engine: Engine, step: int = 0) -> ContextLedger:
    """Of the request for the answer of this number, or of the next one. Raises BadInput."""
    kit, entries = engine.kit, list(engine.journal.log.entries)
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    if step and not 0 < step <= len(replies):
        had = f"has had {len(replies)}" if replies else "has had none yet"
        raise BadInput(f"there is no step {step}: the session {had}")
    reply = replies[step - 1] if step else replies[-1] if replies else None
    sent = _sent(kit, entries, reply) if reply is not None else None
    blocks = _known(sent, reply) if sent is not None and reply is not None else []
    if not step:
        sent = _sent(kit, entries, None)
        now = blocks_of(sent)
        blocks = carried_over(now, blocks, reply) if blocks and reply is not None else now
    assert sent is not None
    return _ledger(engine, step, replies, sent, blocks)


def _known(sent: Sent, reply: Replied) -> list[LedgerBlock]:
    return counted(blocks_of(sent), reply.usage, sent.weights.is_marked)


def _ledger(
    engine: Engine,
    step: int,
    replies: Sequence[Replied],
    sent: Sent,
    blocks: Sequence[LedgerBlock],
) -> ContextLedger:
    kit = engine.kit
    reply = replies[step - 1] if replies else None  # for the next request, the last one
    used = sum(block.tokens for block in blocks)
    window = window_of(kit.shaping, kit.model.window, kit.conversation.window)
    reserved = min(sent.request.max_output, max(0, window - used))
    asked = kit.conversation.asked if not step else None
    return ContextLedger(
        session=engine.journal.session,
        model=reply.model if step and reply is not None else kit.model.name,
        step=step,
        steps=len(replies),
        bytes=sent.weights.total,
        tokens=used,
        window=window,
        reserved=reserved,
        free=max(0, window - used - reserved),
        state=state_of(used, window),
        is_automatic=kit.shaping.is_automatic,
        is_exact=not _is_neutral(kit),
        differs=_differs(replies[:step], sent.request),
        usage=reply.usage if reply is not None else None,
        rows=rows_of(blocks),
        blocks=tuple(blocks),
        spent=engine.spending(Books(kit.price).read(engine.journal.log.entries)),
        missed=(asked.missed if asked is not None else "") or last_miss(sent.entries),
    )


def _sent(kit: Kit, entries: Sequence[Entry], reply: Replied | None) -> Sent:
    """The request for this answer, made once more; without one, the next."""
    before = sent_before(entries, reply) if reply is not None else list(entries)
    past = Conversation(before, kit.conversation.family)
    past.base = kit.conversation.base
    tally = Tally(0, 0.0, first_output(kit.limits, kit.model.max_output))
    then = replace(kit, conversation=past, trace=no_trace)
    request = request_of(then, tally, is_last=_is_last_word(before))
    if reply is not None and reply.max_output:
        request = replace(request, max_output=reply.max_output)
    if later := set(_found(entries)) - set(_found(before)):  # found by the model since
        tools = [spec for spec in request.tools if spec.name not in later]
        request = replace(request, tools=tools)
    weights = _weights(kit, request, reply.model if reply is not None else "")
    return Sent(request, weights, before, kit.conversation.family)


def _differs(replies: Sequence[Replied], request: Request) -> str:
    """The log has digests where the provider tells of its cache."""
    told = next((reply.head for reply in reversed(replies) if reply.head), "")
    return changed_head(told, head_of(request))


def _found(entries: Sequence[Entry]) -> list[str]:
    from detent.tools.deferred import found_in

    return found_in(entries)


def _is_last_word(entries: Sequence[Entry]) -> bool:
    """The budget was spent: one more answer, without tools."""
    for entry in reversed(entries):
        if isinstance(entry, Replied):
            return False
        if isinstance(entry, Reminded) and entry.source == "budget":
            return True
    return False


def _weights(kit: Kit, request: Request, model: str) -> Weights:
    if _is_neutral(kit):
        from detent.models.weighing import weigh_neutrally

        return weigh_neutrally(request, kit.model.name)
    scales: Any = kit.model
    weights: Weights = scales.weigh(request, model)
    return weights


def _is_neutral(kit: Kit) -> bool:
    return not getattr(kit.model, "is_exact", hasattr(kit.model, "weigh"))
