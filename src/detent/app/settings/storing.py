"""A rule that a person has just agreed to, written where they want it kept.

Only into a file that the user has agreed to as it is, or that asks for nothing yet: recording the
new rule as trusted must not bring along what somebody else has put there.
"""

import os
from typing import Any, Literal

import msgspec

from detent.app.locked_file import update_file
from detent.app.settings.anchoring import Scope, anchored
from detent.app.settings.sources import Where, main_checkout, read_file
from detent.app.trust.deciding import is_named
from detent.app.trust.parts import digests
from detent.app.trust.store import Damaged, agree, agreed
from detent.types.codec import decode_object, encode
from detent.types.errors import BadInput

List = Literal["allow", "ask", "deny"]
LOCAL = ".detent/settings.local.json"


class NotStored(Exception):
    """The message says why."""


class RuleStore:
    def __init__(self, where: Where, trusted_folders: tuple[str, ...], user: str) -> None:
        self._where = where
        self._root = os.path.realpath(where.root)
        self._user = user
        self._is_named = is_named(where, trusted_folders, user)

    def store(self, kind: List, rule: str, scope: Scope) -> tuple[str, str]:
        """The rule as it is kept, and the file that holds it now. Raises NotStored."""
        path = self._path(scope)
        try:
            kept = anchored(rule, scope, self._where.cwd, self._user)
            if not self._where.is_ours:
                raise NotStored(f"{self._where.home} lies in the project, so it is not believed")
            is_new = not os.path.lexists(path)
            self._write(path, kind, kept, scope)
            if scope == "local" and is_new:
                _leave_out_of_git(os.path.dirname(os.path.dirname(path)))
        except NotStored as error:
            raise NotStored(f"the rule {rule} holds for this session only: {error}") from None
        except (OSError, BadInput, Damaged, ValueError) as error:
            why = error.strerror or error if isinstance(error, OSError) else error
            raise NotStored(f"the rule {rule} holds for this session only: {path}: {why}") from None
        return kept, path

    def _path(self, scope: Scope) -> str:
        if scope == "user":
            return os.path.join(self._where.home, "settings.json")
        if scope == "project":
            return os.path.join(self._where.cwd, ".detent", "settings.json")
        return os.path.join(main_checkout(self._where.root), LOCAL)

    def _write(self, path: str, kind: List, rule: str, scope: Scope) -> None:
        """What is agreed to is recorded while nobody else can write the file: another run that
        stores a rule would find one that nobody has agreed to."""
        if scope == "user":
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            update_file(path, lambda old: _text(_added(old, path, kind, rule)), mode=0o600)
            return
        _refuse_links(path)

        def change(old: bytes) -> bytes:
            before = digests(decode_object(old, path)) if old.strip() else {}
            if before and not self._is_agreed(path, before):
                raise NotStored(f"you have not trusted what else {path} says (detent trust)")
            values = _added(old, path, kind, rule)
            files = {os.path.realpath(path): digests(values)}
            agree(self._where.home, self._root, files, trusted=False)
            return _text(values)

        os.makedirs(os.path.dirname(path), exist_ok=True)
        update_file(path, change, mode=0o600 if scope == "local" else 0o644)

    def _is_agreed(self, path: str, before: dict[str, str]) -> bool:
        known = agreed(self._where.home, self._root).files.get(os.path.realpath(path))
        return self._is_named or known == before


def _added(old: bytes, path: str, kind: List, rule: str) -> dict[str, Any]:
    values = decode_object(old, path) if old.strip() else {}
    permissions = values.setdefault("permissions", {})
    rules = permissions.setdefault(kind, []) if isinstance(permissions, dict) else None
    if not isinstance(rules, list):
        raise BadInput(f"permissions.{kind} is no list")
    if rule not in rules:
        rules.append(rule)
    return values


def _text(values: dict[str, Any]) -> bytes:
    return msgspec.json.format(encode(values), indent=2) + b"\n"


def _refuse_links(path: str) -> None:
    """What a project links to elsewhere is not ours to write."""
    folder, name = os.path.split(path)
    above, inside = os.path.split(folder)
    if os.path.realpath(path) != os.path.join(os.path.realpath(above), inside, name):
        raise NotStored(f"{path} is a link to another place")


def _leave_out_of_git(checkout: str) -> None:
    """The file is one person's. Excluded in the repository's own list, so nothing is committed."""
    repository = os.path.join(checkout, ".git")
    exclude = os.path.join(repository, "info", "exclude")
    inside = os.path.join(os.path.realpath(checkout), ".git", "info", "exclude")
    if not os.path.isdir(repository) or os.path.realpath(exclude) != inside:
        return
    if _is_listed(os.path.join(checkout, ".gitignore")):
        return

    def change(old: bytes) -> bytes:
        if _lists(old):
            return old
        gap = b"" if not old or old.endswith(b"\n") else b"\n"
        return old + gap + f"/{LOCAL}\n".encode()

    os.makedirs(os.path.dirname(exclude), exist_ok=True)
    update_file(exclude, change, mode=0o644)


def _is_listed(path: str) -> bool:
    """What lies there came with the project: it may be a pipe, or have no end."""
    try:
        return _lists(read_file(path)[0])
    except (OSError, BadInput):
        return False


def _lists(text: bytes) -> bool:
    """Only the plain ways to say it: one line too many does no harm."""
    ways = {LOCAL, ".detent", ".detent/", ".detent/*", "settings.local.json"}
    lines = {line.strip().removeprefix("/") for line in text.decode(errors="replace").splitlines()}
    return bool(ways & lines)
