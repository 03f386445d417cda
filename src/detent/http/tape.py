"""The bytes of every exchange, kept in files: for `--record`. Loaded only then.

One file per exchange, `0001.jsonl` and so on, 0600. The first line tells what it is; each other
one is a piece as it went or came: `{"ms": since the beginning, "sent" or "got": text}`, with
`sent64` or `got64` where the bytes are no text. The last one, `{"ms":…,"end":…}`, tells how it
ended. Nothing here may make a request fail.
"""

import os
import re
import time
from collections.abc import Callable, Mapping

from detent.types.codec import encode

FORMAT = 1
HIDDEN = "hidden"
SHOWN = frozenset({
    "accept", "anthropic-beta", "anthropic-version", "cache-control", "connection",
    "content-encoding", "content-length", "content-type", "date", "expect", "host", "openai-beta",
    "retry-after", "transfer-encoding", "user-agent", "x-goog-user-project",
})  # fmt: skip
"""Headers of a request that are kept as they are; any other may be a key, or lead to one."""
PLAIN = frozenset({"alt", "api-version", "beta", "version"})
"""The same of what stands behind the `?` of an address."""
SHORTEST_SECRET = 8
"""Characters: less than that would be found in anything."""
_COOKIE = re.compile(rb"(?im)^(set-cookie:)[^\r\n]*")
_END_OF_HEAD = b"\r\n\r\n"
Line = Mapping[str, object]
MOST_HELD = 256 * 1024
"""Bytes of an answer without the end of a head: it is none."""


class Tape:
    """A folder of exchanges. Others may write into it at the same time: no number comes twice."""

    def __init__(self, folder: str) -> None:
        """Raises OSError where there can be no such folder."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = os.path.abspath(folder)
        self._last = max(map(_number, os.listdir(folder)), default=0)
        self.tell: Callable[[str], None] = lambda text: None
        self._told = False

    def begin(self, url: str, head: bytes, body: bytes) -> "Taped | None":
        try:
            taped = Taped(self._create(), self._failed)
        except OSError as error:
            self._failed(error)
            return None
        hidden, secrets = _without_secrets(head)
        taped.secrets = secrets
        first = {"detent": "exchange", "v": FORMAT, "at": time.time(), "url": _shown(url)}
        taped.note(first, *(taped.piece("sent", part) for part in (hidden, body) if part))
        return taped

    def _create(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        while True:
            self._last += 1
            path = os.path.join(self._folder, f"{self._last:04}.jsonl")
            try:
                return os.open(path, flags, 0o600)
            except FileExistsError:
                continue

    def _failed(self, error: OSError) -> None:
        if not self._told:
            self._told = True
            self.tell(f"exchanges are not being recorded: {error.strerror} ({self._folder})")


class Taped:
    """One exchange. What comes before the end of the head is kept in one piece."""

    def __init__(self, descriptor: int, failed: Callable[[OSError], None]) -> None:
        self.secrets: tuple[bytes, ...] = ()
        self._descriptor = descriptor
        self._failed = failed
        self._begun = time.monotonic()
        self._head: bytes | None = b""
        """Until it is whole."""

    def heard(self, data: bytes) -> None:
        if self._head is None:
            self.note(self.piece("got", data))
            return
        self._head += data
        if _END_OF_HEAD in self._head or len(self._head) > MOST_HELD:
            self._give_head()

    def end(self, how: str) -> None:
        if self._descriptor < 0:
            return
        if self._head:
            self._give_head()
        self.note({"ms": self._ms, "end": how})
        self._close()

    def piece(self, way: str, data: bytes) -> Line:
        for secret in self.secrets:
            data = data.replace(secret, b"*" * len(secret))  # lengths are told before a body
        try:
            return {"ms": self._ms, way: data.decode()}
        except UnicodeDecodeError:
            from base64 import b64encode

            return {"ms": self._ms, f"{way}64": b64encode(data).decode()}

    def note(self, *lines: Line) -> None:
        if self._descriptor < 0:
            return
        data = b"".join(encode(line) + b"\n" for line in lines)
        try:
            if os.write(self._descriptor, data) != len(data):
                raise OSError(28, "the disk took only a part")
        except OSError as error:
            self._close()
            self._failed(error)

    @property
    def _ms(self) -> float:
        return round((time.monotonic() - self._begun) * 1000, 1)

    def _give_head(self) -> None:
        data, self._head = self._head or b"", None
        head, end, rest = data.partition(_END_OF_HEAD)
        head = _COOKIE.sub(rb"\1 " + HIDDEN.encode(), head) + end
        self.note(*(self.piece("got", part) for part in (head, rest) if part))

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _number(name: str) -> int:
    stem = name.removesuffix(".jsonl")
    return int(stem) if stem.isdecimal() and stem.isascii() else 0


def _without_secrets(head: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """The head as it may be kept, and what was left out of it."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    kept, secrets = [f"{method} {_shown(target)} {version}"], set[bytes]()
    for line in lines:
        name, colon, value = line.partition(": ")
        if not colon or name.lower() in SHOWN:
            kept.append(line)
            continue
        kept.append(f"{name}: {HIDDEN}")
        words = (word for word in value.split() if len(word) >= SHORTEST_SECRET)
        secrets |= {word.encode("latin-1") for word in words}
    return "\r\n".join(kept).encode("latin-1"), tuple(secrets)


def _shown(target: str) -> str:
    """An address without what may be a key in it."""
    scheme, mark, rest = target.rpartition("://")
    place, slash, path = rest.partition("/")
    place = place.rpartition("@")[2]
    path, question, query = (slash + path).partition("?")
    given = (part.partition("=") for part in query.split("&"))
    shown = (f"{name}{is_}{v if name in PLAIN or not is_ else HIDDEN}" for name, is_, v in given)
    return f"{scheme}{mark}{place}{path}{question}{'&'.join(shown)}"
