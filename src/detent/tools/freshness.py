"""Change only what was read, and only if it still is as it was read."""

import errno

from detent.ports import Desk
from detent.tools.texts import LIMIT, digest


async def content_of(desk: Desk, path: str) -> bytes:
    """OSError with words for the model when the file is beyond what the file tools handle."""
    try:
        return await desk.host.read(path, LIMIT)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise OSError(f"{path} is larger than {LIMIT:,} bytes: change it with Bash.") from None


def objection(desk: Desk, path: str, data: bytes) -> str:
    """Empty when the session knows exactly this content. Time stamps play no part."""
    known = desk.files.recall(path)
    if known is None and data:
        return f"{path} has not been read in this session. Read it first, then change it."
    if known is not None and known != digest(data):
        return f"{path} has changed since it was read. Read it again, then change it."
    return ""
