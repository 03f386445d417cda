"""The files of a session's folder, as somebody would name them who mentions one."""

from detent.app.listing import list_files
from detent.sdk.session import Session

__all__ = ["list_files", "names_of"]


async def names_of(session: Session) -> tuple[str, ...]:
    """Files and folders below the working folder, without what is ignored; folders end in a slash.
    Bounded, and empty where they cannot be listed."""
    return await list_files(session._engine.shop.host, session.cwd)
