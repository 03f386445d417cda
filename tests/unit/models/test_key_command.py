"""Keys that a command prints."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from detent.models.key_command import key_from_command
from detent.types.errors import ModelFailure

ENVIRON = {"PATH": "/usr/bin:/bin", "PART": "from-env"}


def headers(command: str, patience: float = 30.0) -> dict[str, str]:
    async def main() -> dict[str, str]:
        credentials = key_from_command(
            command, ENVIRON, headers=("x-api-key", "authorization"), patience=patience
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
    # Whoever still reads the fifo would let a writer in.
    with pytest.raises(OSError):
        import os

        os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)


def test_it_runs_once_for_a_while_and_again_when_refused(tmp_path: Path) -> None:
    counter = tmp_path / "runs"

    async def main() -> list[str]:
        credentials = key_from_command(
            f"echo x >> {counter}; printf key-; wc -l < {counter} | tr -d ' '",
            ENVIRON,
            headers=("x-api-key",),
        )
        keys = []
        for _ in range(2):
            keys.append((await credentials.signed("u", {}, b""))["x-api-key"])
        assert await credentials.refresh()
        keys.append((await credentials.signed("u", {}, b""))["x-api-key"])
        return keys

    assert asyncio.run(main()) == ["key-1", "key-1", "key-2"]
