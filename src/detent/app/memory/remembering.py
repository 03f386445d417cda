"""The memory of a session: what should be readable now, less what the model can still read."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct

from detent.app.grounds import Grounds
from detent.app.memory.choosing import Borders, Globs, Scope, excluder
from detent.app.memory.finding import FOREIGN, in_folder, standing
from detent.app.memory.reading import Shelf, doubt_about_file
from detent.app.memory.touched import Touched
from detent.app.reminders import Moment, folders_down, is_off, off_by
from detent.context.conversation import Conversation
from detent.context.memory import wording
from detent.context.memory.record import Found, Piece, Tree
from detent.context.memory.trees import Gathering, Sheet
from detent.ports import Gate, Proposal
from detent.types.content import Call
from detent.types.effects import Reads
from detent.types.events import Reminded
from detent.types.verdicts import Deny

SOURCE = "memory"
MOST_SAID = 20
"""Notices of one session: a project may have any number of files that are wrong."""


class View(Struct, frozen=True):
    """All memory as it stands."""

    trees: tuple[Tree, ...] = ()
    known: frozenset[str] = frozenset()
    """Every file that is memory in some way, by its name and by its place."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(piece for tree in self.trees for piece in tree.pieces)


class Remembering:
    def __init__(
        self,
        grounds: Grounds,
        conversation: Conversation,
        gate: Gate,
        tell: Callable[[str], None],
    ) -> None:
        self._grounds = grounds
        self._conversation = conversation
        self._gate = gate
        self._tell = tell
        self._said: set[str] = set()
        self._shelf = Shelf(grounds.own)
        self._touched = Touched()
        self._folders: dict[str, None] = {}
        """Those that were touched and do not lie on the way to where the session works."""
        self._nested: dict[str, list[Found]] = {}
        """Memory of these, looked for once a prompt."""
        self._scopes: dict[str, Scope] = {}
        """By rule."""
        self._globs = Globs()
        self._rewound = 0
        self._gathers = threading.Lock()
        """A turn that is cancelled does not wait for the disk, and the next may begin."""
        self._borders = Borders(grounds.where, lambda: self._is_trusted)
        self._leaves_out, faults = excluder(grounds.settings.memory_excludes, grounds.own)
        self._excluded: set[str] = set()
        for fault in faults:
            self._say(fault)

    @cached_property
    def _is_trusted(self) -> bool:
        return self._grounds.is_trusted

    @property
    def off(self) -> str:
        """Why nothing is told, where something would be; after `pieces`."""
        if by := off_by(self._grounds):
            return f"it is switched off by {by}"
        count = len(self._excluded)
        files = "1 file is" if count == 1 else f"{count} files are"
        return f"{files} left out by claudeMdExcludes" if count else ""

    def _is_excluded(self, path: str) -> bool:
        if self._leaves_out(path):
            self._excluded.add(path)
        return path in self._excluded

    async def due(self, moment: Moment) -> Sequence[Reminded]:
        if is_off(self._grounds):
            return ()
        leads = moment != "calls"
        if leads:
            self._nested = {}  # people write such files meanwhile
        if not await self._has_news() and not leads:
            return ()
        view = await self._view()
        found = [*self._unread(view, leads), *self._gone(view, leads)]
        if found and self._gate.hears("instructions_loaded"):
            from detent.app.memory.announcing import announce

            await announce(self._gate, view.trees, {one.path for one in found}, moment)
        return found

    async def pieces(self) -> tuple[Piece, ...]:
        """Every file, whether it counts and why."""
        if is_off(self._grounds):
            return ()
        await self._has_news()
        return (await self._view()).pieces

    @staticmethod
    def notes(pieces: Sequence[Piece]) -> list[str]:
        """What the user should know of single files."""
        return list(filter(None, map(_note, pieces)))

    async def _has_news(self) -> bool:
        """Whether calls have touched what a rule waited for, or a folder that has memory for the
        first time. Most have none: then all that is known need not be looked through."""
        new = self._touched.look(self._conversation.entries)
        if is_back := self._rewound != self._touched.rewound:
            self._rewound = self._touched.rewound
            self._folders, self._scopes = {}, {}
            new = list(self._touched.paths)
        if not new:
            return is_back
        touched = list(self._touched.paths)
        waiting = [scope for scope in list(self._scopes.values()) if not scope.is_met]
        folders = [folder for path in new for folder in self._new_folders(path)]
        is_met = [scope.meets(touched) for scope in waiting]
        if is_back or any(is_met):
            return True
        return bool(folders) and await asyncio.to_thread(self._has_any, folders)

    def _new_folders(self, path: str) -> list[str]:
        where, found = self._grounds.where, list[str]()
        for folder in folders_below(where.root, path):
            if folder in self._folders or f"{where.cwd}/".startswith(f"{folder}/"):
                continue
            if folder != path or os.path.isdir(path):
                self._folders[folder] = None
                found.append(folder)
        return found

    def _has_any(self, folders: list[str]) -> bool:
        return any(self._of(folder) for folder in folders)

    async def _view(self) -> View:
        """In a thread, for disks may be slow; what rules deny is judged here, as all is."""
        while True:
            folders, touched = list(self._folders), list(self._touched.paths)
            view = await asyncio.to_thread(self._gathered, folders, touched)
            denied = self._newly_denied(view)
            if not denied:
                break
            self._borders.denied |= denied
        for note in self.notes(view.pieces):
            self._say(note)
        for path, scope in list(self._scopes.items()):
            for fault in scope.faults:
                self._say(f"memory: {path}: {fault}")
        return view

    def _gathered(self, folders: list[str], touched: list[str]) -> View:
        with self._gathers:
            gathering = Gathering(self._shelf.named, self._borders.import_objection)
            found = standing(self._grounds, self._is_excluded, trusted=lambda: self._is_trusted)
            for folder in folders:
                found += self._of(folder)
            trees, known = list[Tree](), set[str]()
            for one in found:
                if (sheet := self._sheet(one)) is not None:
                    known.add(one.path)
                    trees.append(gathering.take(one, sheet, self._scope(one, touched)))
            lost = {tree.found.path for tree in trees if tree.is_silent}
            return View(tuple(trees), frozenset((known | gathering.seen) - lost))

    def _sheet(self, found: Found) -> Sheet | None:
        if found.given is not None:
            return Sheet(found.path, found.path, found.given)
        sheet = self._shelf.read(found.path)
        if sheet is None:
            return None
        is_own = found.level in ("managed", "user")
        why = doubt_about_file(sheet.real) if is_own else self._borders.project_objection(sheet)
        return Sheet(sheet.path, sheet.real, fault=why) if why else sheet

    def _scope(self, found: Found, touched: list[str]) -> Callable[[tuple[str, ...]], bool]:
        def counts(globs: tuple[str, ...]) -> bool:
            scope = self._scopes.get(found.path)
            if scope is None or scope.globs != globs:
                scope = self._scopes[found.path] = Scope(globs, found.base, self._globs)
            return scope.meets(touched)

        return counts

    def _of(self, folder: str) -> list[Found]:
        known = self._nested
        if folder not in known:
            known[folder] = in_folder(folder, self._grounds, self._is_excluded, nested=True)
        return known[folder]

    def _newly_denied(self, view: View) -> frozenset[str]:
        """Files of the project, and imports, that rules deny reading."""
        settings, options = self._grounds.settings, self._grounds.options
        if not settings.deny and not options.disallowed_tools:
            return frozenset()
        read = (
            piece.path
            for piece in view.pieces
            if piece.tokens and (piece.imported_by or piece.level in ("project", "local"))
        )
        denied = frozenset(os.path.realpath(path) for path in read if self._is_denied(path))
        return denied - self._borders.denied

    def _is_denied(self, path: str) -> bool:
        cwd = self._grounds.cwd
        reading = Proposal(Call("", "Read", ""), "Read", {}, (Reads(path),), cwd)
        return isinstance(self._gate.judge(reading), Deny)

    def _unread(self, view: View, leads: bool) -> list[Reminded]:
        found: list[Reminded] = []
        for tree in view.trees:
            path, text = tree.found.path, tree.text
            before = self._conversation.told.get((SOURCE, path))
            again = wording.told_again(text)
            if text and before not in (text, again):
                said = text if before is None else again
                why = tree.found.why
                found.append(Reminded(text=said, source=SOURCE, path=path, why=why, leads=leads))
        return found

    def _gone(self, view: View, leads: bool) -> list[Reminded]:
        """A file that was read and is memory no more: said once."""
        gone: list[Reminded] = []
        for (source, path), text in self._conversation.told.items():
            said = wording.gone(path)
            if source == SOURCE and path not in view.known and text != said:
                why = "it is gone"
                gone.append(Reminded(text=said, source=SOURCE, path=path, why=why, leads=leads))
        return gone

    def _say(self, text: str) -> None:
        if text in self._said or len(self._said) > MOST_SAID:
            return
        self._said.add(text)
        is_last = len(self._said) > MOST_SAID
        self._tell("memory: there is more to say of other files" if is_last else text)


def folders_below(root: str, path: str) -> list[str]:
    """The folders on the way to a path that was touched, itself included if it is one; none when
    it lies elsewhere or in what came from elsewhere."""
    if not path.startswith(f"{root.rstrip('/')}/"):
        return []
    found = [one for one in folders_down(root, path)[1:] if not _is_copy(one)]
    foreign = (number for number, one in enumerate(found) if os.path.basename(one) in FOREIGN)
    return found[: next(foreign, len(found))]


def _is_copy(folder: str) -> bool:
    """The top of a worktree says what is known already."""
    from detent.host.files import WORKTREES

    return os.path.basename(os.path.dirname(folder)) == WORKTREES


def _note(piece: Piece) -> str:
    """What the user should know of a file that the model does not read, or not as it is."""
    match piece.state:
        case "unreadable":
            return f"memory: {piece.path} is not read: {piece.note}"
        case "refused":
            return f"memory: {piece.imported_by} may not import {piece.path}: {piece.note}"
        case "left out":
            return f"memory: {piece.path} is left out: there is more memory than fits"
        case _:
            return f"memory: {piece.path}: {piece.note}" if piece.note else ""
