"""The Anthropic wire as clouds want it: the model in the path, the version in the body."""

from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def reshaped(body: bytes, without: tuple[str, ...], **added: Any) -> bytes:
    """Only the outermost fields are looked at: messages stay the bytes they are, and last."""
    fields = {name: value for name, value in _decode(body).items() if name not in without}
    return _encode({**added, **fields})
