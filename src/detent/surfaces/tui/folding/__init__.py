"""`view = fold(view, event)`: what an event changes on the screen, and what is finished by it.

A module for each kind of event; this one only knows which is whose.
"""

from collections.abc import Iterable

from detent.surfaces.tui.blocks import Block
from detent.surfaces.tui.folding import answers, calls, notices, turns, workers
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import View
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Compacted,
    Compacting,
    Discarded,
    Event,
    HookEnded,
    Nested,
    Notice,
    Progress,
    Prompted,
    Replied,
    Retrying,
    Rewound,
    Switched,
    TextDelta,
    ThinkingDelta,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.files import Undone

FOLDS = {
    TextDelta: answers.text,
    ThinkingDelta: answers.thinking,
    CallDelta: answers.call,
    Replied: answers.replied,
    Discarded: answers.discarded,
    CallStarted: calls.started,
    Progress: calls.progress,
    CallEnded: calls.ended,
    AgentStarted: workers.started,
    Nested: workers.nested,
    AgentEnded: workers.ended,
    Prompted: turns.prompted,
    TurnEnded: turns.ended,
    Notice: notices.notice,
    Retrying: notices.retrying,
    Compacting: notices.compacting,
    Compacted: notices.compacted,
    Trimmed: notices.trimmed,
    Switched: notices.switched,
    Withheld: notices.withheld,
    Rewound: notices.rewound,
    Undone: notices.undone,
    HookEnded: notices.hook_ended,
}


def fold(view: View, event: Event, now: float) -> Folded:
    """Events that nobody shows leave everything as it is."""
    change = FOLDS.get(type(event))
    return (view, ()) if change is None else change(view, event, now)  # type: ignore[operator]


def fold_all(events: Iterable[Event]) -> tuple[View, list[Block]]:
    """Of a session that is there already: at the times that its entries bear."""
    view, blocks = View(), list[Block]()
    for event in events:
        view, finished = fold(view, event, getattr(event, "at", 0.0))
        blocks += finished
    return view, blocks
