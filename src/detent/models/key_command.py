"""A key that a command of the user prints. What it prints is shown to nobody, even if it fails."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from detent.models.credentials import Renewed, Secret, Token, is_key
from detent.ports import Finished
from detent.types.errors import ModelFailure

PATIENCE = 30.0
LASTS = 300.0
MOST_OUTPUT = 64 * 1024


class Run(Protocol):
    """Runs a program to its end, as the host does: nothing that was cut is left running."""

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None,
        env: Mapping[str, str] | None,
    ) -> Finished: ...


def key_from_command(
    command: str,
    environ: Mapping[str, str],
    run: Run,
    *,
    headers: tuple[str, ...],
    lasts: float = LASTS,
    patience: float = PATIENCE,
) -> Renewed:
    """`command` must come from the user, never from a project: it runs without a question."""

    async def fetch() -> Token:
        return Token(Secret(await _printed(command, environ, run, patience)), lasts)

    return Renewed(fetch, headers)


async def _printed(command: str, environ: Mapping[str, str], run: Run, patience: float) -> str:
    output = bytearray()

    def take(data: bytes) -> None:
        output.extend(data)
        if len(output) > MOST_OUTPUT:
            raise _failure("printed something that is no key")

    try:
        finished = await run(
            ("/bin/sh", "-c", command),
            cwd=".",
            timeout=patience,
            output=take,
            errors=lambda data: None,
            env=environ,
        )
    except (OSError, ValueError) as error:  # no shell, no descriptors, a NUL in the command
        raise _failure(f"cannot be run: {error}") from None
    if finished.timed_out:
        raise _failure(f"took longer than {patience:g} s")
    if finished.exit_code != 0:
        raise _failure(f"ended with status {finished.exit_code}; run it by hand to see why")
    key = output.decode("latin-1").strip()
    if not key:
        raise _failure("printed nothing")
    if not is_key(key):
        raise _failure("printed something that is no key")
    return key


def _failure(what: str) -> ModelFailure:
    return ModelFailure("auth", f"the apiKeyHelper command {what}")
