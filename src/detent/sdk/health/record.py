"""A check as data, and what all checks go by."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from detent.app.grounds import Grounds
    from detent.app.options import Options
    from detent.app.settings.sources import Where

State = Literal["ok", "warning", "problem"]


class Check(Struct, frozen=True, omit_defaults=True):
    name: str
    state: State
    """A problem is what was asked for and does not work."""
    text: str
    advice: str = ""
    """What to do, in one line; empty where nothing needs to be done."""


class Place(Struct, frozen=True):
    """Where it is looked at, and for whom."""

    options: "Options"
    environ: Mapping[str, str]
    cwd: str
    where: "Where"
    grounds: "Grounds | None" = None
    """None where the settings cannot be read."""
    fault: str = ""
    """Why they cannot."""
