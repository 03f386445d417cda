"""Tries what a sandbox must make impossible, in a sandbox of its own, on files of its own."""

import asyncio
import fcntl
import os
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from tempfile import mkdtemp

from detent.host.child import Hold
from detent.host.processes import start_process
from detent.host.sandbox.profile import Backend, Profile, SandboxFailed
from detent.host.sandbox.promises import PROMISES, Probe, not_tried
from detent.host.sandbox.sandbox import Sandbox

ATTEMPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attempt.py")
LONGEST = 20.0


async def probe(backend: Backend, folder: str = "") -> tuple[Probe, ...]:
    """Each promise. `folder` is where the files of the trial may lie for a moment."""
    if not hasattr(os, "memfd_create"):
        return not_tried(backend, "this system has no such sandbox")
    trial = Trial(backend, folder)
    try:
        got_through = await trial.run()
    except OSError as error:
        return not_tried(backend, error.strerror or str(error))
    finally:
        await asyncio.to_thread(trial.close)
    return tuple(
        Probe(
            promise, backend, not got_through.get(promise), "; ".join(got_through.get(promise, ()))
        )
        for promise in PROMISES
    )


class Trial:
    """The ground, those who listen on the outside, and one run of `attempt.py` inside."""

    def __init__(self, backend: Backend, folder: str) -> None:
        self._backend: Backend = backend
        self._stack = ExitStack()
        self._ground = os.path.realpath(_made_in(folder) or mkdtemp(prefix="probe-"))
        self._stack.callback(shutil.rmtree, self._ground, ignore_errors=True)
        self._lay()
        self._mark = f"PROBE_{os.urandom(8).hex()}"
        self._listening = [self._listen(kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
        self._listen_unix(os.path.join(self.work, "socket"))
        self._listen_unix("\0" + self._mark)

    @property
    def work(self) -> str:
        return os.path.join(self._ground, "work")

    def _lay(self) -> None:
        for name in ("work/.git/hooks", "work/.detent", "outside", "secret/folder"):
            os.makedirs(os.path.join(self._ground, name))
        files = ("outside/old", "secret/file", "secret/folder/key", "work/.env", "work/alive")
        for name in files:
            with open(os.path.join(self._ground, name), "w", encoding="ascii") as file:
                file.write("secret")
        os.symlink(os.path.join(self._ground, "outside"), os.path.join(self.work, "link"))

    def _listen(self, kind: socket.SocketKind) -> socket.socket:
        made = self._stack.enter_context(socket.socket(socket.AF_INET, kind))
        made.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            made.listen()
        made.setblocking(False)
        return made

    def _listen_unix(self, address: str) -> None:
        """No trial of sockets where the name is too long for one: then both must be refused by
        the other."""
        made = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        with suppress(OSError):
            made.bind(address)
            made.listen()

    def _profile(self) -> Profile:
        hidden = ("secret/folder", "secret/file", "work/.env")
        return Profile(
            roots=(self.work,),
            readable=(self._ground,),
            denied_reads=tuple(os.path.join(self._ground, name) for name in hidden),
        )

    async def run(self) -> dict[str, list[str]]:
        """What worked, by promise. Raises OSError."""
        self._bystander()
        sandbox = Sandbox.unproven(self._backend, self._profile())
        said: list[bytes] = []
        try:
            child = await start_process(
                self._argv(), cwd=self.work, output=said.append, env={}, spawn=sandbox.spawn
            )
            finished = await child.run(LONGEST)
            got_through = _understood(b"".join(said).decode(errors="replace"), finished.exit_code)
            for name, made in zip(("tcp", "udp"), self._listening, strict=True):
                if _was_reached(made):
                    got_through.setdefault("network", []).append(name)
            if not await self._is_daemon_gone(child.hold):
                got_through.setdefault("children", []).append("a daemon lives on")
        finally:
            await sandbox.aclose()
        return got_through

    def _argv(self) -> list[str]:
        ports = (str(made.getsockname()[1]) for made in self._listening)
        outside, secret = (os.path.join(self._ground, name) for name in ("outside", "secret"))
        with open(ATTEMPT, encoding="utf-8") as file:
            program = file.read()
        places = (self.work, outside, secret, self._mark, *ports)
        return [sys.executable, "-I", "-S", "-c", program, *places]

    def _bystander(self) -> None:
        """A process of the same user outside, with something in its environment."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", "read line", self._mark],
            env={"SECRET": self._mark},
            stdin=subprocess.PIPE,
        )
        self._stack.callback(process.wait)
        if process.stdin is not None:
            self._stack.callback(process.stdin.close)

    async def _is_daemon_gone(self, hold: Hold) -> bool:
        await hold.end()
        lock = os.open(os.path.join(self.work, "alive"), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def close(self) -> None:
        self._stack.close()


def _made_in(folder: str) -> str:
    """Empty where nothing can be made."""
    with suppress(OSError):
        if folder:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            return mkdtemp(prefix="probe-", dir=folder)
    return ""


def _understood(said: str, code: int) -> dict[str, list[str]]:
    """Raises SandboxFailed when it did not come to its end: then nothing is proven."""
    *lines, last = said.splitlines() or [""]
    if last != "done":
        words = last or f"exit code {code}"
        raise SandboxFailed(f"the trial of the sandbox did not come to its end: {words}")
    found: dict[str, list[str]] = {}
    for line in lines:
        promise, _, what = line.partition("\t")
        found.setdefault(promise, []).append(what)
    return found


def _was_reached(listening: socket.socket) -> bool:
    try:
        if listening.type == socket.SOCK_STREAM:
            listening.accept()[0].close()
        else:
            listening.recv(16)
    except BlockingIOError:
        return False
    return True
