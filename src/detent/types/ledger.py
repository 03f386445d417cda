"""The ledger of a request: every block of it, where it is from, why it is there, what it costs."""

from typing import Literal, get_args

from msgspec import Struct

from detent.types.budget import Spent
from detent.types.usage import Usage

Category = Literal[
    "system prompt",
    "tools",
    "memory",
    "surroundings",
    "summary",
    "messages",
    "results",
    "images",
    "frame",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""In the order in which they are shown."""

Segment = Literal["read", "written", "fresh", "unsent", ""]
"""From the provider's cache, into it, past it; not sent yet; the provider does not tell."""


class LedgerBlock(Struct, frozen=True, gc=False):
    number: int
    category: Category
    kind: str
    """Finer: prompt, answer, thinking, call, result, reminder, …"""
    origin: int
    """The entry of the log that it is from; 0: it is configured."""
    reason: str
    bytes: int
    estimate: int
    tokens: int
    """As the provider counted them where that is known, else the estimate."""
    billed: int | None = None
    """Its share of the input that the provider counted; None: not sent yet, or not counted."""
    cache: Segment = ""
    message: int = -1
    """Which message of the request; none for the prompt and the tools."""


class LedgerRow(Struct, frozen=True, gc=False):
    """All blocks of a category."""

    name: Category
    blocks: int
    bytes: int
    tokens: int


class ContextLedger(Struct, frozen=True, kw_only=True):
    session: str
    model: str
    step: int
    """Which answer of the session it was sent for; 0: the request that would be sent now."""
    steps: int
    """How many answers the session has."""
    bytes: int
    """Of the body; the blocks are all of it."""
    tokens: int
    window: int
    reserved: int
    """Tokens that the answer may take."""
    free: int
    state: Literal["NORMAL", "WARNING", "CRITICAL"]
    is_automatic: bool
    """Whether room is made when it gets tight."""
    is_exact: bool
    """False: the model's wire could not be had, and the bytes are of our own notation."""
    differs: str
    """What of the prompt and the tools is another now than when it was sent, as far as is known."""
    usage: Usage | None
    """What the provider reported for this request, or for the last one."""
    rows: tuple[LedgerRow, ...]
    blocks: tuple[LedgerBlock, ...]
    missed: str = ""
    """The last time that the cache held less than it should, and why."""
    spent: dict[str, Spent] = {}
    """By the whole session until now, by what it was for."""
