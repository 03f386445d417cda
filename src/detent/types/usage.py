"""Token counts."""

from msgspec import Struct


class Usage(Struct, frozen=True, omit_defaults=True, gc=False):
    input: int = 0
    """Tokens read afresh: neither from the cache nor written to it."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """How many of those written are kept for an hour, which is dearer than a few minutes."""
    reasoning: int = 0
    """How much of the output was thinking, where the provider tells."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_1h + other.cache_write_1h,
            self.reasoning + other.reasoning,
        )

    @property
    def context(self) -> int:
        """How much of the window the request and its answer took."""
        return self.input + self.cache_read + self.cache_write + self.output

    @property
    def total(self) -> int:
        return self.context
