"""Pictures, told by their first bytes: names lie."""

from struct import unpack_from

ENCODED_LIMIT = 5 * 1024 * 1024
"""The strictest provider counts the Base64 text."""
RAW_LIMIT = ENCODED_LIMIT // 4 * 3
SIDE_LIMIT = 8_000


def media_type(data: bytes) -> str:
    """Empty when it is none of the kinds that models can see."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def fault_of(data: bytes, kind: str) -> str:
    """Why no model takes this picture; empty when they do."""
    if len(data) > RAW_LIMIT:
        return f"of {len(data):,} bytes; models take {RAW_LIMIT:,} at most"
    side = longest_side(data, kind)
    if side > SIDE_LIMIT:
        return f"{side:,} pixels long; models take {SIDE_LIMIT:,} at most"
    return ""


def longest_side(data: bytes, kind: str) -> int:
    """In pixels; 0 when the header does not say it in a way we know."""
    if kind == "image/png" and len(data) >= 24:
        return int(max(unpack_from(">II", data, 16)))
    if kind == "image/gif" and len(data) >= 10:
        return int(max(unpack_from("<HH", data, 6)))
    if kind == "image/jpeg":
        return _jpeg_side(data)
    return 0


def _jpeg_side(data: bytes) -> int:
    """Hops from segment to segment until the one that describes the frame."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = unpack_from(">BH", data, at + 1)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int(max(unpack_from(">HH", data, at + 5)))
        at += 2 + length
    return 0
