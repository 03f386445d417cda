"""One path policy for every tool: real paths, workspace, secrets, protected places."""

import os
import stat
from collections.abc import Sequence

_SECRET_NAMES = frozenset(
    {".netrc", ".pgpass", ".npmrc", ".pypirc", "credentials", "id_rsa", "id_dsa", "id_ecdsa",
     "id_ed25519", ".git-credentials"}
)  # fmt: skip
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".keystore")
_SECRET_FOLDERS = (".ssh", ".aws", ".gnupg")
_SECRET_PATHS = (".kube/config", ".docker/config.json")
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
_PROTECTED_FOLDERS = frozenset(
    {".git", ".claude", ".detent", ".vscode", ".idea", ".husky", ".devcontainer", ".githooks",
     ".cargo"}
)  # fmt: skip
_PROTECTED_NAMES = frozenset(
    {".envrc", ".mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
     ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
     ".kshrc", ".cshrc", ".tcshrc", ".login", "config.fish", ".npmrc", ".yarnrc", ".yarnrc.yml",
     ".pnpmfile.cjs", "bunfig.toml", "pip.conf", ".condarc", ".gemrc", ".gitconfig", ".gitmodules",
     ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".claude.json"}
)  # fmt: skip
_OWN_STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


def spellings(path: str) -> tuple[str, ...]:
    """The name and the place it really leads to; one when they are the same."""
    named = os.path.normpath(path)
    real = os.path.realpath(path)
    return (named,) if real == named else (named, real)


def is_inside(path: str, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots)


def is_secret(path: str) -> bool:
    """Files that hold keys and passwords; reading one needs a rule."""
    for spelling in spellings(path):
        spelling = f"/{spelling.lower()}"  # some disks do not tell cases apart
        name = os.path.basename(spelling)
        if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
            return True
        if name == ".env" or (name.startswith(".env.") and name not in _HARMLESS_ENV):
            return True
        if any(f"/{folder}/" in f"{spelling}/" for folder in _SECRET_FOLDERS):
            return True
        if spelling.endswith(tuple(f"/{path}" for path in _SECRET_PATHS)):
            return True
    return False


def is_special(path: str) -> bool:
    """Devices, pipes, and windows into processes."""
    if os.path.normpath(path) in _OWN_STREAMS:
        return False
    if any(spelling.startswith(("/dev/", "/proc/", "/sys/")) for spelling in spellings(path)):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_protected(path: str) -> bool:
    """Places that decide what runs later: never written silently."""
    for spelling in spellings(path):
        parts = spelling.split("/")
        if any(part.lower() in _PROTECTED_FOLDERS for part in parts[:-1]):
            return True
        if parts[-1].lower() in _PROTECTED_NAMES | _PROTECTED_FOLDERS:
            return True
    return False
