"""`/undo`, `/redo` and `/rewind`, and how their results read: also on the command line."""

import os
from collections.abc import Iterator, Sequence

from detent.sdk.session import Session
from detent.sdk.undo import Left, Part, Point, Redone, Report, Rewinding, StepDone
from detent.surfaces.commands import Hear
from detent.surfaces.counting import counted
from detent.types.errors import BadInput

MOST_FILES = 30
WHAT = {"made": "A", "changed": "M", "removed": "D", "mode": "P"}
"""As version control marks them; P is permissions alone."""
PARTS: tuple[Part, ...] = ("chat", "files", "both")
TO_UNDO = "Nothing to undo: no step that stands has changed files here."
TO_REDO = "Nothing to redo."


async def run(session: Session, rest: str, hear: Hear) -> str:
    if rest and (not rest.isdecimal() or not int(rest)):
        raise BadInput(f"/undo takes the number of a step; not {rest!r}")
    if not session.entries:  # else a session would begin with it
        return TO_UNDO
    return "\n".join(told(await session.undo(int(rest or 0)), session.cwd))


async def redo(session: Session, rest: str, hear: Hear) -> str:
    if not session.entries:
        return TO_REDO
    return "\n".join(told_redo(await session.redo(), session.cwd))


async def rewind(session: Session, rest: str, hear: Hear) -> str:
    """Alone it lists where one can go; with a number and no part, what would come of it."""
    number, *more = rest.split()[:3] or ("",)
    if not number:
        return "\n".join(listed(session.points()))
    if not number.isdecimal() or len(more) > 1 or (more and more[0] not in PARTS):
        raise BadInput(
            f"/rewind takes the number of a prompt, then chat, files or both; not {rest!r}"
        )
    part: Part = next((one for one in PARTS if one in more), "both")
    done = await session.rewind(int(number), part, dry_run=not more)
    return "\n".join(told_rewind(done, session.cwd))


def listed(points: Sequence[Point]) -> Iterator[str]:
    if not points:
        yield "Nothing was said yet."
        return
    for point in points:
        files = "" if not point.files else f"  ({counted(point.files, 'file')} changed since)"
        yield f"{point.number:>4}  {_short(point.text, 60)}{files}"
    yield "/rewind N shows what going back to before prompt N means; chat, files or both does it."


def told_rewind(done: Rewinding, cwd: str) -> Iterator[str]:
    number, is_preview = done.point.number, done.is_preview
    would = "would go back" if is_preview else "went back"
    if done.part != "files":
        lost = counted(done.messages, "message")
        yield f"The chat {would} to before prompt {number}: {lost} fewer."
    if done.files is not None:
        if done.files.is_nothing:
            yield "No file has changed since."
        else:
            yield from told(done.files, cwd)
    if is_preview:
        yield f"/rewind {number} both does this; chat or files does one of both."
    elif done.part != "files":
        yield "/redo takes it back, until the next prompt."


def told_redo(done: Redone, cwd: str) -> Iterator[str]:
    if done.messages:
        yield f"The chat is as it was: {counted(done.messages, 'message')} came back."
    if done.files is not None:
        yield from told(done.files, cwd)


def told(report: Report, cwd: str) -> Iterator[str]:
    if report.is_nothing:
        yield TO_REDO if report.did == "redo" else TO_UNDO
        return
    if report.was_cut_off:
        is_now = "this would finish it" if report.is_preview else "it is finished now"
        yield f"An earlier try was cut off; {is_now}."
    yield _headline(report)
    for file in report.files[:MOST_FILES]:
        yield f"  {WHAT[file.what]} {named(file.path, cwd)}"
    if len(report.files) > MOST_FILES:
        yield f"  … and {len(report.files) - MOST_FILES} more"
    for left in report.left:
        yield from told_left(left, cwd)
    if report.uncovered and report.did == "undo":
        yield "Not covered, and so as it is:"
        yield from (f"  {line}" for line in report.uncovered)
    if report.trouble:
        yield f"The session could not note it down ({report.trouble}): do it again when it can."


def told_steps(steps: Sequence[StepDone], cwd: str) -> Iterator[str]:
    if not steps:
        yield "No step has changed files."
    for step in steps:
        mark = "  (undone)" if step.is_undone else ""
        yield f"step {step.step}, prompt {step.prompt}: {_short('; '.join(step.calls), 70)}{mark}"
        for file in step.files[:MOST_FILES]:
            yield f"  {WHAT[file.what]} {named(file.path, cwd)}"
        if len(step.files) > MOST_FILES:
            yield f"  … and {len(step.files) - MOST_FILES} more"


def _headline(report: Report) -> str:
    steps = ", ".join(map(str, report.steps))
    which = f"step{'s' if len(report.steps) > 1 else ''} {steps}" if steps else "the files"
    files = counted(len(report.files), "file")
    if not report.files and report.left:
        return f"Nothing was {'redone' if report.did == 'redo' else 'put back'} of {which}."
    verb = "Redoing" if report.did == "redo" else "Undoing"
    if report.is_preview:
        return f"{verb} {which} would change {files}:"
    done = "Redone" if report.did == "redo" else "Undone"
    return f"{done}: {which}; {files} put back."


def told_left(left: Left, cwd: str) -> Iterator[str]:
    hint = "; --merge would keep both changes" if left.can_merge else ""
    yield f"  = {named(left.path, cwd)}  left: {left.reason}{hint}"
    yield from (f"      {line}" for line in left.diff)


def named(path: str, cwd: str) -> str:
    """On one line, whatever it is."""
    inside = path.startswith(cwd.rstrip("/") + "/")
    return (os.path.relpath(path, cwd) if inside else path).replace("\n", "\\n")


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
