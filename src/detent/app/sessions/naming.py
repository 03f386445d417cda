"""What people call a session."""

from detent.app.clock import SystemClock
from detent.app.sessions.finding import cards
from detent.app.sessions.names import LONGEST
from detent.session.log import FileLog, Locked
from detent.session.reading import read_log
from detent.types.errors import BadInput
from detent.types.running import Named


def fit_name(name: str) -> str:
    """Raises BadInput for one that nobody could use."""
    name = " ".join(name.split())
    if not name:
        raise BadInput("a name needs at least one character")
    if len(name) > LONGEST:
        raise BadInput(f"a name has at most {LONGEST} characters; this one has {len(name)}")
    if not name.isprintable():
        raise BadInput("a name must not hold control characters or invisible ones")
    return name


def name_session(home: str, path: str, name: str) -> str:
    """The name as it is kept; an empty one takes away the one there is. Raises BadInput."""
    name = free_name(home, path, name)
    log = FileLog(path, SystemClock().now)
    try:
        _write(log, name)
    except Locked:
        raise BadInput("the session is in use by another process: end that first") from None
    except OSError as error:
        raise BadInput(f"the session cannot be written: {error.strerror} ({path})") from None
    finally:
        log.close()
    return name


def free_name(home: str, path: str, name: str) -> str:
    """As it can be kept. Raises BadInput, also where another session has it: two of one name could
    not be told apart by it."""
    if name:
        name = fit_name(name)
        if not set(name.lower()) - set("0123456789abcdef-"):
            raise BadInput(f"{name!r} would be taken for the beginning of an id")
        _check_free(home, path, name)
    return name


def _check_free(home: str, path: str, name: str) -> None:
    for card in cards(home):
        if card.name == name and card.path != path:
            raise BadInput(f"session {card.id} has that name already")


def _write(log: FileLog, name: str) -> None:
    log.lock()
    reading = read_log(log.path)
    if reading.strange:
        raise BadInput(f"a later version has written in this session ({reading.strange})")
    log.take_up(reading)
    log.append(Named(name=name))
    if log.trouble:
        raise BadInput(f"the name was not saved: {log.trouble}")
