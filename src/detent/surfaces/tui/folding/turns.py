"""A prompt begins a turn, or steers it; and the end of one."""

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Finished, Said, Told
from detent.surfaces.tui.folding.answers import _closed
from detent.surfaces.tui.folding.calls import now_sent
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import Tally, View
from detent.types.content import UserBlock, own_words
from detent.types.events import Prompted, TurnEnded


def prompted(view: View, event: Prompted, now: float) -> Folded:
    text, attached = typed(event.content)
    tally = view.tally if event.steered and view.tally else Tally(begun=now)
    view = replace(view, tally=tally, note="")
    return view, (Said(text, event.steered, attached),)


def typed(content: tuple[UserBlock, ...]) -> tuple[str, int]:
    """What the person wrote, and how much else went along."""
    own = own_words(content)
    return "\n".join(own), len(content) - len(own)


def ended(view: View, event: TurnEnded, now: float) -> Folded:
    view, blocks = _closed(view, now)
    view, late = now_sent(view)
    tally = view.tally or Tally()
    delegated = event.delegated
    finished = Finished(event, tally.files, tally.checks, event.usage.total + delegated.usage.total)
    view = _at_rest(view)
    said: tuple[Told, ...] = ()
    if event.error and event.reason != "user_cancelled":
        said = (Told(event.error, "warning" if event.reason == "hook_stopped" else "error"),)
    return view, (*blocks, *late, *said, finished)


def broken_off(view: View, now: float) -> Folded:
    """Where nobody has told the end: what was written so far is kept, and nothing is at work."""
    view, blocks = _closed(view, now)
    view, late = now_sent(view)
    return _at_rest(view), (*blocks, *late)


def _at_rest(view: View) -> View:
    return View(todos=view.todos, workers=tuple(one for one in view.workers if one.background))
