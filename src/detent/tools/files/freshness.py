"""Change only what was read, and only if it still is as it was read."""

import errno
import os

from detent.ports import Desk
from detent.tools.files.images import media_type
from detent.tools.files.neighbours import about_folder, about_missing
from detent.tools.files.pdf import is_pdf
from detent.tools.files.texts import LIMIT, digest, is_binary


class Unfit(OSError):
    """A change that cannot be made, in words for the model; like all OSErrors it becomes the
    outcome of the call."""


async def original(desk: Desk, path: str, *, creates: bool) -> bytes | None:
    """The content as the session knows it; None when there is no such file, if that may be."""
    facts = await desk.facts(path)
    if facts is None:
        if creates:
            return None
        raise Unfit(await about_missing(desk.host, path, desk.cwd))
    if facts.is_dir:
        raise Unfit(await about_folder(desk.host, path))
    data = await _content_of(desk, path)
    if fault := _objection(desk, path, data) or await _unknown(desk, path, _real(path), data):
        raise Unfit(fault)
    return data


async def original_text(desk: Desk, path: str, *, creates: bool) -> bytes | None:
    data = await original(desk, path, creates=creates)
    if data is not None and is_binary(data):
        raise Unfit(f"{path} is a binary file.")
    return data


async def save(desk: Desk, path: str, data: bytes) -> None:
    if len(data) > LIMIT:
        raise Unfit(f"the file would have {len(data):,} bytes; the limit is {LIMIT:,}.")
    await desk.write(path, data)
    remember(desk, path, data)


def remember(desk: Desk, path: str, data: bytes) -> None:
    """Under its real name: a file may have others, through links."""
    desk.files.remember(_real(path), digest(data))


def _real(path: str) -> str:
    return os.path.realpath(path)


async def _content_of(desk: Desk, path: str) -> bytes:
    try:
        return await desk.read(path, LIMIT)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise Unfit(f"{path} is larger than {LIMIT:,} bytes: change it with Bash.") from None


def _objection(desk: Desk, path: str, data: bytes) -> str:
    """Of what nobody could read first."""
    known = desk.files.recall(_real(path))
    if known is None and is_binary(data) and not media_type(data) and not is_pdf(data, path):
        return f"{path} is a binary file. To put a text in its place, delete it with Bash first."
    return ""


async def _unknown(desk: Desk, path: str, real: str, data: bytes) -> str:
    """Empty when what the session knows is exactly this content. Time stamps play no part."""
    known, now = desk.files.recall(real), digest(data)
    if known == now or (known is None and not data):
        return ""
    if told := await desk.files.told_of(real, known or "", now, data):
        return told
    if known is None:
        return f"{path} has not been read in this session. Read it first, then change it."
    return f"{path} has changed since it was read. Read it again, then change it."
