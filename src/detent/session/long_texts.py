"""Long texts of a large entry lie in the blob store; its record says where each belongs.

    "blobs":[[["outcome","content",0,"data"],"<sha256>",123456]],

names the place in the entry, the digest of the text as UTF-8, and its length in bytes. At the place
itself an empty text is left. Nobody but the log knows of it.
"""

from typing import Any

import msgspec

from detent.session.blobs import Blobs
from detent.types.codec import decode_any, encode
from detent.types.events import Entry

Place = list[str | int]
LONG = 16 * 1024
"""Characters from which on a text is taken out."""
_names = msgspec.json.Decoder(dict[str, msgspec.Raw])
_named = msgspec.json.Decoder(list[tuple[Place, str, int]])


def taken_out(body: bytes, blobs: Blobs) -> tuple[bytes, bytes]:
    """The part of the head that names the blobs, empty when no text is long, and what is left of
    the entry. Every blob is on disk then. Raises OSError."""
    plain = decode_any(body)
    named: list[tuple[Place, str, int]] = []
    for holder, key, place in _long(plain, []):
        data = holder[key].encode()
        named.append((place, blobs.put(data), len(data)))
        holder[key] = ""
    if not named:
        return b"", body
    return b'"blobs":%b,' % encode(named), encode(plain)


def put_back(line: bytes, blobs: Blobs) -> Entry:
    """The entry with its texts in place. Raises Missing, and ValueError when the record does not
    fit itself."""
    plain = decode_any(line)
    for place, digest, size in _named.decode(_names.decode(line)["blobs"]):
        holder, last = _holder(plain, place), place[-1]
        data = blobs.get(digest)
        if len(data) != size:
            raise ValueError(f"the blob {digest[:12]} has another length than its record says")
        holder[last] = data.decode()
    entry: Entry = msgspec.convert(plain, Entry)
    return entry


def _holder(plain: Any, place: Place) -> Any:
    try:
        for step in place[:-1]:
            plain = plain[step]
        if plain[place[-1]] == "":
            return plain
    except (LookupError, TypeError):
        pass
    raise ValueError(f"nothing was taken out at {place}")


def _long(value: Any, place: Place) -> list[tuple[Any, Any, Place]]:
    """Where long texts are: what holds each, by which key, and the whole way to it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any, Place]] = []
    for key, inner in items:
        if isinstance(inner, str):
            if len(inner) >= LONG:
                found.append((value, key, [*place, key]))
        elif isinstance(inner, dict | list):
            found += _long(inner, [*place, key])
    return found
