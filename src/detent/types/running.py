"""Entries about how a session runs, which no model reads: replay and people go by them."""

from typing import Any

from msgspec.structs import replace

from detent.types.durable import Durable
from detent.types.usage import Usage


class Equipped(Durable, frozen=True, kw_only=True):
    """What the loop goes by from here on, beside the log: a replay needs nothing else."""

    model: str
    window: int = 0
    max_output: int = 0
    system: tuple[str, ...] = ()
    tools: str = ""
    """The tools as the model sees them, as JSON."""
    terms: dict[str, Any] = {}
    """Limits, shaping and whatever else the loop goes by, as far as it is not the usual."""
    begins: bool = False
    """With this entry a run of the program begins."""
    same: tuple[str, ...] = ()
    """Fields that are left out here, for they are as in the entry of this kind before."""

    def filled(self, before: "Equipped") -> "Equipped":
        """With what is left out."""
        return replace(
            self,
            system=before.system if "system" in self.same else self.system,
            tools=before.tools if "tools" in self.same else self.tools,
            same=tuple(name for name in self.same if name in before.same),
        )


class Unanswered(Durable, frozen=True, kw_only=True):
    """A request that came to no answer, retries and all."""

    model: str
    kind: str
    error: str
    status: int | None = None
    usage: Usage = Usage()
    window: int = 0
    tokens: int = 0
    exhausted: bool = False


class Named(Durable, frozen=True, kw_only=True):
    """What people call the session; the last one counts."""

    name: str
