"""Stands behind a nursery that its own commands could end: nothing that they leave stays.

In a namespace of processes the kernel does that; Landlock only keeps commands from ending us.
"""

import os

from detent.host.keeping.family import Family, become_subreaper
from detent.host.keeping.landlock import keep_signals_below


def fork_guarded() -> None:
    """Goes on in a child. This process waits for its end, and then for nobody."""
    child = os.fork()
    if child == 0:
        become_subreaper()
        keep_signals_below()
        return
    os.dup2(1, 0)  # the line must end when the nursery does
    ended: list[int] = []
    family = Family(lambda pid, _: ended.append(pid))
    while child not in ended:
        family.wait(None)
        family.collect()
    family.kill()
    os._exit(0)
