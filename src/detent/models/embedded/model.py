"""The embedded model behind the Model port: the chat wire's codec around the engine."""

import asyncio
import os
from contextlib import aclosing
from typing import Any

import msgspec

from detent.models.assemble import Assembler
from detent.models.embedded.engine import WINDOW, Engine, engine_for, need_library
from detent.models.embedded.weights import QWEN, Weights, is_present, is_sound, place_of
from detent.models.protocols.openai_chat import OpenAIChat
from detent.ports import DeltaSink
from detent.types.errors import ModelFailure, NoModel
from detent.types.events import Notice
from detent.types.messages import Reply, Request

NAME = "embedded"
MAX_OUTPUT = 1024
HONEST_WORDS = (
    "this is the small offline model (1.5 B parameters, on this machine's processor): good for a "
    "first look and for one-step requests, often wrong beyond that, and slow"
)
DAMAGED = "the file of the embedded model is damaged; `detent models pull` mends it"


class Sampling(msgspec.Struct, frozen=True):
    temperature: float = 0.2
    seed: int | None = None
    """None: another one each time."""


class EmbeddedModel:
    """Takes any request, also one with a form; it does not know native tools."""

    name = NAME
    window = WINDOW
    max_output = MAX_OUTPUT

    def __init__(
        self, path: str, *, weights: Weights = QWEN, sampling: Sampling = Sampling()
    ) -> None:
        self._path = path
        self._weights = weights
        self._sampling = sampling
        self._wire = OpenAIChat()
        self._engine: Engine | None = None

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        if self._engine is None:
            await deltas(Notice(HONEST_WORDS, "warning"))
            self._engine = await self._loaded()
        assembler = Assembler()
        async with aclosing(self._engine.chat(self.body_of(request))) as chunks:
            async for chunk in chunks:
                self._wire.read(msgspec.json.encode(chunk), assembler)
                for delta in assembler.drain():
                    await deltas(delta)
        self._wire.finish(assembler)
        for delta in assembler.drain():
            await deltas(delta)
        return assembler.reply(NAME)

    def body_of(self, request: Request) -> dict[str, Any]:
        room = min(request.max_output or MAX_OUTPUT, MAX_OUTPUT)
        body: dict[str, Any] = msgspec.json.decode(self._wire.body(request, NAME, room))
        body |= {
            "cache_prompt": True,
            "return_progress": True,  # makes the library call back while it reads the prompt
            "temperature": self._sampling.temperature,
        }
        if self._sampling.seed is not None:
            body["seed"] = self._sampling.seed
        return body

    async def aclose(self) -> None:
        """The weights stay: the next session of this process wants them, too."""

    async def _loaded(self) -> Engine:
        if not await asyncio.to_thread(is_sound, self._weights, self._path):
            raise ModelFailure("not_found", DAMAGED)
        engine = engine_for(self._path)
        await engine.load()
        return engine


def open_embedded(home: str, weights: Weights = QWEN) -> EmbeddedModel:
    """What is missing is said before anything starts, with the command that gets it."""
    need_library()
    path = place_of(weights, home)
    if not os.path.exists(path):
        raise NoModel("the embedded model is not on this machine yet: `detent models pull`")
    if not is_present(weights, path):
        raise NoModel(DAMAGED)
    return EmbeddedModel(path, weights=weights)
