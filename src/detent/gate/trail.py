"""Where a command text has gone, and which names it has made that may be links by now."""

import os
import stat

from detent.gate.commands import MOST_FOLDERS, at_home
from detent.gate.paths import real
from detent.gate.shell.script import Word
from detent.gate.terms import Workspace


class Trail:
    def __init__(self, workspace: Workspace) -> None:
        self._home = workspace.home
        self._cwd = workspace.cwd
        self._starts: tuple[str, ...] = (workspace.cwd,)
        """Every folder that a relative name may start from: a `cd` may also have failed."""
        self._is_lost = False
        self._made: list[str] = []
        """Names that may be links: what is in them is elsewhere."""
        self._copied: list[str] = []
        """Names of which only what lies below them may be elsewhere."""

    @property
    def has_moved(self) -> bool:
        return self._is_lost or any(start != self._cwd for start in self._starts)

    def places(self, name: str) -> tuple[str, ...]:
        """Where a name may lead. Nowhere known gives the root, which nobody permits silently."""
        named = at_home(name, self._home)
        if self._is_lost and not os.path.isabs(named):
            return ("/",)
        return tuple(dict.fromkeys(os.path.join(start, named) for start in self._starts))

    def paths(self, word: Word) -> tuple[str, ...] | None:
        """The same for a word; None when that is not certain."""
        if not (word.is_literal or word.at_home) or word.has_glob or "$" in word.text:
            return None
        if self._is_lost and not os.path.isabs(at_home(word.text, self._home)):
            return None
        found = self.places(word.text)
        return None if any(map(self._is_made, found)) else found

    def uses_made(self, words: tuple[Word, ...]) -> bool:
        if not (self._made or self._copied):
            return False
        names = (word.text for word in words if not word.text.startswith("-"))
        return any(self._is_made(place) for name in names for place in self.places(name))

    def _is_made(self, path: str) -> bool:
        paths = (os.path.normpath(path), real(path))
        below = tuple(f"{name}/" for name in (*self._made, *self._copied))
        return any(path in self._made or path.startswith(below) for path in paths)

    def follow(self, words: tuple[Word, ...]) -> None:
        """What a command that has run does to names behind it."""
        if not words:
            return
        operands = [word for word in words[1:] if not word.text.startswith("-")]
        if words[0].text in ("ln", "mv", "cp") and any(map(_names_folder, words[1:])):
            self._made.append("")  # the order of its words is another: anything may be new
        match words[0].text:
            case "cd" | "pushd":
                self._go(operands, flags=len(words) - 1 - len(operands))
            case "popd":
                self._is_lost = True
            case "ln":
                self._make(operands, self._made)
            case "mv" | "cp":
                self._move(operands)
            case _:
                pass

    def _go(self, operands: list[Word], *, flags: int) -> None:
        target = operands[0] if operands else Word("~", at_home=True)
        is_certain = not flags and len(operands) < 2 and (target.is_literal or target.at_home)
        if not is_certain or len(self._starts) > MOST_FOLDERS:
            self._is_lost = True
            return
        gone = [os.path.normpath(place) for place in self.places(target.text)]
        # Programs start `..` from the place that a link leads to.
        self._starts = tuple(dict.fromkeys((*self._starts, *gone, *map(real, gone))))

    def _make(self, operands: list[Word], names: list[str]) -> None:
        *sources, last = operands or [Word(".")]
        into = [os.path.join(last.text, os.path.basename(source.text)) for source in sources]
        alone = [os.path.basename(last.text)] if not sources else []
        for name in (last.text, *into, *alone):
            if os.path.basename(name.rstrip("/")) not in ("", ".", ".."):
                names.extend(map(os.path.normpath, self.places(name)))

    def _move(self, operands: list[Word]) -> None:
        self._make(operands, self._copied)
        sources = [place for word in operands[:-1] for place in self.places(word.text)]
        if any(map(_is_folder_or_link, sources)):
            self._make(operands, self._made)


def _is_folder_or_link(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _names_folder(word: Word) -> bool:
    return word.text.startswith(("-t", "--t"))
