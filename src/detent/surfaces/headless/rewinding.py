"""`rewind_files`: a host wants the files back as they were when a message came."""

from typing import Any

from detent.sdk.session import Session
from detent.types.events import Prompted
from detent.types.uuids import uuid_of

UNKNOWN = "there is no prompt {uuid!r} in this session to go back to"


async def rewind_files(session: Session, uuid: str, *, dry_run: bool) -> dict[str, Any]:
    """The conversation stays; its model is told. Raises ValueError where there is no such message,
    unless it is only asked about."""
    number = _number(session, uuid)
    if not number:
        if dry_run:
            return {"canRewind": False, "error": UNKNOWN.format(uuid=uuid)}
        raise ValueError(UNKNOWN.format(uuid=uuid))
    done = await session.rewind(number, "files", dry_run=dry_run)
    assert done.files is not None
    found: dict[str, Any] = {
        "canRewind": True,
        "filesChanged": [file.path for file in done.files.files],
    }
    if done.files.left:
        found["filesLeft"] = [{"path": one.path, "reason": one.reason} for one in done.files.left]
    return found


def _number(session: Session, uuid: str) -> int:
    """The prompt, as people count them; 0 where there is none."""
    prompts = {e.seq: e for e in session.entries if isinstance(e, Prompted) and not e.steered}
    for point in session.points():
        prompt = prompts[point.seq]
        if uuid and uuid in (prompt.uuid, uuid_of(session.id, prompt.seq)):
            return point.number
    return 0
