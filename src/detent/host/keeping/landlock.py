"""Landlock: what this process and all below it may write, read and signal; no TCP at all.

It knows no "not below an allowed folder". So reading is granted to everything beside the way to
each hidden place; what is hidden or protected inside a folder that may be written stays open.
"""

import os
import struct

from detent.host.keeping.kernel import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

CREATE, ADD, RESTRICT = 444, 445, 446
VERSION_FLAG = 1
BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE = 1 << 13, 1 << 14
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

CHANGE_FILE = WRITE_FILE | TRUNCATE
MAKE = MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REMOVE_DIR | REMOVE_FILE | REFER
DEVICES = MAKE_CHAR | MAKE_BLOCK
HANDLED = READ_FILE | CHANGE_FILE | MAKE | DEVICES
"""Names may be listed and programs started everywhere: only what is in files can be a secret."""
SINCE = {REFER: 2, TRUNCATE: 3}
NETWORK_SINCE, SCOPES_SINCE = 4, 6

DEVICE_FOLDER = "/dev"
OPEN_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm")
"""Not the disks: root could read them without any privilege. Nor terminals: those that a command
makes cannot be told from the one that the user types into."""


def version() -> int:
    """0 where the kernel has none."""
    try:
        return call(CREATE, None, 0, VERSION_FLAG)
    except OSError:
        return 0


def restrict(writable: "Collection[str]", hidden: "Collection[str]") -> None:
    """Raises OSError."""
    known = version()
    if not known:
        raise OSError(38, "this kernel has no Landlock")
    handled = HANDLED
    for right, since in SINCE.items():
        if known < since:
            handled &= ~right
    network = BIND_TCP | CONNECT_TCP if known >= NETWORK_SINCE else 0
    scopes = ABSTRACT_SOCKETS | SIGNALS if known >= SCOPES_SINCE else 0
    words = struct.pack("=QQQ", handled, network, scopes)
    size = 24 if known >= SCOPES_SINCE else 16 if known >= NETWORK_SINCE else 8
    ruleset = call(CREATE, words[:size], size, 0)
    for path in beside((*hidden, DEVICE_FOLDER)):
        _grant(ruleset, path, READ_FILE)
    for name in OPEN_DEVICES:
        _grant(ruleset, os.path.join(DEVICE_FOLDER, name), (handled & ~DEVICES))
    for path in writable:
        _grant(ruleset, path, handled & ~DEVICES)
    call(RESTRICT, ruleset, 0)
    os.close(ruleset)


def keep_signals_below() -> None:
    """From here on, whoever was above cannot be ended. Raises OSError."""
    if version() < SCOPES_SINCE:
        return
    ruleset = call(CREATE, struct.pack("=QQQ", 0, 0, SIGNALS), 24, 0)
    call(RESTRICT, ruleset, 0)
    os.close(ruleset)


def _grant(ruleset: int, path: str, rights: int) -> None:
    """A link is not followed: what it leads to has its own place."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # gone by now
        return
    try:
        mode = os.fstat(descriptor).st_mode
        kind = mode & 0o170000
        if kind == 0o120000:
            return
        if kind != 0o040000:
            rights &= READ_FILE | CHANGE_FILE
        call(ADD, ruleset, BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def beside(closed: "Collection[str]") -> "Iterator[str]":
    """All places that are neither closed, nor below a closed one, nor on the way to one."""
    ahead = ["/"]
    for folder in ahead:  # grows on the way
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if path in closed:
                continue
            if any(place.startswith(path + "/") for place in closed):
                ahead.append(path)
            else:
                yield path
