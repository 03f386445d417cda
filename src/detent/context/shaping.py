"""How the conversation is shaped to fit the window: what the user may choose, as data."""

from typing import Literal

from msgspec import Struct

Stage = Literal["result_budget", "snip_window", "snip_messages", "micro", "collapse", "auto"]
ORDER: tuple[Stage, ...] = (
    "result_budget",
    "snip_window",
    "snip_messages",
    "micro",
    "collapse",
    "auto",
)
KEEP = 4
"""The latest messages that stay word for word."""
WARNING, CRITICAL = 0.80, 0.95
"""Shares of the window: from the first on room is made, from the second on by all means."""
CUMULATIVE = 200_000
"""Input tokens since the last compaction, where nobody has set a threshold of any kind."""


class Shaping(Struct, frozen=True, kw_only=True):
    order: tuple[Stage, ...] = ORDER
    """The stages that are on, in the order in which they run."""
    share: float | None = None
    """Of the window, from which on room is made; 0 is never, None the usual."""
    tokens: int | None = None
    """In use, from which on room is made, whatever the window; 0 is never. Set alone, no share
    counts beside it."""
    cumulative: int | None = None
    """Input tokens since the last compaction after which one is made; 0 is never, None is the
    usual threshold."""
    window: int = 0
    """Counts instead of the model's own; 0 is not said."""
    is_projected: bool = False
    """Count what the answer may take as if it were in use."""
    is_automatic: bool = True
    """Without it, nothing that was sent is shortened or summed up unless the user says so."""
    reactive: bool = True
    """A prompt that was too long makes room once; without it the turn ends."""
    manual: bool = True
    """The user may ask for a summary at any time."""
    summariser: Literal["model", "local"] = "model"
    keep: int = KEEP

    @property
    def is_usual(self) -> bool:
        """Nobody has said from when on room is made."""
        return self.share is None and self.tokens is None and not self.window
