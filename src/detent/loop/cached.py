"""After each answer: did the provider's cache hold what it should, and if not, why."""

from msgspec.structs import replace

from detent.context.cache_watch import LastRequest, head_of, left_by, missed, missed_since_resume
from detent.loop.kit import Kit
from detent.types.events import Notice
from detent.types.messages import Reply, Request


async def watch_cache(kit: Kit, request: Request, reply: Reply, seq: int) -> None:
    """`seq` is the last entry the request was made from."""
    conversation, usage = kit.conversation, reply.usage
    before = conversation.asked
    now = LastRequest(
        request,
        (reply.model, reply.provider),
        kit.model,
        seq,
        kit.clock.now(),
        left_by(usage),
        head_of(request, before),
        before.missed if before is not None else "",
    )
    if before is None:
        text = missed_since_resume(reply, now, conversation.entries, conversation.head)
    else:
        text = missed(before, now, usage, conversation.entries)
    if text:
        now = replace(now, missed=text)
        await kit.emit(Notice(text))
    if usage.context:
        conversation.asked = now
