"""The `undo` of a settings file: whether and how much of the files is kept."""

from msgspec import Struct
from msgspec.structs import replace

from detent.app.checkpoints.terms import Terms
from detent.app.settings.values import Values, number, switch, table, whole

INSIDE = ("enabled", "ignored", "maxFiles", "maxMegabytes", "maxFileMegabytes", "maxSeconds")


class UndoWishes(Struct, frozen=True):
    enabled: bool = True
    terms: Terms = Terms()


def undo_wishes(values: Values, name: str, old: UndoWishes) -> tuple[UndoWishes, list[str]]:
    """And what is not known of it."""
    given, inside, terms = table(values, "undo", name), f"{name}: undo", old.terms
    unknown = [f"{inside}: unknown setting {key}" for key in given if key not in INSIDE]

    def megabytes(key: str, default: int) -> int:
        value = number(given, key, inside, None)
        return default if value is None else int(value * (1 << 20))

    files, seconds = (
        whole(given, "maxFiles", inside, None),
        number(given, "maxSeconds", inside, None),
    )
    wanted = replace(
        terms,
        ignored=switch(given, "ignored", inside, terms.ignored),
        files=terms.files if files is None else files,
        bytes=megabytes("maxMegabytes", terms.bytes),
        file_bytes=megabytes("maxFileMegabytes", terms.file_bytes),
        seconds=terms.seconds if seconds is None else float(seconds),
    )
    return UndoWishes(switch(given, "enabled", inside, old.enabled), wanted), unknown
