"""Keys that a command prints."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from detent.host.processes import run_process
from detent.models.key_command import Run, key_from_command
from detent.types.errors import ModelFailure

ENVIRON = {"PATH": "/usr/bin:/bin", "PART": "from-env"}


def headers(command: str, patience: float = 30.0) -> dict[str, str]:
    async def main() -> dict[str, str]:
        credentials = key_from_command(
            command, ENVIRON, run_process, headers=("x-api-key", "authorization"), patience=patience
        )
        return dict(await credentials.signed("http://m.test", {"a": "b"}, b""))

    return asyncio.run(main())


def test_the_output_is_the_key() -> None:
    assert headers('printf "  sk-%s\\n\\n" "$PART"; echo noise >&2') == {
        "a": "b",
        "x-api-key": "sk-from-env",
        "authorization": "Bearer sk-from-env",
    }


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo sk-leak; exit 3", "status 3"),
        ("kill -9 $$", "status -9"),
        ("true", "printed nothing"),
        ("echo '  '", "printed nothing"),
        ("echo sk-leak; echo sk-leak", "no key"),
        ("printf 'sk-leak\\033[0m'", "no key"),
        ("printf 'sk-leak\\377'", "no key"),
        ("head -c 100000 /dev/zero | tr '\\0' k", "no key"),
        ("no-such-program-at-all", "status 127"),
        ("echo sk-leak\0", "cannot be run"),
    ],
)
def test_a_failure_says_what_happened_and_not_what_was_printed(command: str, text: str) -> None:
    with pytest.raises(ModelFailure, match=text) as caught:
        headers(command)
    assert caught.value.kind == "auth"
    assert "leak" not in caught.value.message and command not in caught.value.message


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    fifo = tmp_path / "alive"
    with pytest.raises(ModelFailure, match=r"longer than 0\.2 s"):
        headers(f"mkfifo {fifo}; cat {fifo} & wait", patience=0.2)
    assert not is_read(fifo)


def is_read(fifo: Path) -> bool:
    """Whoever still reads the fifo would let a writer in."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("leave", ["cancel", "close"])
def test_a_command_does_not_outlive_those_who_wait_for_it(tmp_path: Path, leave: str) -> None:
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)

    async def main() -> None:
        credentials = key_from_command(f"cat {fifo}", ENVIRON, run_process, headers=("x-api-key",))
        waiting = [asyncio.create_task(credentials.signed("u", {}, b"")) for _ in range(2)]
        while not is_read(fifo):
            await asyncio.sleep(0.01)
        if leave == "close":
            await credentials.aclose()
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert not is_read(fifo)

    asyncio.run(main())


def test_what_the_command_leaves_in_the_background_is_not_waited_for() -> None:
    start = time.monotonic()
    assert headers("echo sk-key; sleep 20 &")["x-api-key"] == "sk-key"
    assert time.monotonic() - start < 5


def test_a_command_that_cannot_be_started_is_a_failure_of_the_request() -> None:
    async def no_descriptors(*argv: object, **more: object) -> object:
        raise OSError(24, "Too many open files")

    async def main() -> None:
        run: Run = no_descriptors  # type: ignore[assignment]
        credentials = key_from_command("echo k", ENVIRON, run, headers=("x-api-key",))
        with pytest.raises(ModelFailure, match="cannot be run") as caught:
            await credentials.refresh()
        assert caught.value.kind == "auth"

    asyncio.run(main())


def test_it_runs_once_for_a_while_and_again_when_refused(tmp_path: Path) -> None:
    counter = tmp_path / "runs"

    async def main() -> list[str]:
        credentials = key_from_command(
            f"echo x >> {counter}; printf key-; wc -l < {counter} | tr -d ' '",
            ENVIRON,
            run_process,
            headers=("x-api-key",),
        )
        keys = []
        for _ in range(2):
            keys.append((await credentials.signed("u", {}, b""))["x-api-key"])
        assert await credentials.refresh()
        keys.append((await credentials.signed("u", {}, b""))["x-api-key"])
        return keys

    assert asyncio.run(main()) == ["key-1", "key-1", "key-2"]
