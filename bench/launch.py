"""Spawn one command, wait for it, report its times and usage: ``launch.py FD command …``.

A process of its own because Linux counts the memory of the spawning process into the child's
``ru_maxrss``: the harness would hide every contestant smaller than itself. This one stays below
10 MB (run it with ``-I -S``), which is therefore the smallest peak that can be told.
"""

import os
import sys
import time


def main() -> None:
    report, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(report, False)
    started = time.monotonic_ns()
    try:
        pid = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        print(error, file=sys.stderr)
        os.write(report, f"{started} {started} 0 0 127".encode())
        return
    _, status, usage = os.wait4(pid, 0)
    ended = time.monotonic_ns()
    code = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    os.write(report, f"{started} {ended} {cpu} {usage.ru_maxrss} {code}".encode())


if __name__ == "__main__":
    main()
