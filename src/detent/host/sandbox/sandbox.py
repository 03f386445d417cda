"""Runs a session's commands confined: one nursery that has confined itself serves all of them."""

import asyncio
import marshal
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Self

from msgspec.structs import replace

from detent.host.child import Hold
from detent.host.notes import Note
from detent.host.nursery import ROOT, Cell, NoNursery, Nursery
from detent.host.processes import Descriptors, spawn_openly
from detent.host.sandbox.bwrap import HINT, PROGRAM, command
from detent.host.sandbox.caches import cache_variables
from detent.host.sandbox.places import (
    Look,
    Places,
    missing_folders,
    outermost,
    settled,
    siblings_changed,
)
from detent.host.sandbox.private import Private
from detent.host.sandbox.profile import Backend, Profile, Proxy, SandboxFailed, Wanted

PORT = 64_321
"""Of the proxy, in a network where nobody else is."""
LOCAL_FAMILIES = (int(socket.AF_INET), int(socket.AF_INET6), 16)
"""With netlink, by which programs ask for their addresses. Harmless in a network of its own."""


class _Here(threading.local):
    def __init__(self) -> None:
        self.thread = object()


_HERE = _Here()
"""A thread by something that no later one has: bubblewrap ends with the thread that started it."""


class Sandbox:
    """For `LocalHost`. `wanted` of `auto` takes the best backend whose promises have been proven;
    `record` is the file that remembers the proofs (empty: prove again each time).

    `profile` may be changed at any time: commands that run keep the old one.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        wanted: Wanted = "auto",
        record: str = "",
        proxy: Proxy | None = None,
    ) -> None:
        """`proxy` is needed for the network `proxied` with bwrap; it is closed with the sandbox."""
        self.profile = profile
        self._wanted, self._record, self._proxy = wanted, record, proxy
        self._backend: Backend | None = None
        self._choosing = asyncio.Lock()
        self._private = Private()
        self._nurseries: dict[tuple[object, ...], Nursery] = {}
        self._look: Look | None = None

    @classmethod
    def unproven(cls, backend: Backend, profile: Profile, *, proxy: Proxy | None = None) -> Self:
        """Held by that backend, whether its promises have been proven or not."""
        made = cls(profile, wanted=backend, proxy=proxy)
        made._backend = backend
        return made

    @property
    def profile(self) -> Profile:
        return self._profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._profile = settled(profile)

    @property
    def scratch(self) -> str:
        return self._private.scratch

    @property
    def temporary(self) -> str:
        """What commands have at TMPDIR; empty before the first of them."""
        return "" if self._look is None else self._private.temporary

    @property
    def refused(self) -> Sequence[str]:
        """Hosts that the proxy did not let through so far."""
        return () if self._proxy is None else self._proxy.refused

    async def backend(self) -> Backend:
        """What will hold the commands. Raises SandboxFailed when it is not what was wanted."""
        async with self._choosing:
            if self._backend is None:
                from detent.host.sandbox.choosing import choose

                self._backend = await choose(self._wanted, self._record)
        return self._backend

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        descriptors: Descriptors,
        note: Note | None = None,
    ) -> tuple[Hold, str]:
        """Raises OSError, SandboxFailed when there is no sandbox: never runs it without."""
        backend = await self.backend()
        if backend == "none":
            return await spawn_openly(argv, cwd, env, descriptors, note)
        stays = note is not None and note.stays
        nursery = await self._nursery(backend, stays=stays)
        if note is not None:
            held = (self._private.shared(),) if stays else ()
            head = note.head + b',"sandbox":"%b"' % backend.encode()
            note = replace(note, files=(*note.files, *held), head=head)
        given = os.environ if env is None else env
        full = {**given, **self._variables(backend, given)}
        try:
            return await nursery.spawn(argv, cwd, full, descriptors, note), backend
        except NoNursery as error:
            raise SandboxFailed(f"The sandbox ({backend}) could not be started: {error}") from None

    async def _nursery(self, backend: Backend, *, stays: bool) -> Nursery:
        """Another one whenever the profile or what it protects has changed on the disk."""
        profile = self.profile
        if self._look is None or not self._look.is_true(profile):
            self._stop_looking()
            if backend == "bwrap":
                self._private.make(missing_folders(profile))
            self._look = Look(profile, (self._private.scratch, self._private.temporary))
        places = self._look.places
        beside = siblings_changed(places.hidden) if backend == "landlock" else ()
        key = (_HERE.thread, stays, self._look, beside)
        if key not in self._nurseries:
            bwrapped = backend == "bwrap"
            cell = self._bwrap(places, stays=stays) if bwrapped else self._landlock(places)
            self._nurseries[key] = Nursery(cell=cell, stays=stays)
            await self._rest_idle(key)
        return self._nurseries[key]

    def _stop_looking(self) -> None:
        if self._look is not None:
            self._look.close()
        self._look = None

    def _bwrap(self, places: Places, *, stays: bool) -> Cell:
        wrapper = command(found_bwrap(), places, self._private.temporary, ROOT, stays=stays)
        if self.profile.network == "off":
            return Cell(wrapper, self._orders(LOCAL_FAMILIES))
        if self._proxy is None:
            raise SandboxFailed("The network of the sandbox is to be proxied, and nobody does it.")
        return Cell(wrapper, self._orders(LOCAL_FAMILIES, listen=PORT), self._proxy.serve)

    def _landlock(self, places: Places) -> Cell:
        """Without any network, be it `proxied`: Landlock limits ports and no addresses. Whoever
        may go to the proxy's port at home may go to that port anywhere."""
        writable, hidden = outermost(places.writable), list(places.hidden)
        return Cell((), self._orders((), landlock=True, writable=writable, hidden=hidden))

    def _orders(self, families: Sequence[int], **others: object) -> bytes:
        """For `keeping/confining.py`."""
        unix = [int(socket.AF_UNIX)] if self.profile.allow_unix_sockets else []
        orders = {"landlock": False, "listen": 0, **others}
        return marshal.dumps({**orders, "families": [*families, *unix]})

    def _variables(self, backend: Backend, given: Mapping[str, str]) -> Mapping[str, str]:
        temporary = "/tmp" if backend == "bwrap" else self._private.temporary
        written = (*self.profile.writable, *self.profile.roots)
        own = {"TMPDIR": temporary, **cache_variables(given, written, temporary)}
        if backend != "bwrap" or self.profile.network == "off" or self._proxy is None:
            return own
        return {**own, **self._proxy.variables(PORT)}

    async def _rest_idle(self, needed: tuple[object, ...]) -> None:
        """Of this thread and kind, but for the one that is needed now."""
        for key, nursery in list(self._nurseries.items()):
            if key[:2] == needed[:2] and key != needed and nursery.is_idle:
                del self._nurseries[key]
                await nursery.rest()

    async def aclose(self) -> None:
        """When nothing runs in it any more."""
        await asyncio.gather(*(one.rest() for one in self._nurseries.values()))
        self._nurseries.clear()
        if self._proxy is not None:
            await self._proxy.aclose()
        self._stop_looking()
        await asyncio.to_thread(self._private.remove)


def found_bwrap() -> str:
    """Not by the PATH of a project. Raises SandboxFailed."""
    for folder in ("/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"):
        path = os.path.join(folder, PROGRAM)
        if os.access(path, os.X_OK):
            return path
    raise SandboxFailed(f"bubblewrap is not installed. {HINT}")
