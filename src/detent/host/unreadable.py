"""The agent holds keys: no process of the same user may look into it."""

import sys

_IS_DONE = False


def protect_agent() -> None:
    """Once, before the first command can run: neither environment nor memory are to be read, and
    nobody may trace us. Root and its like can, unless they are in a sandbox."""
    global _IS_DONE
    if _IS_DONE or sys.platform != "linux":
        return
    _IS_DONE = True
    from contextlib import suppress

    with suppress(OSError):
        from detent.host.keeping.kernel import become_unreadable

        become_unreadable()
