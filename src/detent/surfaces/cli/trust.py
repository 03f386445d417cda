"""`detent trust`: shows what a folder's files would do, and asks once."""

import os
import sys

from detent.sdk.trust import WouldRun, distrust, trust, trusted_folders, what_would_run
from detent.surfaces.arguments import Arguments
from detent.surfaces.tables.trust_table import lines
from detent.surfaces.wording.shown import visible
from detent.types.errors import BadInput


def run_trust(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent trust takes one folder; not {' '.join(words)!r}")
    folder = words[0] if words else arguments.value("--cwd")
    if arguments.on("--list"):
        if words:
            raise BadInput(f"detent trust --list takes no folder; not {words[0]!r}")
        return _list()
    if arguments.on("--remove"):
        return _remove(folder)
    return _ask(what_would_run(folder), sure=arguments.on("--yes"))


def _ask(found: WouldRun, *, sure: bool) -> int:
    print(f"Folder: {visible(found.root)}")
    for line in lines(found):
        print(line)
    if not sure and not os.isatty(0):
        raise BadInput("nobody can be asked here; look at the list above, then add --yes")
    if not sure and not _says_yes():
        print("Not trusted.")
        return 1
    trust(found)
    print("Trusted, until one of these files asks for something else.")
    return 0


def _says_yes() -> bool:
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print("Trust it? [y/N] ", end="", flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        print(flush=True)  # what comes next begins on a line of its own
        raise


def _list() -> int:
    found = trusted_folders()
    if not found:
        print("No folder is trusted.")
    for folder, is_same in sorted(found.items()):
        print(visible(folder) + ("" if is_same else "  (gone, or another folder by now)"))
    return 0


def _remove(folder: str) -> int:
    name = visible(folder or os.getcwd())
    if not distrust(folder):
        print(f"{name} was not trusted.")
        return 1
    print(f"{name} is no longer trusted.")
    return 0
