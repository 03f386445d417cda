"""The desk a call works at, and what the session remembers of files."""

from collections.abc import Callable, Mapping

from detent.ports import Desk, Host


class FilesRead:
    """Digest of each file as the session last saw it."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def remember(self, path: str, digest: str) -> None:
        self._digests[path] = digest

    def recall(self, path: str) -> str | None:
        return self._digests.get(path)


class DeskMaker:
    def __init__(self, cwd: str, host: Host, session: str, settings: Mapping[str, str]) -> None:
        self.cwd = cwd
        self._host = host
        self._session = session
        self._settings = settings
        self._files = FilesRead()

    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk:
        return Desk(
            call_id=call_id,
            cwd=self.cwd,
            host=self._host,
            files=self._files,
            progress=progress,
            session=self._session,
            settings=self._settings,
        )
