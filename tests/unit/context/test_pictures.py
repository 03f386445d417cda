"""What a picture costs, by its size in pixels."""

from __future__ import annotations

import base64
import struct

import pytest

from detent.context.pictures import size_of, tokens_of
from detent.context.tokens import IMAGE_TOKENS, of_block
from detent.types.content import Image


def png(width: int, height: int) -> Image:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR"
    data = head + struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00" + b"x" * 50
    return Image("image/png", base64.b64encode(data).decode())


def gif(width: int, height: int) -> Image:
    data = b"GIF89a" + struct.pack("<HH", width, height) + b"\x00" * 20
    return Image("image/gif", base64.b64encode(data).decode())


def jpeg(width: int, height: int, before: int = 10) -> Image:
    app = b"\xff\xe1" + struct.pack(">H", before + 2) + b"e" * before
    tables = b"\xff\xc4" + struct.pack(">H", 6) + b"hhhh"
    frame = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + b"\x03" * 10
    return Image("image/jpeg", base64.b64encode(b"\xff\xd8" + app + tables + frame).decode())


@pytest.mark.parametrize("made", [png, gif, jpeg])
def test_the_size_stands_in_the_first_bytes(made: object) -> None:
    assert callable(made)
    assert size_of(made(640, 480)) == (640, 480)


def test_a_preview_may_stand_before_the_size() -> None:
    assert size_of(jpeg(4_000, 3_000, before=30_000)) == (4_000, 3_000)


@pytest.mark.parametrize(
    ("width", "height", "claude", "gpt"),
    [
        (300, 300, 120, 255),  # one tile
        (1_000, 1_000, 1_333, 765),  # 768 by 768: four tiles
        (4_000, 1_000, 820, 85 + 170 * 4),  # 2048 by 512
        (4_000, 4_000, 1_600, 765),  # as large as it gets
        (1, 1, 1, 255),
    ],
)
def test_each_provider_has_its_rule(width: int, height: int, claude: int, gpt: int) -> None:
    image = png(width, height)
    assert tokens_of(image, "claude") == of_block(image) == claude
    assert tokens_of(image, "o200k") == of_block(image, "o200k") == gpt


@pytest.mark.parametrize(
    "data", ["", "!", "AAAA", "R0lGODlh", "/9j/", "/9j/4Q==", "iVBORw0KGgo=", "ä"]
)
def test_what_cannot_be_read_costs_the_usual(data: str) -> None:
    image = Image("image/png", data)
    assert size_of(image) is None
    assert of_block(image) == IMAGE_TOKENS


def test_no_picture_is_without_a_size() -> None:
    assert size_of(png(0, 10)) is None
