"""A session of this machine, read and made into one of the forms."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct

from detent.app.export.changes import Bytes
from detent.app.export.story import tell
from detent.app.grounds import grounds_of
from detent.app.models import prices
from detent.app.options import Options
from detent.app.sessions.meant import log_meant
from detent.context.account import Price
from detent.session.blobs import Blobs, Missing
from detent.session.reading import Reading, read_log
from detent.types.codec import encode
from detent.types.errors import BadInput
from detent.types.events import Entry

Form = Literal["md", "json", "html", "snapshot"]
FORMS: tuple[Form, ...] = get_args(Form)


class Exported(Struct, frozen=True):
    data: bytes
    notes: tuple[str, ...] = ()
    """What could not be read of the session."""


def export(options: Options, session: str, form: Form) -> Exported:
    """The newest session of the folder, where none is named. Raises BadInput."""
    grounds = grounds_of(options)
    path = log_meant(grounds.home, grounds.cwd, session)
    try:
        reading = read_log(path)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    if not reading.entries:
        raise BadInput(f"no session can be read from {path}")
    price, read = prices(grounds.settings), _reader(grounds.home)
    return Exported(rendered(reading.entries, form, price, read), tuple(_lacking(reading)))


def _lacking(reading: Reading) -> Iterator[str]:
    if reading.damaged:
        lines = "1 damaged line" if reading.damaged == 1 else f"{reading.damaged} damaged lines"
        yield f"left out: {lines} of the session"
    if reading.strange:
        yield f"left out: {reading.strange}, which a later version has written"


def rendered(entries: Sequence[Entry], form: Form, price: Price, read: Bytes) -> bytes:
    """Each form is loaded for itself."""
    match form:
        case "md":
            from detent.app.export.markdown import markdown

            return markdown(tell(entries, price), read).encode(errors="replace")
        case "html":
            from detent.app.export.page import page

            return page(tell(entries, price), read).encode(errors="replace")
        case "json":
            from detent.app.export.story import facts_of
            from detent.app.export.whole import whole

            return whole(entries, facts_of(entries, price))
        case "snapshot":
            from detent.app.export.snapshot import snapshot

            return encode(snapshot(entries, price)) + b"\n"


def _reader(home: str) -> Callable[[str], bytes | None]:
    blobs = Blobs(home)

    def read(digest: str) -> bytes | None:
        try:
            return blobs.get(digest)
        except Missing:
            return None

    return read
