"""Where sessions are kept: whether they can be, and how many there are."""

import os
import stat
from itertools import islice

from detent.sdk.health.record import Check, Place
from detent.session.store import Store

LITTLE = 500_000_000
"""Bytes that should be free."""
MOST_COUNTED = 100_000
ELSEWHERE = "set DETENT_HOME to a folder of yours"


async def look(place: Place) -> list[Check]:
    home = place.where.home
    number = sum(1 for _ in islice(Store(home).files(), MOST_COUNTED))
    if trouble := _trouble(os.path.join(home, "sessions")):
        text = f"cannot be kept in {home}: {trouble}"
        return [Check("sessions", "problem", text, ELSEWHERE)]
    free = _free(home)
    count = "1 session" if number == 1 else f"{number or 'no'} sessions"
    text = f"{count} in {home}, {free / 1e9:,.1f} GB free"
    if free < LITTLE:
        advice = "detent sessions delete --older-than 30d, or make room on the disk"
        return [Check("sessions", "warning", text, advice)]
    return [Check("sessions", "ok", text)]


def _trouble(folder: str) -> str:
    """Looked at, not tried: nothing must be left behind."""
    there = _nearest(folder)
    if not stat.S_ISDIR(os.stat(there).st_mode):
        return f"{there} is not a folder"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} cannot be written"
    return "the disk is read-only" if os.statvfs(there).f_flag & os.ST_RDONLY else ""


def _free(folder: str) -> int:
    facts = os.statvfs(_nearest(folder))
    return facts.f_bavail * facts.f_frsize


def _nearest(path: str) -> str:
    """What there is of the way to it."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path
