"""Which agents there are for a session, and which stand behind another of the same name."""

from msgspec import Struct

from detent.app.agents.kinds.finding import kinds_of
from detent.app.agents.kinds.record import AgentKind
from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.types.errors import BadInput

__all__ = ["AgentKind", "Agents", "agents_of", "the_agent"]


class Agents(Struct, frozen=True):
    kinds: tuple[AgentKind, ...]
    """Those that count."""
    shadowed: tuple[AgentKind, ...] = ()
    """Others of the same name, or of a name that they may not take."""
    notices: tuple[str, ...] = ()
    """What is wrong with files, or ignored in them."""


def agents_of(options: Options | None = None) -> Agents:
    """As a session that begins now would have them; no model is asked. Raises BadInput."""
    kinds = kinds_of(grounds_of(options or Options()))
    return Agents(kinds.all(), kinds.shadowed, kinds.notices)


def the_agent(name: str, options: Options | None = None) -> AgentKind:
    """By its name, as a model may write it. Raises BadInput where there is none."""
    kinds = kinds_of(grounds_of(options or Options()))
    if (found := kinds.find(name) if name.strip() else None) is None:
        raise BadInput(f"there is no agent {name!r}; there are {kinds.names()}")
    return found
