"""The files of a repository, as far as one looks: without what git ignores and what came from
elsewhere. No link is followed, nothing large is read, nothing is run."""

import os
import stat
import tomllib
from collections import deque
from configparser import Error as IniError
from configparser import RawConfigParser
from functools import cached_property
from typing import Any

from detent.host.ignoring import rules_above
from detent.types.codec import decode_any

MOST_FILES = 20_000
MOST_FOLDERS = 5_000
DEEPEST = 16
MOST_BYTES = 256 * 1024
VENDORED = frozenset({
    "node_modules", "bower_components", "vendor", "third_party", "site-packages", "__pycache__",
    "venv", "target", "dist", "Pods",
})  # fmt: skip
HIDDEN = frozenset({".github", ".gitlab", ".circleci", ".cursor", ".claude", ".detent"})
"""Hidden folders that say how to work here."""


class Tree:
    def __init__(self, root: str) -> None:
        self.root = root
        self.is_cut = False
        self.files = tuple(self._walk())
        """Names below the root, the shallow ones first."""

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.files)

    def has(self, *names: str) -> bool:
        return any(name in self._known for name in names)

    def first(self, *names: str) -> str:
        """The first of them that is there."""
        return next((name for name in names if name in self._known), "")

    def top(self) -> list[str]:
        return [name for name in self.files if "/" not in name]

    def text(self, name: str) -> str:
        """Empty where it is not there, no file, or too large."""
        if name not in self._known:
            return ""
        try:
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(os.path.join(self.root, name), flags)
        except OSError:
            return ""
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST_BYTES:
                return ""
            return os.read(descriptor, MOST_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return ""
        finally:
            os.close(descriptor)

    def toml(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text(name))
        except (ValueError, RecursionError):
            return {}

    def json(self, name: str) -> dict[str, Any]:
        text = self.text(name)
        try:
            found = decode_any(text) if text.strip() else {}
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def ini(self, name: str) -> dict[str, dict[str, str]]:
        """By section; what stands before the first one is in one whose name is a blank."""
        parser = RawConfigParser(strict=False, allow_no_value=True, default_section="\0")
        try:
            parser.read_string(f"[ ]\n{self.text(name)}")
            return {
                section: {key: value or "" for key, value in parser.items(section)}
                for section in parser.sections()
            }
        except (IniError, ValueError, RecursionError):
            return {}

    def _walk(self) -> list[str]:
        rules, prefix = rules_above(self.root)
        waiting = deque([("", rules, 0)])
        found: list[str] = []
        entered = 0
        while waiting and not self.is_cut:
            folder, rules, depth = waiting.popleft()
            entered += 1
            place = os.path.join(self.root, folder)
            rules = rules.entered(place, (prefix + folder).strip("/"))
            for entry, is_folder in _entries(place):
                name = f"{folder}{entry}"
                if _is_foreign(entry, is_folder) or rules.leaves_out(prefix + name, is_folder):
                    continue
                if not is_folder:
                    found.append(name)
                elif depth < DEEPEST:
                    waiting.append((f"{name}/", rules, depth + 1))
            self.is_cut = len(found) >= MOST_FILES or entered >= MOST_FOLDERS
        return found[:MOST_FILES]


def _is_foreign(name: str, is_folder: bool) -> bool:
    if not is_folder:
        return False
    return name in VENDORED or (name.startswith(".") and name not in HIDDEN)


def _entries(place: str) -> list[tuple[str, bool]]:
    """Files and folders, sorted; what is neither, or another name for one, is left out."""
    try:
        with os.scandir(place) as entries:
            found = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if not entry.is_symlink() and _is_text(entry.name)
            ]
    except OSError:
        return []
    return sorted(found)


def _is_text(name: str) -> bool:
    return name.isprintable() and "`" not in name


def table(value: Any, *keys: str) -> dict[str, Any]:
    """What lies at the end of these keys, if it is a table."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
