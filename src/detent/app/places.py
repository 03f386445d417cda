"""Where the program keeps what is its own."""

import os
from collections.abc import Mapping


def user_home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def detent_home(environ: Mapping[str, str]) -> str:
    return environ.get("DETENT_HOME") or os.path.join(user_home(environ), ".detent")


def is_account_home(folder: str) -> bool:
    """Whether it is the user's by the machine's own books, whatever a variable says."""
    try:
        import pwd

        known = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # no such books, or a user who is not in them
        return False
    return os.path.realpath(folder) == os.path.realpath(known)
