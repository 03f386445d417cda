"""The files of a session's folder, as somebody would name them who mentions one."""

from contextlib import suppress

from detent.app.listing import Enough, collected, list_files
from detent.sdk.session import Session
from detent.types.codec import encode

__all__ = ["names_of", "suggested"]

PATIENCE = 5.0
MOST_BYTES = 64 * 1024


async def names_of(session: Session) -> tuple[str, ...]:
    """Files and folders below the working folder, without what is ignored; folders end in a slash.
    Bounded, and empty where they cannot be listed."""
    ignores = session.interface.respect_gitignore
    return await list_files(session._engine.shop.host, session.cwd, ignores=ignores)


async def suggested(session: Session, command: str, typed: str) -> tuple[str, ...]:
    """By the user's own command, which reads `{"query": …}` and prints a name in each line."""
    host, data = session._engine.shop.host, bytearray()
    argv = [host.which("bash") or "sh", "-c", command]
    with suppress(OSError, Enough):
        await host.run(
            argv,
            cwd=session.cwd,
            timeout=PATIENCE,
            output=collected(data, MOST_BYTES),
            errors=lambda chunk: None,
            stdin=encode({"query": typed}),
        )
    lines = bytes(data).decode("utf-8", "replace").splitlines()
    return tuple(line.strip() for line in lines if line.strip())
