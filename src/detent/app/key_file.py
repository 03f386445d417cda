"""Keys that the user has given us to keep: in the system's keyring where there is one, else in
`keys.json` of the program's own folder, mode 0600.

    {"version": 1, "keys": {"anthropic": "…"}, "keyring": ["openai"]}

`keyring` only names those that lie there: to know which there are, no keyring has to be opened.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from detent.app.locked_file import update_file
from detent.app.places import detent_home
from detent.app.settings.sources import doubt_about, read_file, where_of
from detent.models.credentials import is_key
from detent.types.codec import encode
from detent.types.errors import BadInput

SERVICE = "detent"
IN_KEYRING = "the system's keyring"
VERSION = 1


class Kept(Struct):
    """What the file says. Not to be printed: it shows itself only by name."""

    version: int = VERSION
    keys: dict[str, str] = {}
    keyring: list[str] = []

    def __repr__(self) -> str:
        return f"Kept({', '.join(sorted({*self.keys, *self.keyring}))})"


def path_of(environ: Mapping[str, str]) -> str:
    return os.path.join(detent_home(environ), "keys.json")


def stored_in_file(provider: str, environ: Mapping[str, str]) -> str:
    key = _believed(environ)[0].keys.get(provider, "").strip()
    return key if is_key(key) else ""


def stored_in_keyring(provider: str) -> str:
    """Nothing when there is no keyring (`detent[keyring]`). Asking may open a window."""
    try:
        key = _keyring().get_password(SERVICE, provider) or ""
    except Exception:  # not installed, locked, no backend: each backend has errors of its own
        return ""
    return key.strip() if is_key(key.strip()) else ""


def refusal(environ: Mapping[str, str]) -> str:
    """Why the file does not count though it is there; empty when all is well with it."""
    return _believed(environ)[1]


def providers_kept(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Whose keys are kept, as far as is known without opening anything."""
    kept = _believed(environ)[0]
    return tuple(sorted({*(name for name in kept.keys if is_key(kept.keys[name])), *kept.keyring}))


def keep(provider: str, key: str, environ: Mapping[str, str]) -> str:
    """Where it lies now. Raises BadInput, and no message holds the key."""
    if not is_key(key):
        raise BadInput("what should be a key is empty, or holds characters that no key has")
    if _kept_in_keyring(provider, key):
        with suppress(BadInput):  # the keyring counts first, whatever the file says
            _change(environ, provider, None, in_keyring=True)
        return IN_KEYRING
    _change(environ, provider, key, in_keyring=False)
    return path_of(environ)


def forget(provider: str, environ: Mapping[str, str]) -> bool:
    """Whether there was one. Raises BadInput."""
    kept = _believed(environ)[0]
    was_there = provider in kept.keys or provider in kept.keyring
    try:
        _keyring().delete_password(SERVICE, provider)
        was_there = True
    except Exception:  # there is none of that name, or no keyring
        pass
    if os.path.exists(path_of(environ)):
        _change(environ, provider, None, in_keyring=False)
    return was_there


def _keyring() -> Any:
    from importlib import import_module

    return import_module("keyring")


def _kept_in_keyring(provider: str, key: str) -> bool:
    """Read back: some backends take anything and keep nothing."""
    try:
        keyring = _keyring()
        keyring.set_password(SERVICE, provider, key)
        return bool(keyring.get_password(SERVICE, provider) == key)
    except Exception:  # as above
        return False


def _believed(environ: Mapping[str, str]) -> tuple[Kept, str]:
    """What the file says, and else why it does not count."""
    path = path_of(environ)
    try:
        data, facts = read_file(path)
        doubt = doubt_about(facts, path)
        if not doubt and facts.st_mode & 0o077:
            doubt = "can be read by other users"
        if not doubt and not where_of(os.getcwd(), environ).is_ours:
            doubt = "lies in the project"
        if doubt:
            return Kept(), f"{path} {doubt}, so no key is taken from it{_remedy(doubt, path)}"
        return _decoded(data, path), ""
    except (FileNotFoundError, NotADirectoryError):
        return Kept(), ""
    except OSError as error:
        return Kept(), f"{path}: cannot be read: {error.strerror}"
    except BadInput as error:
        return Kept(), str(error)


def _remedy(doubt: str, path: str) -> str:
    return f" (chmod 600 {path})" if doubt.startswith("can be") else ""


def _decoded(data: bytes, path: str) -> Kept:
    """A fault is not quoted: the text around it may be a key."""
    if not data.strip():
        return Kept()
    try:
        kept = msgspec.json.decode(data, type=Kept)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise BadInput(f"{path} is damaged; remove it to begin anew") from None
    if kept.version != VERSION:
        raise BadInput(f"{path} is of another version")
    return kept


def _change(
    environ: Mapping[str, str], provider: str, key: str | None, *, in_keyring: bool
) -> None:
    """Nothing is added to a file that does not count: what others wrote there would become ours."""
    path = path_of(environ)
    if why := refusal(environ):
        raise BadInput(why)
    if not where_of(os.getcwd(), environ).is_ours:
        raise BadInput(f"{path} would lie in the project, so no key is kept there")

    def changed(old: bytes) -> bytes:
        kept = _decoded(old, path)
        keys = {name: each for name, each in kept.keys.items() if name != provider}
        keyring = [name for name in kept.keyring if name != provider]
        keys |= {provider: key} if key is not None else {}
        return encode(Kept(VERSION, keys, [*keyring, provider] if in_keyring else keyring))

    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        update_file(path, changed, mode=0o600)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None
