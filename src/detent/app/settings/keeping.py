"""One setting that a person has just chosen, written into their own settings file."""

import os
from collections.abc import Mapping
from typing import Any

from detent.app.locked_file import update_file
from detent.app.settings.known import OURS
from detent.app.settings.record import Source
from detent.app.settings.sources import merge, where_of
from detent.app.settings.splicing import spliced
from detent.types.codec import decode_any, decode_object, encode
from detent.types.errors import BadInput


def keep_setting(key: str, value: Any, cwd: str, environ: Mapping[str, str]) -> str:
    """The file that holds it now. None takes the setting out. Raises BadInput for a value that
    would not be read again, and for a file that cannot be read or written; it stays as it is."""
    if key not in OURS:
        raise BadInput(f"there is no setting {key}")
    where = where_of(cwd, environ)
    if not where.is_ours:
        raise BadInput(f"{where.home} lies in the project, so what it says is not believed")
    path = os.path.join(where.home, "settings.json")

    def change(old: bytes) -> bytes:
        values = decode_object(old, path) if old.strip() else {}
        written = _spelling(key, values)
        given = None if value is None else encode(value)
        if given is not None:  # the next start must not stumble over it
            merge([Source("user", path, {key: decode_any(given)}, False)], trusted=True)
        return spliced(old if old.strip() else b"{}\n", written, given)

    try:
        os.makedirs(where.home, mode=0o700, exist_ok=True)
        update_file(path, change, mode=0o600)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def _spelling(key: str, values: Mapping[str, Any]) -> str:
    """`output_style` is `outputStyle`; where both stand, the latter counts."""
    other = "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
    return other if key not in values and other in values else key
