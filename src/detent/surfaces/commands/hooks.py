"""`/hooks`: every hook that settings declare, and whether it runs."""

from collections.abc import Iterator

from detent.sdk.hooks_listing import HookListing, HookSeen, hooks_of
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import one_line


async def run(session: Session, rest: str, hear: Hear) -> str:
    return "\n".join(listed(await hooks_of(session)))


def listed(found: HookListing) -> Iterator[str]:
    if not found.hooks and not found.callbacks:
        yield "No hooks are declared."
        return
    for event in dict.fromkeys(hook.event for hook in found.hooks):
        yield one_line(f"{event}:")
        for hook in found.hooks:
            if hook.event == event:
                yield from _told(hook)
    for moment, number in found.callbacks.items():
        yield f"{moment}: {counted(number, 'function')} of the program that runs the session"


def _told(hook: HookSeen) -> Iterator[str]:
    terms = [f"for {hook.matcher}"] if hook.matcher else []
    terms += [f"if {hook.only_if}"] if hook.only_if else []
    terms += ["beside"] if hook.is_beside else []
    about = f"  [{', '.join(terms)}]" if terms else ""
    yield one_line(f"  {'-' if hook.why_not else '+'} {hook.what}{about}")
    why = f"; does not run: {hook.why_not}" if hook.why_not else ""
    yield one_line(f"      {hook.path} ({hook.level}){why}")
