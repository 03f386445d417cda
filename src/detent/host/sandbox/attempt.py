"""Runs inside a sandbox and tries whatever it should make impossible.

It has a bare interpreter and prints one line per thing that worked: a promise, a tab, what it was.
What happens on the other side of a socket is seen from there.
"""

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial

CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x20000
LIBC = ctypes.CDLL(None, use_errno=True)
OWN_VARIABLES = {b"", b"LD_LIBRARY_PATH"}
"""What the one who started the sandbox may have had."""


def attempt(promise: str, what: str, deed: Callable[[], object]) -> None:
    """A deed that raises, or that has nothing to show, did not work."""
    try:
        worked = deed()
    except OSError:
        return
    if worked is not False:
        print(f"{promise}\t{what}", flush=True)


def put(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


def read(path: str) -> bool:
    with open(path, "rb") as file:
        return bool(file.read())


class Attempts:
    """On the ground that `probes.py` has laid."""

    def __init__(self, work: str, outside: str, secret: str, mark: str, *ports: str) -> None:
        self.work, self.outside, self.secret, self.mark, self.ports = (
            work, outside, secret, mark, ports
        )  # fmt: skip

    def write_outside(self) -> None:
        old, new = f"{self.outside}/old", f"{self.outside}/new"
        attempt("writes", "a new file", lambda: put(new))
        attempt("writes", "a file that was there", lambda: put(old))
        attempt("writes", "truncation", lambda: os.truncate(old, 0))
        attempt("writes", "a folder", lambda: os.mkdir(f"{self.outside}/folder"))
        attempt("writes", "through a link", lambda: put(f"{self.work}/link/linked"))
        attempt("writes", "a hard link", lambda: os.link(old, f"{self.work}/hard"))
        attempt("writes", "moving it in", lambda: os.rename(old, f"{self.work}/moved"))
        attempt("writes", "removal", lambda: os.unlink(old))
        attempt("permissions", "chmod", lambda: os.chmod(self.outside, 0o777))

    def break_protection(self) -> None:
        for name in (".detent", ".claude", ".git/hooks", ".git"):
            path = f"{self.work}/{name}"
            if name != ".git":
                attempt("protected", f"a file in {name}", partial(put, f"{path}/x"))
            attempt("protected", f"moving {name}", partial(os.rename, path, f"{path}.old"))
        attempt("protected", "reading a denied file", lambda: read(f"{self.work}/.env"))

    def reach(self) -> None:
        tcp, udp = map(int, self.ports)
        attempt("network", "tcp", lambda: knock(socket.SOCK_STREAM, tcp))
        attempt("network", "udp", lambda: knock(socket.SOCK_DGRAM, udp))
        attempt("sockets", "a unix socket", lambda: call_unix(f"{self.work}/socket"))
        attempt("sockets", "an abstract socket", lambda: call_unix(f"\0{self.mark}"))

    def look_around(self) -> None:
        attempt("secrets", "a folder", lambda: read(f"{self.secret}/folder/key"))
        attempt("secrets", "a file", lambda: read(f"{self.secret}/file"))
        for pid in filter(str.isdigit, os.listdir("/proc")):
            attempt("environment", f"process {pid}", partial(self.is_marked, pid, "environ"))
            attempt("processes", f"process {pid}", partial(self.could_end, pid))
        attempt("environment", "process 1", first_process_has_one)

    def is_marked(self, pid: str, file: str) -> bool:
        with open(f"/proc/{pid}/{file}", "rb") as opened:
            return self.mark.encode() in opened.read()

    def could_end(self, pid: str) -> bool:
        """The one whose name is the mark; ours has it among its words, too."""
        if int(pid) == os.getpid() or not self.is_marked(pid, "cmdline"):
            return False
        os.kill(int(pid), 0)
        return True

    def touch_kernel(self) -> None:
        attempt("kernel", "a mount", lambda: mount(self.outside.encode()))
        attempt("kernel", "a user namespace", make_namespace)
        for name in ("core_pattern", "modprobe"):
            path = f"/proc/sys/kernel/{name}"
            attempt("kernel", path, partial(open_for_writing, path))
        attempt("kernel", "privileges", has_privileges)

    def leave_a_daemon(self) -> None:
        """It holds a lock, by which one sees whether it lives."""
        import fcntl

        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for descriptor in range(3):
                    os.close(descriptor)
                fcntl.flock(os.open(f"{self.work}/alive", os.O_RDWR), fcntl.LOCK_EX)
                os.write(tell, b"x")
                time.sleep(60)
            os._exit(0)
        os.close(tell)
        os.read(ready, 1)


def knock(kind: socket.SocketKind, port: int) -> bool:
    """Only who listens can tell whether it got there."""
    with socket.socket(socket.AF_INET, kind) as made:
        made.settimeout(1)
        made.connect(("127.0.0.1", port))
        made.send(b"x")
    return False


def call_unix(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(address)


def first_process_has_one() -> bool:
    with open("/proc/1/environ", "rb") as file:
        names = {one.partition(b"=")[0] for one in file.read().split(b"\0")}
    return bool(names - OWN_VARIABLES)


def mount(place: bytes) -> bool:
    """And off again: it is to fail, but who knows."""
    worked = LIBC.mount(b"none", place, b"tmpfs", ctypes.c_ulong(0), None) == 0
    return bool(worked and LIBC.umount2(place, 0) == 0)


def make_namespace() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS) & 1)
    return os.waitpid(child, 0)[1] == 0


def open_for_writing(path: str) -> None:
    """And nothing more: a setting of the kernel."""
    os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))


def has_privileges() -> bool:
    """Now, or from the next program that is started. Only root has a bound that can be lowered."""
    with open("/proc/self/status") as file:
        facts = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    could_get = facts["NoNewPrivs"].strip() != "1" or os.geteuid() == 0
    return bool(int(facts["CapEff"], 16) or (could_get and int(facts["CapBnd"], 16)))


def main() -> None:
    attempts = Attempts(*sys.argv[1:])
    if not os.path.exists(attempts.outside):
        sys.exit("its ground is not in sight")
    attempts.write_outside()
    attempts.break_protection()
    attempts.reach()
    attempts.look_around()
    attempts.touch_kernel()
    attempts.leave_a_daemon()
    print("done", flush=True)


if __name__ == "__main__":
    main()
