"""PDF files: their text, page by page. The one place that knows pypdf."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from detent.tools.files.texts import counted, legible, shortened
from detent.types.outcomes import Failed, Outcome, done

if TYPE_CHECKING:
    from pypdf import PdfReader

LIMIT = 32 * 1024 * 1024
SECONDS = 30.0
MOST_PAGES = 20
UNASKED = 10
"""Pages of a longer file that come when none are asked for."""


_NOWHERE = logging.NullHandler()


class Extract(Struct, frozen=True):
    """The text of some pages, from `first` on, as many as there was room and time for."""

    total: int
    first: int
    last: int
    """The last one that was wanted."""
    texts: tuple[str, ...]


class Unreadable(Exception):
    """Why there is no text to be had, in words for the model."""


def is_pdf(data: bytes, path: str) -> bool:
    """Some writers put something before the mark; but a text may just speak of it."""
    return b"%PDF-" in data[: 1024 if path.lower().endswith(".pdf") else 5]


def page_range(pages: str) -> tuple[int, int] | None:
    """`3`, `1-5`, `10-`; nothing at all is the beginning. None when it is none of these."""
    if not pages.strip():
        return 1, UNASKED
    first, dash, last = (part.strip() for part in pages.partition("-"))
    if not first.isdecimal() or not (last.isdecimal() or not last):
        return None
    start = int(first)
    end = int(last) if last else start + MOST_PAGES - 1 if dash else start
    return (start, end) if 1 <= start <= end else None


async def read_pdf(path: str, data: bytes, pages: str, room: int) -> Outcome:
    span = page_range(pages)
    if span is None:
        return Failed(f'Read: pages is "{pages}"; send one page or a range: "3" or "1-5".')
    if span[1] - span[0] >= MOST_PAGES:
        return Failed(
            f"Read: at most {MOST_PAGES} pages in one call; begin with "
            f'pages="{span[0]}-{span[0] + MOST_PAGES - 1}".'
        )
    deadline = time.monotonic() + SECONDS
    try:
        async with asyncio.timeout(SECONDS + 1):
            found = await _aside(lambda: _extract(data, span, room, deadline))
    except TimeoutError:
        return Failed(f"Read: {path} took longer than {SECONDS:g} s to take apart. {_OTHERWISE}")
    except Unreadable as error:
        return Failed(f"Read: {path} {error}")
    return _told(path, found, len(data))


_OTHERWISE = "Try Bash: `pdftotext -f 1 -l 5 FILE -`."


def _told(path: str, found: Extract, size: int) -> Outcome:
    shown = [text.strip() for text in found.texts]
    end = found.first + len(shown) - 1
    about = {
        "filePath": path,
        "originalSize": size,
        "totalPages": found.total,
        "startPage": found.first,
        "numPages": len(shown),
        "content": "\n\n".join(shown),
    }
    head = f"{path}: {counted(found.total, 'page')}"
    if not any(shown):
        return done(
            f"[{head}. Pages {found.first}-{end} hold no text, only pictures perhaps: make "
            "pictures of them with Bash, `pdftoppm -r 80 -png`, and read those.]",
            {"type": "pdf", "file": about},
        )
    if end < found.total:
        head += f", {found.first}-{end} shown; go on with"
        head += f' pages="{end + 1}-{min(found.total, end + MOST_PAGES)}"'
    parts = (f"=== page {n}\n{text or '(no text)'}" for n, text in enumerate(shown, found.first))
    return done("\n\n".join([f"[{head}.]", *parts]), {"type": "pdf", "file": about})


def _extract(data: bytes, span: tuple[int, int], room: int, deadline: float) -> Extract:
    """Blocking. Raises Unreadable, and TimeoutError when not even one page was done in time."""
    from pypdf.errors import DependencyError, FileNotDecryptedError

    try:
        return _pages(_opened(data), span, room, deadline)
    except (Unreadable, TimeoutError):
        raise
    except (FileNotDecryptedError, DependencyError):
        raise Unreadable(_LOCKED) from None
    except Exception as error:  # a damaged file can make pypdf fail in any way
        said = legible(str(error)) or type(error).__name__
        raise Unreadable(f"is damaged: {said[:200]}. {_OTHERWISE}") from None


_LOCKED = (
    "is encrypted. Ask for the password and make an open copy with Bash, "
    "`qpdf --password=... --decrypt IN OUT`."
)


def _opened(data: bytes) -> "PdfReader":
    from io import BytesIO

    from pypdf import PdfReader

    # It tells of every oddity, which would land on the terminal.
    logging.getLogger("pypdf").addHandler(_NOWHERE)
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable(_LOCKED)
    return reader


def _pages(reader: "PdfReader", span: tuple[int, int], room: int, deadline: float) -> Extract:
    total = len(reader.pages)
    first, last = span[0], min(span[1], total)
    if not total:
        raise Unreadable(f"is damaged: it has no pages. {_OTHERWISE}")
    if first > total:
        raise Unreadable(f"has {counted(total, 'page')}; there is no page {first}.")

    def check(*_: Any) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    texts: list[str] = []
    for number in range(first, last + 1):
        try:
            text = legible(reader.pages[number - 1].extract_text(visitor_operand_before=check))
        except TimeoutError:
            if not texts:
                raise
            break
        if len(text) + 20 > room and texts:
            break
        texts.append(shortened(text, room))
        room -= len(text) + 20
    return Extract(total, first, last, tuple(texts))


async def _aside(work: Callable[[], Extract]) -> Extract:
    """In a thread that nobody waits for at the end of the program: it may be caught in a file that
    is made to be endless."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Extract] = loop.create_future()

    def settle(result: Extract | None, error: Exception | None) -> None:
        if future.done():
            return
        if result is not None:
            future.set_result(result)
        elif error is not None:
            future.set_exception(error)

    def run() -> None:
        result, fault = None, None
        try:
            result = work()
        except Exception as error:
            fault = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, fault)

    threading.Thread(target=run, name="pdf", daemon=True).start()
    return await future
