"""What a picture costs: by its size in pixels, which stands in its first bytes."""

import base64
from collections.abc import Iterator

from detent.types.content import Image

HEAD = 64 * 1024
"""Characters of base64 that are looked at: in a JPEG, a preview may stand before the size."""
CLAUDE_EDGE, CLAUDE_PIXELS_PER_TOKEN, CLAUDE_MOST = 1_568, 750, 1_600
"""Anthropic makes a larger picture smaller, and counts pixels."""
TILED_EDGE, SHORT_SIDE, TILE = 2_048, 768, 512
TILE_TOKENS, TILED_BASE = 170, 85
"""OpenAI makes it fit, and counts tiles."""


def tokens_of(image: Image, family: str) -> int:
    """0 when its size cannot be read."""
    size = size_of(image)
    if size is None:
        return 0
    return _of_pixels(*size) if family == "claude" else _of_tiles(*size)


def size_of(image: Image) -> tuple[int, int] | None:
    """Width and height of a PNG, GIF or JPEG."""
    try:
        head = base64.b64decode(image.data[: HEAD // 4 * 4])
    except ValueError:  # no base64
        return None
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        size = _number(head[16:20]), _number(head[20:24])
    elif head.startswith(b"GIF8") and len(head) >= 10:
        size = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head.startswith(b"\xff\xd8"):
        size = next(_frames(head), (0, 0))
    else:
        return None
    return size if min(size) > 0 else None


def _frames(head: bytes) -> Iterator[tuple[int, int]]:
    """A JPEG is a row of segments; those that begin a frame hold its size."""
    place = 2
    while place + 9 <= len(head) and head[place] == 0xFF:
        kind = head[place + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            yield _number(head[place + 7 : place + 9]), _number(head[place + 5 : place + 7])
        place += 2 + max(2, _number(head[place + 2 : place + 4]))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _of_pixels(width: int, height: int) -> int:
    shrink = min(1.0, CLAUDE_EDGE / max(width, height))
    pixels = width * height * shrink * shrink
    return min(CLAUDE_MOST, max(1, round(pixels / CLAUDE_PIXELS_PER_TOKEN)))


def _of_tiles(width: int, height: int) -> int:
    shrink = min(1.0, TILED_EDGE / max(width, height))
    shrink = min(shrink, SHORT_SIDE / min(width, height))
    across, down = (-(-round(side * shrink) // TILE) for side in (width, height))
    return TILED_BASE + TILE_TOKENS * max(1, across) * max(1, down)
