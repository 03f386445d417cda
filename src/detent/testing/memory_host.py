"""A machine in memory: tests of tools and agents without a disk or processes."""

import errno
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

from detent.ports import FileFacts, Finished, Running

Answer = tuple[int, str]
"""Exit code and output."""
Commands = Mapping[str, Answer] | Callable[[Sequence[str]], Answer]


class MemoryHost:
    """Files by absolute path; folders exist because of the files below them.

    `commands` answers what is run: by the text of a shell command (or the words of any other,
    joined by spaces), or through a function. Every write makes a file one second newer.
    """

    scratch = ""
    temporary = ""

    def __init__(
        self, files: Mapping[str, str | bytes] | None = None, commands: Commands | None = None
    ) -> None:
        self.files: dict[str, bytes] = {}
        self.ran: list[list[str]] = []
        self._modified: dict[str, float] = {}
        self._commands = commands or {}
        for path, content in (files or {}).items():
            self.put(path, content)

    def put(self, path: str, content: str | bytes) -> None:
        """Changes a file behind everyone's back."""
        self.files[path] = content.encode() if isinstance(content, str) else content
        self._modified[path] = float(max(self._modified.values(), default=0.0) + 1)

    def text(self, path: str) -> str:
        return self.files[path].decode()

    def real(self, path: str) -> str:
        return path

    async def read(self, path: str, limit: int, *, real: bool = False) -> bytes:
        if path not in self.files:
            kind = errno.EISDIR if self._is_dir(path) else errno.ENOENT
            raise OSError(kind, os.strerror(kind), path)
        if len(self.files[path]) > limit:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        return self.files[path]

    async def write(self, path: str, data: bytes, *, real: bool = False) -> None:
        if self._is_dir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.put(path, data)

    async def facts(self, path: str) -> FileFacts | None:
        if path in self.files:
            return FileFacts(path, len(self.files[path]), self._modified[path], False)
        return FileFacts(path, 0, 0.0, True) if self._is_dir(path) else None

    async def walk(self, root: str, entering: Collection[str] = ()) -> AsyncIterator[FileFacts]:
        inside = root.rstrip("/") + "/"
        below = {path for path in self.files if path.startswith(inside)}
        for path in list(below):
            while len(path := os.path.dirname(path)) > len(inside):
                below.add(path)
        for path in sorted(below, key=lambda path: (path.count("/"), path.split("/"))):
            facts = await self.facts(path)
            if facts is not None:
                yield facts

    def which(self, program: str) -> str | None:
        return None

    async def run(  # noqa: PLR0913
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        confined: bool = False,
        noted_as: str = "",
        begun: Callable[[Running], None] = lambda running: None,
    ) -> Finished:
        self.ran.append(list(argv))
        code, text = self._answer(argv)
        begun(_Ran(Finished(code)))
        if text:
            output(text.encode())
        return Finished(code)

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        output: Callable[[bytes], None] | str,
        errors: Callable[[bytes], None] | None = None,
        keeps_input: bool = False,
        env: Mapping[str, str] | None = None,
        confined: bool = False,
    ) -> Running:
        """It has already ended: what it says is there, and nothing can be written to it."""
        self.ran.append(list(argv))
        code, text = self._answer(argv)
        if isinstance(output, str):
            self.put(output, self.files.get(output, b"") + text.encode())
        elif text:
            output(text.encode())
        return _Ran(Finished(code))

    async def aclose(self) -> None:
        pass

    def _answer(self, argv: Sequence[str]) -> Answer:
        if callable(self._commands):
            return self._commands(argv)
        command = argv[2] if list(argv[1:2]) == ["-c"] else " ".join(argv)
        return self._commands.get(command, (127, f"{argv[0]}: command not found\n"))

    def _is_dir(self, path: str) -> bool:
        inside = path.rstrip("/") + "/"
        return path == "/" or any(other.startswith(inside) for other in self.files)


class _Ran:
    pid = 1
    stays = False
    sandbox = ""

    def __init__(self, finished: Finished) -> None:
        self._finished = finished

    def write(self, data: bytes) -> None:
        pass

    async def wait(self) -> Finished:
        return self._finished

    async def end(self) -> Finished:
        return self._finished

    def lift_limit(self) -> None:
        pass
