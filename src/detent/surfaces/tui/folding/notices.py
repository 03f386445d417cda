"""What is worth a line and is no part of the conversation."""

from msgspec.structs import replace

from detent.surfaces.counting import counted
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import View
from detent.types.events import (
    Compacted,
    Compacting,
    HookEnded,
    Notice,
    Retrying,
    Rewound,
    Switched,
    Trimmed,
    Withheld,
)
from detent.types.files import Undone


def notice(view: View, event: Notice, now: float) -> Folded:
    return view, (Told(event.text, event.level),)


def retrying(view: View, event: Retrying, now: float) -> Folded:
    note = f"{event.error}; retry {event.attempt}/{event.of} in {event.delay:g} s"
    return replace(view, phase="retrying", note=note), ()


def compacting(view: View, event: Compacting, now: float) -> Folded:
    phase = "waiting" if event.is_over else "compacting"
    return replace(view, phase=phase), ()


def compacted(view: View, event: Compacted, now: float) -> Folded:
    sizes = f"{event.before_tokens:,} → {event.after_tokens:,} tokens"
    kept = f", {counted(event.restored, 'fact')} added back" if event.restored else ""
    by = "" if event.by == "model" else " (by rules)"
    text = f"The conversation so far is told in short{by}: {sizes}{kept}."
    return view, (Told(f"{text} `detent uncompact` undoes it."),)


def trimmed(view: View, event: Trimmed, now: float) -> Folded:
    what = counted(len(event.trims), "old part")
    sizes = f"{event.before_tokens:,} → {event.after_tokens:,} tokens"
    return view, (Told(f"{what} shortened to make room ({event.stage}): {sizes}."),)


def switched(view: View, event: Switched, now: float) -> Folded:
    if not event.model:
        return view, ()
    why = f": {event.reason}" if event.reason else ""
    return view, (Told(f"{event.model} answers from now on{why}."),)


def withheld(view: View, event: Withheld, now: float) -> Folded:
    return view, (Told(f"Pictures are left out from now on: {event.reason}", "warning"),)


def rewound(view: View, event: Rewound, now: float) -> Folded:
    if not event.asked:
        return view, ()
    return view, (Told("What stands above no longer counts: the chat went back."),)


def undone(view: View, event: Undone, now: float) -> Folded:
    if event.begun:
        return view, ()
    return view, (Told(f"{counted(len(event.changes), 'file')} put back."),)


def hook_ended(view: View, event: HookEnded, now: float) -> Folded:
    """One that went well need not be told of."""
    if event.outcome != "error":
        return view, ()
    said = event.stderr.strip() or event.stdout.strip()
    first = said.splitlines()[0] if said else f"exit code {event.exit_code}"
    return view, (Told(f"The {event.event} hook {event.name!r}: {first}", "warning"),)
