"""The folders of a workspace with their mirrors: what a command has changed in them."""

import os
import stat
import time
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256

from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.tree import Differences, Tree
from detent.host.sandbox.profile import MASKED
from detent.host.watching import Touched, Watcher
from detent.session.blobs import Blobs
from detent.session.mirror import Mirror, Seen, sweep
from detent.session.store import slug
from detent.types.files import Change, FileState

MOST_CHANGES = 20_000
"""Of one call. Whoever changes more has made a new tree."""
UNUSED = 30 * 24 * 3600.0
"""Seconds after which a mirror that nobody opened goes."""
GONE = 24 * 3600.0
"""The same, where the folder is not there any more."""


class MirroredWorkspace:
    """Blocking, and for one thread at a time. A folder that cannot be mirrored is missed."""

    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        terms: Terms,
        blobs: Blobs,
        is_over: Callable[[], bool] = bool,
    ) -> None:
        self._blobs, self._is_over = blobs, is_over
        self._mirrors = os.path.join(home, "mirrors")
        self._terms = terms
        self._own = frozenset({home, os.path.realpath(home)})
        self.trees: list[Tree] = []
        self.missed: set[str] = set()
        self.began: list[tuple[Tree, set[str], Differences]] = []
        """The calls that were running when a mirror was last written, and what is not as it was
        then."""
        wide = {root for root in roots if _is_shared(root)}
        self.missed |= {f"what commands change in {root}: others work there, too" for root in wide}
        for root in _outermost([root for root in roots if root not in wide]):
            try:
                self.trees.append(self._opened(root))
            except OSError as error:
                self.missed.add(f"what commands change in {root} ({error.strerror})")

    def _opened(self, root: str) -> Tree:
        folder = os.path.join(self._mirrors, slug(root))
        mirror = Mirror(folder, root)
        tree = Tree(root, mirror, self._terms, self._own | _kept_by_programs(root), self._is_over)
        with suppress(OSError):
            tree.watch(Watcher())
        try:
            found = tree.look(Touched(is_partial=True))
            if mirror.running:
                self.began.append((tree, set(mirror.running.split()), found))
            tree.write()
        except OSError:
            tree.close()
            raise
        with suppress(OSError):
            os.utime(folder)
            now = time.time()
            sweep(self._mirrors, now - UNUSED, now - GONE, [slug(root)])
        return tree

    @property
    def is_watched(self) -> bool:
        return all(tree.is_watched for tree in self.trees)

    def touched(self) -> list[Touched]:
        return [tree.touched() for tree in self.trees]

    def effort(self, touched: Iterable[Touched]) -> int:
        """About how many names there are to look at."""
        return sum(tree.effort(each) for tree, each in zip(self.trees, touched, strict=True))

    def settle(self, touched: Iterable[Touched], call_id: str) -> None:
        """A call begins: what happened so far is not its doing."""
        for tree, each in zip(self.trees, touched, strict=True):
            tree.settle(each)
            tree.write(running=call_id)

    def note_running(self, calls: Iterable[str]) -> None:
        """One more begins, while others are running: the log knows what they did until now."""
        for tree in self.trees:
            tree.write(running=" ".join(calls))

    def changes(
        self, touched: Iterable[Touched], but: Container[str] = frozenset()
    ) -> tuple[Change, ...]:
        """What happened since somebody last looked, `but` for these paths: others tell of them. The
        mirror on disk learns it with the next call: until then the log may not know it either."""
        found: list[Change] = []
        for tree, each in zip(self.trees, touched, strict=True):
            looked = tree.look(each, self._keep)
            theirs = [path for path in looked if os.path.join(tree.root, path) in but]
            for path in theirs:
                del looked[path]
            found += self._told(tree, looked)
        return tuple(found)

    def state(self, path: str) -> FileState | None:
        """What the last look has seen there; None where it does not look, or saw nothing."""
        for tree in self.trees:
            if (seen := tree.seen(path)) is not None:
                return self._kept(tree, seen)
        return None

    def left_by(self, call_id: str) -> tuple[Change, ...]:
        """What is not as it was when a call began that never came to its end; once. What a
        subagent's command has left is the first call's that was cut off with it."""
        found: list[Change] = []
        for one in [*self.began]:
            tree, calls, differences = one
            if call_id in calls or any("/" in call for call in calls):
                self.began.remove(one)
                found += self._told(tree, differences)
        return tuple(found)

    def close(self) -> None:
        for tree in self.trees:
            with suppress(OSError):
                tree.write()
            tree.close()

    def why_missed(self) -> set[str]:
        return self.missed.union(*(tree.missed for tree in self.trees))

    def _told(self, tree: Tree, found: Differences) -> list[Change]:
        found, changes = _without_masks(found), []
        for path in sorted(found)[:MOST_CHANGES]:
            old, new = found[path]
            before = FileState() if old is None else self._kept(tree, old)
            after = FileState() if new is None else self._kept(tree, new)
            changes.append(Change(os.path.join(tree.root, path), before, after))
        if len(found) > MOST_CHANGES:
            self.missed.add(f"more than {MOST_CHANGES} changes by one call")
        return changes

    def _kept(self, tree: Tree, seen: Seen) -> FileState:
        """With its bytes in the blob store, or without digest."""
        state = seen.state
        if not state.digest:
            return state
        with suppress(OSError):
            os.utime(self._blobs.path(state.digest))  # it is there, and named anew
            return state
        try:
            data = tree.mirror.get(seen)
            if sha256(data).digest() == seen.digest:
                self._blobs.put(data)
                return state
            tree.mirror.spoil()
        except OSError:
            pass
        self.missed.add("the bytes of some files: their copies could not be made or are damaged")
        return FileState(state.kind, state.mode, state.size)

    def _keep(self, data: bytes) -> None:
        """Tried again, and then told, when the change is."""
        with suppress(OSError):
            self._blobs.put(data)


def _without_masks(found: Differences) -> Differences:
    """Without the empty folders that a sandbox needs to mount on: they come and go with it."""
    masks = {
        path
        for path in MASKED
        if path in found
        and None in found[path]
        and not any(other.startswith(f"{path}/") for other in found)
    }
    return {path: found[path] for path in found if path not in masks} if masks else found


def _is_shared(root: str) -> bool:
    """The whole machine, the home folders of all, a folder for everybody's files: what happens
    there while a command runs is hardly its work."""
    home = os.path.realpath(os.path.expanduser("~"))
    if root != home and f"{home}/".startswith(f"{root.rstrip('/')}/"):
        return True
    with suppress(OSError):
        mode = os.stat(root).st_mode
        return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)
    return False


def _kept_by_programs(root: str) -> frozenset[str]:
    """In the home folder itself: browsers, shells and so on write there all the time."""
    if root != os.path.realpath(os.path.expanduser("~")):
        return frozenset()
    with suppress(OSError), os.scandir(root) as entries:
        return frozenset(e.path for e in entries if e.name.startswith(".") and e.is_dir())
    return frozenset()


def _outermost(roots: Sequence[str]) -> list[str]:
    """Without those that lie in another."""
    found: list[str] = []
    for root in sorted(set(roots), key=len):
        if not any(f"{root}/".startswith(f"{other.rstrip('/')}/") for other in found):
            found.append(root)
    return found
