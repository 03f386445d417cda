"""The options of bubblewrap that make a sandbox of a profile's places."""

import os
import sys
from collections.abc import Iterable, Iterator

from detent.host.sandbox.places import Places, is_below

PROGRAM = "bwrap"
HINT = (
    "For a better sandbox install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap`, "
    "`pacman -S bubblewrap` or `zypper install bubblewrap`."
)
SEPARATE = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--disable-userns",
    "--new-session",
)
"""As root the user namespace and the drop are what keeps the rest from being undone."""
WITH_US = ("--die-with-parent",)
SYSTEM = ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
"""Root without any privilege could still write the settings of the kernel."""
RUN = "/run"
"""Sockets of everything that serves this machine."""
TEMPORARY = "/tmp"
SHOWN = ("/run/current-system", "/run/opengl-driver", "/run/systemd/resolve")
"""But programs of some systems lie there, and where names are looked up."""

Mount = tuple[int, int, tuple[str, ...]]
"""Depth, rank among mounts on the same place, options."""
HIDE, WRITE, PIN, PROTECT = range(4)
LAST = 10_000


def command(
    program: str, places: Places, temporary: str, root: str, *, stays: bool = False
) -> tuple[str, ...]:
    """`temporary` is what lies at /tmp inside; `root` is the folder of our own package."""
    own = (root, sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)))
    mounts = sorted(_mounts(places, temporary, own))
    base = "--bind" if "/" in places.writable else "--ro-bind"
    return (
        program,
        *SEPARATE,
        *(() if stays else WITH_US),
        *(base, "/", "/"),
        *SYSTEM,
        *(word for _, _, words in mounts for word in words),
        *("--chdir", "/"),
        "--",
    )


def _mounts(places: Places, temporary: str, own: tuple[str, ...]) -> Iterator[Mount]:
    """What lies deeper is mounted later, so the nearest word about a place counts."""
    masks = [TEMPORARY, RUN, *places.hidden]
    if os.path.isdir(RUN):
        yield _mount(RUN, HIDE, "--tmpfs", RUN)
    yield _mount(TEMPORARY, HIDE, "--bind", temporary, TEMPORARY)
    for path in places.hidden:
        if path in places.folders:
            yield _mount(path, HIDE, "--perms", "0700", "--tmpfs", path)
            yield LAST, HIDE, ("--remount-ro", path)  # places below it must be made there first
        else:  # a device that cannot be opened there
            yield _mount(path, HIDE, "--ro-bind", os.devnull, path)
    for path in places.writable:
        if path != "/" and not _is_covered(path, places.writable, masks):
            yield _mount(path, WRITE, "--bind", path, path)
    for path in places.pinned:
        if not _is_below_any(path, places.hidden):
            yield _mount(path, PIN, "--bind", path, path)
    for path in places.protected:
        if not _is_below_any(path, places.hidden):  # which would show it again
            yield _mount(path, PROTECT, "--ro-bind", path, path)
    for path in dict.fromkeys(os.path.realpath(path) for path in (*places.readable, *own, *SHOWN)):
        is_masked = _is_below_any(path, masks)
        if is_masked and os.path.exists(path) and not _is_below_any(path, places.writable):
            yield _mount(path, WRITE, "--ro-bind", path, path)


def _is_covered(path: str, writable: Iterable[str], masks: Iterable[str]) -> bool:
    """By a folder around it, with nothing between that hides it. What a command could have put at
    a name is not to be mounted."""
    around = [place for place in writable if place != path and is_below(path, place)]
    return any(
        not any(mask != place and is_below(path, mask) and is_below(mask, place) for mask in masks)
        for place in around
    )


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_below(path, folder) for folder in folders)


def _mount(path: str, rank: int, *words: str) -> Mount:
    return path.rstrip("/").count("/"), rank, words
