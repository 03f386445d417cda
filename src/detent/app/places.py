"""Where the program keeps what is its own."""

import os
from collections.abc import Mapping


def user_home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def detent_home(environ: Mapping[str, str]) -> str:
    return environ.get("DETENT_HOME") or os.path.join(user_home(environ), ".detent")
