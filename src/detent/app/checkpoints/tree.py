"""One folder of the workspace, compared with its mirror: what changed since somebody last looked.

Blocking: whoever calls does so in a thread where it may take long.
"""

import os
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from detent.app.checkpoints.reading import Keep, Reader, is_text
from detent.app.checkpoints.terms import Terms
from detent.host.files import SKIPPED
from detent.host.ignoring import NAME, Ignoring, rules_above
from detent.host.watching import Touched, Watcher
from detent.session.mirror import Mirror, Piece, Seen

Differences = dict[str, tuple[Seen | None, Seen | None]]
"""By path from the root: what was there, and what is."""


class Tree:
    def __init__(
        self,
        root: str,
        mirror: Mirror,
        terms: Terms,
        own: frozenset[str] = frozenset(),
        is_over: Callable[[], bool] = bool,
    ) -> None:
        """`own` are places of the program itself, which are none of the user's files; `is_over`
        says that nobody waits for a look any more."""
        self.root, self.mirror = root, mirror
        self._base = f"{root.rstrip('/')}/"
        self._reader = Reader(root, mirror, terms, is_over)
        self.missed = self._reader.missed
        """What is not covered, in words."""
        self._terms, self._own = terms, own
        self._watcher: Watcher | None = None
        self._folders = mirror.folders
        self._rules: dict[str, Ignoring] = {}
        self._above, self._lead = rules_above(root)
        self._are_rules_old = False
        self._is_unsure = False
        """A look did not come to its end: what it was about is not known."""
        self._just_read: set[str] = set()
        """Folders whose rules were read in this look."""
        self._linked: set[str] = set()
        """Files with more than one name: they may be changed by another, and nobody tells."""
        self._new_links: set[int] = set()
        self._count = sum(map(len, self._folders.values()))
        self._queue: deque[str] = deque()
        self._found: Differences = {}
        self._news: dict[str, set[str]] = {}
        """Names by folder that the mirror on disk does not know as they are."""
        self._passed: set[str] = set()
        """Folders that this look did not come to: nothing can be said of what is in them."""
        self._device = self._inode = -1
        self._lost: set[str] = set()

    def watch(self, watcher: Watcher) -> None:
        """Before the first look: what happens from then on is told."""
        self._watcher = watcher

    def stop_watching(self) -> None:
        """From here on everything is looked at, each time."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    @property
    def is_watched(self) -> bool:
        return self._watcher is not None

    def touched(self) -> Touched:
        """What there is to look at. Without a watcher: everything, always."""
        if self._watcher is None or self._is_unsure:
            return Touched(is_partial=True)
        try:
            is_here = os.lstat(self.root).st_ino == self._inode
            touched = self._watcher.drain()
        except OSError:
            is_here, touched = False, Touched()
        touched.is_partial = touched.is_partial or not is_here
        return touched

    def effort(self, touched: Touched) -> int:
        """About how many names a look takes."""
        is_long = touched.is_partial or self.root in touched.lost or self._are_rules_old
        if is_long or self.mirror.is_wasteful(self._reader.bytes):
            return self._count + 1
        return len(touched) + len(self._linked)

    def settle(self, touched: Touched) -> None:
        """What others did: the mirror learns it, and rules count as they are by now."""
        if self._are_rules_old:
            self._rules, self._are_rules_old = {}, False
            self._above, self._lead = rules_above(self.root)
            touched.is_partial = True
        self.look(touched)

    def look(self, touched: Touched, keep: Keep | None = None) -> Differences:
        """`keep` gets the bytes of what is new. A .gitignore counts as it was before, but for one
        in a folder that is new itself."""
        self._found, self._passed, self._is_unsure = {}, set(), True
        self._queue.clear()
        self._reader.begin(keep)
        self._just_read.clear()
        if touched.is_partial or self.root in touched.lost:
            self._look_at_everything()
        else:
            self._look_at_names(touched)
        self._is_unsure = False
        return {
            path: (old, new)
            for path, (old, new) in self._found.items()
            if _differ(old, new) and not (self._passed and self._is_passed(path))
        }

    def seen(self, path: str) -> Seen | None:
        """What the last look saw at this place; None where it does not look."""
        if not path.startswith(self._base):
            return None
        folder, _, name = path[len(self._base) :].rpartition("/")
        return self._folders.get(folder, {}).get(name)

    def write(self, running: str = "") -> None:
        """Brings the mirror on disk to where this one is."""
        news, self._news = self._news, {}
        piece: Piece = []
        for folder, names in news.items():
            listing = self._folders.get(folder)
            piece.append(
                (folder, {n: listing.get(n) for n in names} if listing is not None else None)
            )
        self.mirror.write(piece, running)
        if running and self.mirror.is_wasteful(self._reader.bytes):
            with suppress(OSError):  # for want of room, which it was to make
                self.mirror.renew(running)

    def close(self) -> None:
        self.stop_watching()
        self.mirror.close()

    def _look_at_everything(self) -> None:
        try:
            facts = os.lstat(self.root)
            self._device, self._inode = facts.st_dev, facts.st_ino
        except OSError:
            self._leave("")
            return
        self._queue.append("")
        while self._queue:
            self._list(self._queue.popleft(), deep=True)
        self._new_links.clear()

    def _look_at_names(self, touched: Touched) -> None:
        start = len(self._base)
        self._lost = {folder[start:] for folder in touched.lost}
        names = {folder[start:]: found for folder, found in touched.names.items()}
        for path in self._lost:
            folder, _, name = path.rpartition("/")
            names.setdefault(folder, set()).add(name)
        for folder in sorted(names, key=len):
            for name in names[folder]:
                if name and folder in self._folders:
                    self._look_at_name(folder, name, is_told=True)
        self._lost = set()
        while self._queue:
            self._list(self._queue.popleft(), deep=False)
        self._find_other_names()
        for path in list(self._linked):
            folder, _, name = path.rpartition("/")
            if name not in names.get(folder, ()) and folder in self._folders:
                self._look_at_name(folder, name, is_told=False)

    def _find_other_names(self) -> None:
        """Of files that have become known to have some: a new name tells nothing of the old."""
        inodes, self._new_links = self._new_links, set()
        if not inodes:
            return
        for folder, listing in self._folders.items():
            others = (name for name, seen in listing.items() if seen.inode in inodes)
            self._linked.update(_joined(folder, name) for name in others)

    def _look_at_name(self, folder: str, name: str, *, is_told: bool) -> None:
        try:
            facts = os.lstat(f"{self._place(folder)}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            facts = None
        except OSError as error:
            self._miss_folder(folder, error)
            return
        self._settle(folder, name, facts, is_told)

    def _list(self, folder: str, *, deep: bool) -> None:
        """All names of one folder. `deep`: the folders in it are to be listed too, though they
        are known."""
        place = self._place(folder)
        if folder and self._reader.is_late:
            self._pass_by(folder)
            return
        try:
            self._watch(place)
            with os.scandir(place) as entries:
                found = list(entries)
        except FileNotFoundError:
            self._leave(folder)
            return
        except OSError as error:
            self._miss_folder(folder, error)
            return
        if self._count + len(found) > self._terms.files and not self._folders.get(folder):
            self.missed.add(f"more than {self._terms.files} names in {self.root}")
            self._pass_by(folder)
            return
        names = {entry.name for entry in found}
        if folder not in self._rules:
            self._rules[folder] = self._rules_in(folder, place, NAME in names)
            self._just_read.add(folder)
        listing = self._folders.get(folder)
        if listing is None:
            listing = self._folders[folder] = {}
            self._news.setdefault(folder, set())
        for name in [name for name in listing if name not in names]:
            self._drop(folder, name)
        for entry in found:
            try:
                facts: os.stat_result | None = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                facts = None
            except OSError as error:
                self._miss_folder(folder, error)
                return
            self._settle(folder, entry.name, facts, deep=deep)

    def _miss_folder(self, folder: str, error: OSError) -> None:
        """What is known of it stays as it was."""
        self.missed.add(f"what is in {self._place(folder)} ({error.strerror})")

    def _settle(
        self,
        folder: str,
        name: str,
        facts: os.stat_result | None,
        is_told: bool = False,
        *,
        deep: bool = False,
    ) -> None:
        """One name: what is there now, against what was. `is_told`: it was touched for sure."""
        listing = self._folders[folder]
        old = listing.get(name)
        is_known = old is not None and facts is not None and not is_told and _has_stamp(old, facts)
        path = f"{folder}/{name}" if folder else name
        if facts is None or self._is_left_out(folder, path, name, facts, is_known):
            if old is not None:
                self._drop(folder, name)
            return
        is_folder = stat.S_ISDIR(facts.st_mode)
        if not is_folder:
            self._mind_links(path, facts)
        new = old if is_known else self._reader.seen(self._place(path), facts, old)
        if new is None:
            if old is not None:
                self._drop(folder, name)
            return
        if path in self._folders and (not is_folder or self._is_another(path, old, facts)):
            self._leave(path)
        if new is not old:
            self._note(folder, name, path, old, new)
        if is_folder and (deep or path not in self._folders):
            self._queue.append(path)

    def _mind_links(self, path: str, facts: os.stat_result) -> None:
        if facts.st_nlink > 1:
            if path not in self._linked:
                self._new_links.add(facts.st_ino)
            self._linked.add(path)
        elif self._linked:
            self._linked.discard(path)

    def _is_another(self, path: str, old: Seen | None, facts: os.stat_result) -> bool:
        """Another folder of the same name: the watch went with the old one."""
        return path in self._lost or (old is not None and old.inode != facts.st_ino)

    def _note(self, folder: str, name: str, path: str, old: Seen | None, new: Seen) -> None:
        self._count += old is None
        self._reader.count(old, new)
        self._folders[folder][name] = new
        self._news.setdefault(folder, set()).add(name)
        first = self._found[path][0] if path in self._found else old
        self._found[path] = first, new
        if name == NAME and folder not in self._just_read and _differ(old, new):
            self._are_rules_old = True

    def _drop(self, folder: str, name: str) -> None:
        """The name is not there any more, or not ours to look at."""
        path = _joined(folder, name)
        old = self._folders[folder].pop(name)
        self._count -= 1
        self._reader.count(old, None)
        self._news.setdefault(folder, set()).add(name)
        first = self._found[path][0] if path in self._found else old
        self._found[path] = first, None
        self._linked.discard(path)
        if name == NAME and folder not in self._just_read:
            self._are_rules_old = True
        if stat.S_ISDIR(old.mode):
            self._leave(path)

    def _leave(self, folder: str) -> None:
        """Nothing in it is known from here on."""
        for name in list(self._folders.get(folder, ())):
            self._drop(folder, name)
        if self._folders.pop(folder, None) is not None:
            self._news.setdefault(folder, set())
        self._rules.pop(folder, None)
        if self._watcher is not None:
            self._watcher.forget(self._place(folder))

    def _is_left_out(
        self, folder: str, path: str, name: str, facts: os.stat_result, is_known: bool
    ) -> bool:
        if is_known and folder not in self._just_read:  # the rules let it in, and are the same
            return False
        if name in SKIPPED:
            return True
        if not is_text(name):
            self.missed.add("names that are not UTF-8")
            return True
        is_folder = stat.S_ISDIR(facts.st_mode)
        if is_folder and (facts.st_dev != self._device or self._place(path) in self._own):
            return True
        if self._terms.ignored:
            return False
        rules = self._rules.get(folder)
        return rules is not None and rules.leaves_out(self._lead + path, is_folder)

    def _rules_in(self, folder: str, place: str, has_some: bool) -> Ignoring:
        above = self._rules.get(folder.rpartition("/")[0], self._above) if folder else self._above
        return above.entered(place, (self._lead + folder).rstrip("/")) if has_some else above

    def _pass_by(self, folder: str) -> None:
        self._leave(folder)
        self._passed.add(folder)

    def _is_passed(self, path: str) -> bool:
        while path:
            path = path.rpartition("/")[0]
            if path in self._passed:
                return True
        return False

    def _watch(self, place: str) -> None:
        """Where no more can be watched, everything is looked at each time."""
        try:
            if self._watcher is not None:
                self._watcher.watch(place)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        except OSError:
            self.stop_watching()

    def _place(self, path: str) -> str:
        return self._base + path if path else self.root


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _differ(old: Seen | None, new: Seen | None) -> bool:
    return old is not new and (old is None or new is None or not old.is_same(new))


def _has_stamp(old: Seen, facts: os.stat_result) -> bool:
    return (
        old.stamped == facts.st_ctime_ns
        and old.mode == facts.st_mode
        and old.size == facts.st_size
        and old.changed == facts.st_mtime_ns
        and old.inode == facts.st_ino
    )
