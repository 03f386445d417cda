"""What the session runs in, gathered once at its start."""

import os
import time

from detent.context.prompt import Surroundings


def look_around(cwd: str, now: float) -> Surroundings:
    system = os.uname() if hasattr(os, "uname") else None
    platform = f"{system.sysname} {system.release}" if system else "Windows"
    date = time.strftime("%Y-%m-%d", time.localtime(now))
    return Surroundings(cwd, platform, date, repository_root(cwd) is not None)


def repository_root(folder: str) -> str | None:
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
