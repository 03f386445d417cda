"""What every entry of the log has."""

from msgspec import Struct


class Durable(
    Struct, frozen=True, kw_only=True, tag_field="type", tag=str.lower, omit_defaults=True
):
    """Base of every entry. The log stamps `seq` and `at` when it appends."""

    seq: int = 0
    at: float = 0.0
