"""Calls: at work, and what came of them."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Card, Check, FileTally
from detent.surfaces.tui.drawing.diff import counted_lines
from detent.surfaces.tui.folding.checking import is_check
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import Running, Tally, Todo, View
from detent.types.codec import arguments_object
from detent.types.content import Call
from detent.types.events import CallEnded, CallStarted, Progress
from detent.types.files import Change
from detent.types.outcomes import Done

LONGEST_TAIL = 2_000
"""Characters that are kept of what a running call prints."""


def started(view: View, event: CallStarted, now: float) -> Folded:
    running = Running(event.call_id, event.name, event.arguments, now)
    calls = (*view.calls, running)
    return replace(view, calls=calls, phase="working", forming=""), ()


def progress(view: View, event: Progress, now: float) -> Folded:
    if not event.text:
        return view, ()
    calls = tuple(
        replace(one, tail=(one.tail + event.text)[-LONGEST_TAIL:]) if one.id == event.call_id
        else one
        for one in view.calls
    )  # fmt: skip
    return replace(view, calls=calls), ()


def ended(view: View, event: CallEnded, now: float) -> Folded:
    """A call that never ran may end before its answer is whole: it waits for its arguments."""
    running = next((one for one in view.calls if one.id == event.call_id), None)
    sent = view.sent.get(event.call_id)
    if running is None and sent is None and view.is_running:
        return replace(view, unsent=(*view.unsent, event)), ()
    arguments = running.arguments if running else sent.arguments if sent else ""
    calls = tuple(one for one in view.calls if one.id != event.call_id)
    view = replace(
        view, calls=calls, phase="working" if calls else "waiting",
        sent={key: call for key, call in view.sent.items() if key != event.call_id},
    )  # fmt: skip
    view = _with_todos(view, event, arguments)
    if view.tally is not None:
        view = replace(view, tally=_tallied(view.tally, event, arguments))
    return view, (Card(event.name, arguments, event.outcome, event.ms),)


def now_sent(view: View) -> Folded:
    """Ends that waited for their answer."""
    unsent, view = view.unsent, replace(view, unsent=())
    blocks: tuple[Any, ...] = ()
    for event in unsent:
        if event.call_id not in view.sent:
            call = Call(event.call_id, event.name, "")
            view = replace(view, sent=view.sent | {event.call_id: call})
        view, more = ended(view, event, event.at)
        blocks = (*blocks, *more)
    return view, blocks


def _with_todos(view: View, event: CallEnded, arguments: str) -> View:
    listed = (arguments_object(arguments) or {}).get("todos")
    if event.name != "TodoWrite" or not isinstance(event.outcome, Done):
        return view
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    todos = tuple(
        Todo(str(item.get("content", "")), str(item.get("status", "pending"))) for item in items
    )
    is_over = all(todo.status == "completed" for todo in todos)
    return replace(view, todos=() if is_over else todos)


def _tallied(tally: Tally, event: CallEnded, arguments: str) -> Tally:
    data = getattr(event.outcome, "data", None) or {}
    tally = replace(tally, files=changed_files(tally.files, event.changed, data))
    if event.changed:
        tally = replace(tally, checks=tuple(replace(one, is_stale=True) for one in tally.checks))
    given = arguments_object(arguments) or {}
    command, code = given.get("command"), data.get("exitCode")
    if isinstance(command, str) and isinstance(code, int) and is_check(command):
        others = tuple(one for one in tally.checks if one.command != command)
        tally = replace(tally, checks=(*others, Check(command, code)))
    return tally


def changed_files(
    known: tuple[FileTally, ...], changes: tuple[Change, ...], data: Mapping[str, Any]
) -> tuple[FileTally, ...]:
    files = {one.path: one for one in known}
    for change in changes:
        before, after = change.before.kind != "none", change.after.kind != "none"
        what = "changed" if before and after else "made" if after else "removed"
        one = files.get(change.path) or FileTally(change.path, what)
        if one.what == "made" and what == "removed":
            files.pop(change.path, None)  # as if it had never been
            continue
        is_new = one.what == "made" and what != "removed"
        is_back = one.what == "removed" and what == "made"
        what = "made" if is_new else "changed" if is_back else what
        files[change.path] = replace(one, what=what)
    path, patch = data.get("filePath"), data.get("structuredPatch")
    if isinstance(path, str) and isinstance(patch, list) and path in files:
        added, removed = counted_lines(patch)
        content = data.get("content")
        if not patch and isinstance(content, str):
            added = content.count("\n") + (not content.endswith("\n") and bool(content))
        one = files[path]
        files[path] = replace(
            one, added=one.added + added, removed=one.removed + removed, is_counted=True
        )
    return tuple(files.values())
