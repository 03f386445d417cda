"""What a sandbox promises. A promise is only made where trying to break it has failed."""

from typing import Literal

from msgspec import Struct

from detent.host.sandbox.profile import Backend

Promise = Literal[
    "writes", "network", "secrets", "environment", "kernel", "children", "processes",
    "sockets", "protected", "permissions",
]  # fmt: skip

PROMISES: dict[Promise, str] = {
    "writes": "nothing is written outside the workspace",
    "network": "nothing is reached over the network",
    "secrets": "files with secrets outside the workspace are not read",
    "environment": "no other process's environment is read",
    "kernel": "nothing is mounted, and no privilege is to be had",
    "children": "everything that a command starts ends with it",
    "processes": "no process outside is ended",
    "sockets": "no service of this machine is reached through a socket",
    "protected": "protected files of the workspace stay, denied ones are not read",
    "permissions": "permissions of files outside the workspace stay",
}
NEEDED: tuple[Promise, ...] = (
    "writes",
    "network",
    "secrets",
    "environment",
    "kernel",
    "children",
    "processes",
    "sockets",
)
"""Without any of them it is no sandbox. The others are beyond what Landlock can do."""


class Probe(Struct, frozen=True):
    """One promise, after somebody has tried to break it."""

    promise: Promise
    backend: Backend
    held: bool
    detail: str = ""
    """What got through, or why it could not be tried."""


def holds(probes: tuple[Probe, ...]) -> bool:
    return all(probe.held for probe in probes if probe.promise in NEEDED)


def trouble(probes: tuple[Probe, ...]) -> str:
    """Why that is no sandbox."""
    broken = [probe for probe in probes if probe.promise in NEEDED and not probe.held]
    return "; ".join(dict.fromkeys(probe.detail or PROMISES[probe.promise] for probe in broken))


def not_tried(backend: Backend, why: str) -> tuple[Probe, ...]:
    return tuple(Probe(promise, backend, False, why) for promise in PROMISES)
