"""Which backend holds the commands: the best one that has kept its promises on this machine.

Trying takes a moment, so the outcome is remembered until the machine starts anew or anything
changes that it depends on.
"""

import os
from contextlib import suppress

from msgspec import DecodeError, ValidationError, json

from detent.host.nursery import nursery
from detent.host.sandbox.bwrap import HINT
from detent.host.sandbox.probes import probe
from detent.host.sandbox.profile import Backend, SandboxFailed, Wanted
from detent.host.sandbox.promises import Probe, holds, not_tried, trouble
from detent.host.sandbox.sandbox import found_bwrap
from detent.types.version import VERSION

BOOT = "/proc/sys/kernel/random/boot_id"
ORDER: tuple[Backend, ...] = ("bwrap", "landlock")
Record = dict[str, tuple[Probe, ...]]


async def choose(wanted: Wanted, record: str = "") -> Backend:
    """Raises SandboxFailed when a certain one is wanted and does not hold."""
    if wanted == "none":
        return "none"
    for backend in ORDER if wanted == "auto" else (wanted,):
        probes = await proven(backend, record)
        if holds(probes):
            return backend
        if wanted != "auto":
            raise SandboxFailed(f"The sandbox ({wanted}) does not work here: {trouble(probes)}")
    return "none"


async def all_proven(record: str = "") -> tuple[Probe, ...]:
    """For a table of everything."""
    return tuple([one for backend in ORDER for one in await proven(backend, record)])


def hint() -> str:
    """How to get a better sandbox, where there is an easy way."""
    try:
        found_bwrap()
    except SandboxFailed:
        return HINT
    return ""


async def proven(backend: Backend, record: str = "") -> tuple[Probe, ...]:
    """From the record, or by trying."""
    if not nursery().is_possible:
        return not_tried(backend, "only on Linux, and not from a program that is one single file")
    try:
        key = f"{backend} {_circumstances(backend)}"
    except SandboxFailed as error:
        return not_tried(backend, error.strerror)
    remembered = _read(record)
    if key not in remembered:
        probes = await probe(backend, os.path.dirname(record))
        # What went wrong may go well the next time, so only success is remembered.
        if not holds(probes):
            return probes
        kept = {k: v for k, v in _read(record).items() if not k.startswith(f"{backend} ")}
        remembered = {**kept, key: probes}
        _write(record, remembered)
    return remembered[key]


def _circumstances(backend: Backend) -> str:
    """All that the outcome depends on. Raises SandboxFailed."""
    with open(BOOT, encoding="ascii") as file:
        boot = file.read().strip()
    space = os.stat("/proc/self/ns/user").st_ino
    words = [boot, VERSION, str(os.getuid()), str(space)]
    if backend == "bwrap":
        program = found_bwrap()
        words += [program, str(os.stat(program).st_mtime_ns)]
    return " ".join(words)


def _read(record: str) -> Record:
    with suppress(OSError, DecodeError, ValidationError), open(record, "rb") as file:
        return json.decode(file.read(), type=Record)
    return {}


def _write(record: str, found: Record) -> None:
    if not record:
        return
    with suppress(OSError):  # then it is tried again the next time
        beside = f"{record}.{os.getpid()}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(json.encode(found))
        os.replace(beside, record)
