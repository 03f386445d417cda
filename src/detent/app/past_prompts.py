"""What was typed before, by folder: one file of JSON lines in the program's home, newest last."""

import os
import time
from collections.abc import Mapping

from msgspec import Struct

from detent.types.codec import decode_object, encode
from detent.types.errors import BadInput

MOST_READ = 1024 * 1024
"""Bytes from the end: what is older is not offered."""
LARGEST = 8 * 1024 * 1024
"""Bytes at which the file is cut to its newest part."""
LONGEST = 64 * 1024
"""Characters of a prompt that are kept."""


class PastPrompts(Struct, frozen=True):
    path: str
    folder: str
    is_kept: bool = True

    def read(self) -> list[str]:
        """Those of this folder, oldest first, none twice in a row. Nothing here is worth a
        failure: what cannot be read is not there."""
        try:
            lines = _newest(self.path)
        except OSError:
            return []
        found: list[str] = []
        for line in lines:
            text = _text_of(line, _writable(self.folder))
            if text and found[-1:] != [text]:
                found.append(text)
        return found

    def add(self, text: str) -> None:
        if not self.is_kept or not text.strip():
            return
        folder, text = _writable(self.folder), _writable(text[:LONGEST])
        record = {"at": round(time.time(), 3), "folder": folder, "text": text}
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            _cut_if_large(self.path)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
        except OSError:
            return
        try:
            os.write(descriptor, encode(record) + b"\n")
        except OSError:
            pass
        finally:
            os.close(descriptor)


def past_prompts(home: str, folder: str, environ: Mapping[str, str]) -> PastPrompts:
    is_kept = not environ.get("CLAUDE_CODE_SKIP_PROMPT_HISTORY")
    return PastPrompts(os.path.join(home, "history"), folder, is_kept)


def _writable(text: str) -> str:
    """Names of folders may be no text."""
    return text.encode("utf-8", "replace").decode()


def _newest(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_READ))
        lines = file.read().split(b"\n")
    return lines[1:] if size > MOST_READ else lines


def _text_of(line: bytes, folder: str) -> str:
    try:
        record = decode_object(line, "history") if line else {}
    except BadInput:
        return ""
    text = record.get("text")
    return text if record.get("folder") == folder and isinstance(text, str) else ""


def _cut_if_large(path: str) -> None:
    try:
        if os.path.getsize(path) <= LARGEST:
            return
    except OSError:
        return
    kept = b"\n".join(_newest(path))
    beside = f"{path}.new"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, kept)
    finally:
        os.close(descriptor)
    os.replace(beside, path)
