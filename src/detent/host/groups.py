"""Process groups: ending a program together with everything it started."""

import asyncio
import os
import signal
from subprocess import Popen

GRACE = 0.5
"""Between SIGTERM and SIGKILL."""
LAST = 1.0
"""How long the kernel gets to clear away what SIGKILL hit."""


async def end_group(process: "Popen[bytes]") -> None:
    """Asks the group to end, then makes it. The leader may be gone already: its children count."""
    loop = asyncio.get_running_loop()
    for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, LAST)):
        signal_group(process.pid, number)
        deadline, pause = loop.time() + patience, 0.005
        while loop.time() < deadline:
            await asyncio.sleep(pause)
            if process.poll() is not None and not is_alive(process.pid):
                return
            pause = min(pause * 2, 0.1)


def signal_group(group: int, number: int) -> bool:
    """False when nobody is left in the group. Signal 0 only asks."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # someone else's by now (setuid): there, and not ours to end
        return True
    return True


def is_alive(group: int) -> bool:
    """Whether anyone in the group still runs.

    The dead whom nobody collects still count as members for the kernel, and in many containers
    process 1 collects nobody; so the state of each member decides.
    """
    if not signal_group(group, 0):
        return False
    try:
        return any(_runs_in(group, pid) for pid in os.listdir("/proc") if pid.isdigit())
    except OSError:  # no /proc here: believe the kernel
        return True


def _runs_in(group: int, pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The program's name, in brackets, may itself hold brackets and spaces.
            state, _parent, its_group = file.read().rpartition(b")")[2].split()[:3]
    except OSError:
        return False
    return int(its_group) == group and state not in b"ZX"
