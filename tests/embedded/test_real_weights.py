"""The real engine and the real weights: `make test-embedded`, where they have been pulled."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from detent.app.places import detent_home
from detent.models.embedded.engine import is_installed
from detent.models.embedded.model import EmbeddedModel, Sampling
from detent.models.embedded.weights import QWEN, is_present, place_of
from detent.models.small.model import SmallModel
from detent.models.small.telling import prompt
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.cli.demo_tasks import SMALL
from detent.types.content import Text, plain_text
from detent.types.deltas import Delta
from detent.types.events import TextDelta
from detent.types.messages import Request, User

PATH = place_of(QWEN, detent_home(os.environ))
WANTED = bool(os.environ.get("DETENT_TEST_EMBEDDED"))
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not (WANTED and is_installed() and is_present(QWEN, PATH)),
        reason="needs DETENT_TEST_EMBEDDED=1, the extra `local` and the weights",
    ),
]


@pytest.fixture
def model() -> Iterator[EmbeddedModel]:
    yield EmbeddedModel(PATH, sampling=Sampling(seed=1))


def say(text: str, **more: object) -> Request:
    return msgspec.structs.replace(Request((), [User((Text(text),))], max_output=40), **more)


async def ignore(delta: Delta) -> None:
    pass


def test_a_form_is_kept_to(model: EmbeddedModel) -> None:
    form = msgspec.Raw(b'{"type":"object","properties":{"n":{"enum":[3,5]}},"required":["n"]}')
    reply = asyncio.run(model.stream(say("Name a number as JSON.", form=form), ignore))
    assert msgspec.json.decode(plain_text(reply.content))["n"] in (3, 5)


def test_the_prompt_has_less_than_600_tokens(model: EmbeddedModel) -> None:
    async def counted() -> tuple[int, int]:
        bare = await model.stream(say("hi", system=("x",)), ignore)
        whole = await model.stream(say("hi", system=(prompt(),)), ignore)
        return bare.usage.context - bare.usage.output, whole.usage.context - whole.usage.output

    bare, whole = asyncio.run(counted())
    print(f"the prompt of the small profile: {whole - bare} tokens")
    assert whole - bare < 600


def test_cancelling_frees_the_engine_soon(model: EmbeddedModel) -> None:
    """While it writes, and while it reads a long prompt."""

    async def cancelled(request: Request, when_it_writes: bool) -> float:
        began = asyncio.Event()

        async def hear(delta: Delta) -> None:
            if isinstance(delta, TextDelta):
                began.set()

        task = asyncio.create_task(model.stream(request, hear))
        await (began.wait() if when_it_writes else asyncio.sleep(0.5))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        at = time.monotonic()
        await model.stream(say("hi", max_output=1), ignore)
        return time.monotonic() - at

    async def both() -> list[float]:
        await model.stream(say("hi"), ignore)
        long = say("word " * 5000 + "\nGo on.")
        return [
            await cancelled(say("Count to 99.", max_output=900), True),
            await cancelled(long, False),
        ]

    waited = asyncio.run(both())
    print(f"free again after {waited[0]:.1f} s (writing), {waited[1]:.1f} s (reading)")
    assert max(waited) < 30


def test_the_demo_task_through_the_real_loop(model: EmbeddedModel, tmp_path: Path) -> None:
    async def turn() -> None:
        options = Options(
            model=SmallModel(model), cwd=str(tmp_path), permission_mode="acceptEdits",
            allowed_tools=SMALL.allowed, persist=False, max_turns=20,
        )  # fmt: skip
        async with Session(options) as session:
            async for _ in session.send(SMALL.prompt):
                pass

    asyncio.run(turn())
    assert SMALL.holds(str(tmp_path))
