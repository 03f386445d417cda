"""What a session that goes on keeps of the run before, where this one says nothing: its model, and
a mode that holds back. Permissions that were wider are never taken from a log."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from detent.app.gating import HOLDING
from detent.app.grounds import Grounds
from detent.app.models import why_not
from detent.types.events import Entry, Replied, Switched
from detent.types.running import Equipped

NAMED_BY = ("DETENT_MODEL", "ANTHROPIC_MODEL", "OPENAI_MODEL")
"""Variables by which this run says which model it wants."""


def with_kept_model(grounds: Grounds, entries: Sequence[Entry]) -> Grounds:
    """The grounds with the session's model, or with the notice that it is another one now."""
    options, settings = grounds.options, grounds.settings
    if options.model or _is_named(grounds.environ) or not (kept := kept_model(entries)):
        return grounds
    if fault := why_not(kept, settings, grounds.environ):
        note = f"the session's model {kept} cannot be had ({fault}); going on with another"
        return replace(grounds, settings=replace(settings, notices=(*settings.notices, note)))
    return replace(grounds, options=replace(options, model=kept))


def kept_model(entries: Sequence[Entry]) -> str:
    """`PROVIDER/NAME` of what somebody chose; a fallback that stood in was chosen by nobody."""
    kept, own, stands_in = "", "", False
    for entry in entries:
        match entry:
            case Equipped(begins=True, model=model):  # a run begins
                own, stands_in = model, False
            case Switched(model=model, once=True) if model:
                stands_in = model != own
            case Switched(model=model, reason=reason) if model:
                stands_in = bool(reason) and not kept.endswith(f"/{model}")
                kept, own = (kept, own) if reason else (model, model)
            case Replied(model=model, provider=provider) if provider and not stands_in:
                kept = f"{provider.partition(' at ')[0]}/{model}"  # without its address
            case _:
                pass
    return kept


def kept_mode(entries: Sequence[Entry]) -> str:
    """The mode that the log tells last; empty when it tells of none."""
    modes = (e.mode for e in reversed(entries) if isinstance(e, Switched) and e.mode)
    return next(modes, "")


def new_mode(mode: str, entries: Sequence[Entry]) -> Switched | None:
    """What the log must know, so that a mode which holds back comes back, and one that was left
    does not."""
    before = kept_mode(entries)
    if mode == before or not {mode, before} & set(HOLDING):
        return None
    return Switched(mode=mode)


def _is_named(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in NAMED_BY)
