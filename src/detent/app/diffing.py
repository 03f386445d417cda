"""What a session has changed in files, as a diff: of a turn, of a step, or of all of it.

It goes by the log alone. Files that somebody has changed since read here as the calls left them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff

from msgspec import Struct

from detent.app.undo.planning import What, what_became
from detent.app.undo.texts import LONGEST, text_in
from detent.session.undo import Deed, deeds_of, last_standing, standing
from detent.types.errors import BadInput
from detent.types.events import Entry, Replied
from detent.types.files import Change, FileState

Bytes = Callable[[str], bytes | None]
"""The bytes of a digest; None where they are not kept any more."""
MOST_FILES = 200
"""Of which a diff is made; the others are counted."""
NO_NEWLINE = "\\ No newline at end of file"
NO_FILE = "/dev/null"


class FileDiff(Struct, frozen=True, omit_defaults=True):
    path: str
    what: What
    added: int = 0
    removed: int = 0
    """Lines."""
    text: str = ""
    """Unified, with its two header lines; empty where there is nothing that people read."""
    note: str = ""
    """Why that is so, or what else should be known."""


class Diff(Struct, frozen=True, omit_defaults=True):
    of: str
    """`turn 3`, `step 7` or `the session`."""
    files: tuple[FileDiff, ...] = ()
    """In the order of the first change."""
    left_out: int = 0
    """How many more there are."""
    is_undone: bool = False
    """There were changes, and all of them were taken back."""


class _Net(Struct):
    """What became of a path over several changes."""

    before: FileState
    after: FileState
    is_broken: bool = False
    """Somebody else has changed it in between."""
    is_late: bool = False


def diff(entries: Sequence[Entry], which: str, cwd: str, read: Bytes) -> Diff:
    """`which` is `turn`, `turn N`, `session` or the number of a step; empty is the last turn that
    has changed files. Raises BadInput."""
    deeds = deeds_of(entries)
    of, chosen, is_undone = _chosen(entries, deeds, which)
    changes = [(path, net) for path, net in _net(chosen).items() if net.before != net.after]
    files = tuple(_file(path, net, cwd, read) for path, net in changes[:MOST_FILES])
    return Diff(of, files, max(0, len(changes) - MOST_FILES), is_undone and not files)


def _chosen(
    entries: Sequence[Entry], deeds: Sequence[Deed], which: str
) -> tuple[str, list[Deed], bool]:
    """What it is called, what belongs to it, and whether all that did was taken back."""
    words = which.split()
    stands = standing(deeds)
    if words == ["session"]:
        return "the session", list(deeds), bool(stands) and not any(stands.values())
    if words in ([], ["turn"]):
        last = last_standing(deeds)
        turn = 0 if last is None else last.prompt
        name, own = f"turn {turn}" if turn else "the last turn", _of_turn(deeds, turn)
    elif len(words) == 2 and words[0] == "turn" and _is_number(words[1]):
        name, own = f"turn {int(words[1])}", _of_turn(deeds, int(words[1]))
    elif len(words) == 1 and _is_number(words[0]):
        step = int(words[0])
        had = sum(isinstance(entry, Replied) for entry in entries)
        if step > had:
            raise BadInput(f"there is no step {step}: the session has had {had or 'none yet'}")
        name = f"step {step}"
        own = [deed for deed in deeds if deed.step == step and not deed.is_undo]
    else:
        raise BadInput(f"a diff is of `turn`, `turn N`, `session` or the number of a step; "
                       f"not {which!r}")  # fmt: skip
    left = [deed for deed in own if stands.get(deed.seq)]
    return name, left, bool(own) and not left


def _of_turn(deeds: Iterable[Deed], turn: int) -> list[Deed]:
    return [deed for deed in deeds if deed.prompt == turn and not deed.is_undo]


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and int(word) > 0


def _net(deeds: Iterable[Deed]) -> dict[str, _Net]:
    found: dict[str, _Net] = {}
    for deed in deeds:
        for change in deed.changes:
            net = found.get(change.path)
            if net is None:
                net = found[change.path] = _Net(change.before, change.before)
            net.is_broken |= net.after != change.before
            net.is_late |= deed.late
            net.after = change.after
    return found


def _file(path: str, net: _Net, cwd: str, read: Bytes) -> FileDiff:
    change = Change(path, net.before, net.after)
    what = what_became(net.before, net.after)
    notes = []
    if net.is_broken:
        notes.append("somebody else has changed it in between: that is in here, too")
    if net.is_late:
        notes.append("looked at after a crash: others may have had a hand in it")
    if what == "mode":
        notes.insert(0, f"permissions {net.before.mode:o} → {net.after.mode:o}")
        return FileDiff(path, what, note="; ".join(notes))
    texts = _texts(change, read)
    if isinstance(texts, str):
        return FileDiff(path, what, note="; ".join([texts, *notes]))
    lines = _unified(path, cwd, what, *texts)
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    if not lines:
        notes.insert(0, "empty")
    return FileDiff(path, what, added, removed, "\n".join(lines), "; ".join(notes))


def _texts(change: Change, read: Bytes) -> tuple[str, str] | str:
    """Both, or why there is nothing to compare."""
    found: list[str] = []
    for state in (change.before, change.after):
        if state.kind == "none":
            found.append("")
            continue
        if state.kind != "file":
            return _in_words(change)
        if state.size > LONGEST:
            return f"too long for a diff: {_sizes(change)}"
        data = read(state.digest) if state.digest else None
        if data is None:
            return f"its bytes were not kept: {_sizes(change)}"
        text = text_in(data)
        if text is None:
            return f"no text: {_sizes(change)}"
        found.append(text)
    return found[0], found[1]


def _in_words(change: Change) -> str:
    before, after = change.before, change.after
    links = [f"a link to {one.target}" for one in (before, after) if one.kind == "link"]
    if len(links) == 2:
        return " → ".join(links)
    words = {"none": "nothing", "link": "".join(links), "other": "something else"}
    return " → ".join(words.get(one.kind, f"a {one.kind}") for one in (before, after))


def _sizes(change: Change) -> str:
    states = [state for state in (change.before, change.after) if state.kind == "file"]
    return " → ".join(f"{state.size:,} bytes" for state in states)


def _unified(path: str, cwd: str, what: What, before: str, after: str) -> list[str]:
    name = os.path.relpath(path, cwd) if path.startswith(f"{cwd.rstrip('/')}/") else path
    name = name.lstrip("/").replace("\n", "\\n")
    old = NO_FILE if what == "made" else f"a/{name}"
    new = NO_FILE if what == "removed" else f"b/{name}"
    return list(unified_diff(_lines(before), _lines(after), old, new, lineterm="", n=3))


def _lines(text: str) -> list[str]:
    """Only at line feeds: other ends of lines are part of what a file holds."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += f"\n{NO_NEWLINE}"
    else:
        lines.pop()
    return lines
