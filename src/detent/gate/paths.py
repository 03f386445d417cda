"""One path policy for every tool: real paths, the workspace, secrets, and what is no plain file."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_SECRET_NAMES = frozenset(
    {".netrc", ".pgpass", ".npmrc", ".pypirc", "credentials", "id_rsa", "id_dsa", "id_ecdsa",
     "id_ed25519", ".git-credentials", ".htpasswd", ".vault-token"}
)  # fmt: skip
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".keystore", ".jks")
_SECRET_FOLDERS = (".ssh", ".aws", ".gnupg")
_SECRET_PATHS = (".kube/config", ".docker/config.json", ".detent/keys.json")
SECRET_GLOBS = (
    *sorted(_SECRET_NAMES),
    *(f"*{ending}" for ending in _SECRET_ENDINGS),
    ".env",
    ".env.*",
    *_SECRET_FOLDERS,
    *(f"**/{path}" for path in _SECRET_PATHS),
)
"""The same for searches, which leave such files out, in whatever case they are written. It covers
at least what `is_secret` does."""
_HARMLESS_ENV = (".env.example", ".env.sample", ".env.template")
_OWN_STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


_seen: dict[str, str] | None = None
"""Where names lead, while one decision is made: it asks for the same ones many times."""


@contextmanager
def links_remembered() -> Iterator[None]:
    """The disk is looked at once for each name, by all that is done inside."""
    global _seen
    outer, _seen = _seen, {} if _seen is None else _seen
    try:
        yield
    finally:
        _seen = outer


def real(path: str) -> str:
    """Where a name really leads."""
    if _seen is None:
        return os.path.realpath(path)
    found = _seen.get(path)
    if found is None:
        found = _seen[path] = os.path.realpath(path)
    return found


def spellings(path: str) -> tuple[str, ...]:
    """The name and the place it really leads to; one when they are the same."""
    named = os.path.normpath(path)
    if named.startswith("//"):
        named = named[1:]  # the only place where normpath leaves two
    target = real(path)
    return (named,) if target == named else (named, target)


def is_inside(path: str, roots: Sequence[str]) -> bool:
    place = real(path)
    return any(place == root or place.startswith(root.rstrip("/") + "/") for root in roots)


def is_secret(path: str) -> bool:
    """Files that hold keys and passwords; reading one needs a rule."""
    return any(_is_secret(f"/{spelling.lower()}") for spelling in spellings(path))


def _is_secret(spelling: str) -> bool:
    """In lower case: some disks do not tell cases apart."""
    name = os.path.basename(spelling)
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
        return True
    if name == ".env" or (name.startswith(".env.") and name not in _HARMLESS_ENV):
        return True
    if any(f"/{folder}/" in f"{spelling}/" for folder in _SECRET_FOLDERS):
        return True
    return any(spelling.endswith(f"/{path}") for path in _SECRET_PATHS)


def is_special(path: str) -> bool:
    """Devices, pipes, and windows into processes."""
    names = spellings(path)
    if names[0] in _OWN_STREAMS:
        return False
    if any(_is_window(name) for name in names):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _is_window(name: str) -> bool:
    if name.startswith("/dev/"):
        return not name.startswith("/dev/shm/")
    if not name.startswith("/proc/"):
        return False
    process = name.split("/")[2]
    return not process.isalpha() or process.endswith(("self", "kcore", "mem"))
