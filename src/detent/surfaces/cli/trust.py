"""`detent trust`: shows what a folder's files would do, and asks once."""

import os
import sys

from detent.sdk.trust import Asking, WouldRun, distrust, trust, trusted_folders, what_would_run
from detent.surfaces.arguments import Arguments
from detent.surfaces.wording.shown import visible
from detent.types.errors import BadInput

KINDS = {
    "runs": "runs when an event comes",
    "server": "starts as an MCP server",
    "variable": "sets the variable",
    "allows": "allows without a question",
    "folder": "adds the folder",
    "mode": "chooses the mode",
    "sets": "sets",
}


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
    for file in found.files:
        _show(file)
    if not found.files:
        print("Its settings ask for nothing that takes trust.")
    print("Language servers may also run code of a folder that is trusted,")
    print("and its memory files may import others from outside of it.")
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


def _show(file: Asking) -> None:
    print(f"{visible(file.path)}")
    for wish in file.wishes:
        print(f"  {KINDS[wish.kind]}: {visible(wish.text, indent=4)}")
    if not file.wishes:
        print("  asks only for what no project can set; it is ignored")


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
