"""What of a workspace is kept for undoing."""

from msgspec import Struct


class Terms(Struct, frozen=True):
    ignored: bool = False
    """Also what `.gitignore` leaves out."""
    files: int = 100_000
    """Names in a folder of the workspace."""
    bytes: int = 1 << 30
    """Of all its files together."""
    file_bytes: int = 16 << 20
    seconds: float = 10.0
    """For one look at everything."""
