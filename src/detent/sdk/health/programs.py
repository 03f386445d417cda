"""Programs on this machine, asked for their version."""

import re
from time import monotonic

from detent.app.git_running import Running
from detent.host.local import LocalHost
from detent.sdk.health.record import Place

PATIENCE = 3.0
_VERSION = re.compile(r"\d+\.\d[\w.]*")


def find(name: str, place: Place) -> str:
    """As the tools find it; empty where it is not there."""
    return LocalHost(place.environ).which(name) or ""


async def version_of(program: str, place: Place) -> str:
    """Empty where it does not tell, or not in time: then it would not do its work, either."""
    host = LocalHost(place.environ)
    asked = await Running((program, "--version"), host.environment).answer(monotonic() + PATIENCE)
    found = _VERSION.search(asked.text[:200])
    return found[0] if found else ""
