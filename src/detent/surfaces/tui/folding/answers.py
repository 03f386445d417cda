"""An answer as it comes: text, thinking, and calls that are being written."""

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Block, Prose, Thought, Told
from detent.surfaces.tui.drawing.flow import Flow, end, feed
from detent.surfaces.tui.folding import calls
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import View
from detent.types.content import Call, Text, Thinking
from detent.types.events import CallDelta, Discarded, Replied, TextDelta, ThinkingDelta

LONGEST_THOUGHT = 20_000
"""Characters that are kept of what a model thinks; the log has all of it."""


def text(view: View, delta: TextDelta, now: float) -> Folded:
    view, before = _at_block(view, delta.index, now)
    flow, chunks = feed(view.flow, delta.text)
    view = _counted(view, len(delta.text))
    view = replace(view, flow=flow, phase="writing", heard=True)
    return view, (*before, *map(Prose, chunks))


def thinking(view: View, delta: ThinkingDelta, now: float) -> Folded:
    view, before = (view, ()) if view.thought else _at_block(view, delta.index, now)
    thought = (view.thought + delta.text)[-LONGEST_THOUGHT:]
    since = view.thought_since or now
    view = _counted(view, len(delta.text))
    view = replace(view, thought=thought, thought_since=since, phase="thinking", heard=True)
    return view, before


def call(view: View, delta: CallDelta, now: float) -> Folded:
    view, before = _at_block(view, delta.index, now)
    view = _counted(view, len(delta.fragment))
    return replace(view, forming=delta.name, phase="calling"), before


def replied(view: View, reply: Replied, now: float) -> Folded:
    """Whole, whatever of it was streamed: what was not is shown now."""
    view, blocks = _closed(view, now)
    if not view.heard:
        for block in reply.content:
            view, more = _unstreamed(view, block)
            blocks = (*blocks, *more)
    sent = {block.id: block for block in reply.content if isinstance(block, Call)}
    tally = view.tally
    if tally is not None:
        usage = tally.usage + reply.usage
        tally = replace(tally, usage=usage, written=0, steps=tally.steps + 1)
    view = replace(
        view, sent=view.sent | sent, tally=tally, heard=False, index=-1, forming="", note="",
        phase="working" if view.calls else "waiting", flow=Flow(),
    )  # fmt: skip
    view, late = calls.now_sent(view)
    return view, (*blocks, *late)


def discarded(view: View, event: Discarded, now: float) -> Folded:
    """The tombstone. What stands in the scrollback stays there, and is said to be void."""
    was_shown = view.heard and view.flow.last is not None
    view = replace(
        view, flow=Flow(), thought="", thought_since=0.0, heard=False, index=-1, forming="",
        phase="waiting",
    )  # fmt: skip
    said = (Told("The answer above broke off; it is asked for again.", "warning"),)
    return view, said if was_shown else ()


def _at_block(view: View, index: int, now: float) -> Folded:
    """Another block begins: the one before is over."""
    if index == view.index:
        return view, ()
    view, blocks = _closed(view, now)
    return replace(view, index=index), blocks


def _closed(view: View, now: float) -> Folded:
    blocks: list[Block] = []
    if view.thought.strip():
        blocks.append(Thought(view.thought, max(0.0, now - view.thought_since)))
    flow, chunks = end(view.flow)
    blocks += map(Prose, chunks)
    return replace(view, flow=flow, thought="", thought_since=0.0), tuple(blocks)


def _unstreamed(view: View, block: object) -> Folded:
    if isinstance(block, Thinking) and block.text.strip():
        return view, (Thought(block.text),)
    if not isinstance(block, Text):
        return view, ()
    flow, chunks = feed(view.flow, block.text)
    flow, rest = end(flow)
    return replace(view, flow=flow), tuple(map(Prose, (*chunks, *rest)))


def _counted(view: View, characters: int) -> View:
    if view.tally is None:
        return view
    return replace(view, tally=replace(view.tally, written=view.tally.written + characters))
