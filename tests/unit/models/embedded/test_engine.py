"""The engine around a library that is not there: loading, streaming, stopping, failing."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import msgspec
import pytest
from packages import WHOLE, weights

from detent.models.embedded import engine as module
from detent.models.embedded.engine import BATCH, WINDOW, Engine, engine_for
from detent.models.embedded.model import EmbeddedModel, Sampling, open_embedded
from detent.types.content import Text
from detent.types.deltas import Delta
from detent.types.errors import ModelFailure, NoModel
from detent.types.events import Notice, TextDelta
from detent.types.messages import Request, User

Callback = Callable[[dict[str, Any]], bool]
ASK = Request(("Be brief.",), [User((Text("hi"),))])


def chunk(text: str | None = None, stop: str | None = None) -> dict[str, Any]:
    return {"id": "x", "choices": [{"delta": {"content": text}, "finish_reason": stop}]}


TOO_LONG = "request (9030 tokens) exceeds the available context size (8192 tokens)"
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


class FakeServer:
    """Plays chunks; `wait` holds it back until the test lets it go on."""

    plan: ClassVar[list[Any]]
    made: ClassVar[list[FakeServer]]

    def __init__(self, params: Any) -> None:
        self.params = params
        self.bodies: list[dict[str, Any]] = []
        self.threads: set[str] = {threading.current_thread().name}
        self.stopped_after: int | None = None
        self.ended = threading.Event()
        type(self).made.append(self)

    def handle_chat_completions(self, body: dict[str, Any], callback: Callback) -> None:
        self.bodies.append(body)
        self.threads.add(threading.current_thread().name)
        try:
            for number, step in enumerate(type(self).plan, 1):
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, threading.Event):
                    assert step.wait(10)
                elif callback(step):
                    self.stopped_after = number
                    return
        finally:
            self.ended.set()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeServer]]:
    class Server(FakeServer):
        plan: ClassVar[list[Any]] = [chunk("Hel"), chunk("lo"), chunk(stop="stop"), USAGE]
        made: ClassVar[list[FakeServer]] = []

    library = ModuleType("xllamacpp")
    library.__spec__ = SimpleNamespace(name="xllamacpp")  # type: ignore[assignment]
    library.Server = Server  # type: ignore[attr-defined]

    def params() -> Any:
        return SimpleNamespace(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )

    library.CommonParams = params  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "xllamacpp", library)
    monkeypatch.setattr(module, "_engines", {})
    yield Server


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "models" / "tiny.gguf"
    file.parent.mkdir()
    file.write_bytes(WHOLE)
    return str(file)


def talk(path: str, request: Request = ASK, **more: Any) -> tuple[Any, list[Delta]]:
    deltas: list[Delta] = []

    async def keep(delta: Delta) -> None:
        deltas.append(delta)

    model = EmbeddedModel(path, weights=weights(), **more)
    return asyncio.run(model.stream(request, keep)), deltas


def test_it_streams_and_replies(server: type[FakeServer], path: str) -> None:
    reply, deltas = talk(path)
    assert reply.content == (Text("Hello"),)
    assert (reply.usage.input, reply.usage.output, reply.stop) == (7, 2, "end_turn")
    assert [d.text for d in deltas if isinstance(d, TextDelta)] == ["Hel", "lo"]


def test_it_says_honestly_what_it_is_once(server: type[FakeServer], path: str) -> None:
    heard: list[Delta] = []

    async def keep(delta: Delta) -> None:
        heard.append(delta)

    async def twice() -> None:
        model = EmbeddedModel(path, weights=weights())
        await model.stream(ASK, keep)
        await model.stream(ASK, keep)

    asyncio.run(twice())
    (notice,) = [delta for delta in heard if isinstance(delta, Notice)]
    assert notice.level == "warning" and "small offline model" in notice.text


def test_what_the_library_is_given(server: type[FakeServer], path: str) -> None:
    form = msgspec.Raw(b'{"type":"object"}')
    request = Request(ASK.system, ASK.messages, form=form, max_output=99_999)
    talk(path, request, sampling=Sampling(0.5, 7))
    (made,) = server.made
    assert made.params.n_ctx == WINDOW and made.params.n_batch == BATCH
    assert made.params.verbosity < 0
    assert len(made.params.api_keys[0]) >= 32, "the library's own port must not be open to others"
    (body,) = made.bodies
    assert body["cache_prompt"] is True and body["return_progress"] is True
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 7, 1024)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert [m["role"] for m in body["messages"]] == ["system", "user"]


def test_the_weights_are_loaded_once_and_off_the_loop(server: type[FakeServer], path: str) -> None:
    talk(path)
    talk(path)
    (made,) = server.made
    assert len(made.bodies) == 2
    assert all(name.startswith("embedded-model") for name in made.threads)


@pytest.mark.parametrize(("load", "threads"), [(0.0, 4), (0.9, 4), (1.5, 3), (9.0, 1)])
def test_busy_cores_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, load: float, threads: int
) -> None:
    monkeypatch.setattr(module, "physical_cores", lambda: 4)
    monkeypatch.setattr(module.os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert module.free_cores() == threads


def test_cancelling_stops_the_generation(server: type[FakeServer], path: str) -> None:
    go_on = threading.Event()
    server.plan = [chunk("one"), go_on, chunk("two"), chunk("three"), chunk(stop="stop")]

    async def cancel_after_the_first() -> None:
        first = asyncio.Event()

        async def hear(delta: Delta) -> None:
            if isinstance(delta, TextDelta):
                first.set()

        model = EmbeddedModel(path, weights=weights())
        task = asyncio.create_task(model.stream(ASK, hear))
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        assert await asyncio.to_thread(server.made[0].ended.wait, 10)

    asyncio.run(cancel_after_the_first())
    # By the answer to the first callback, if that comes so late, else to the next.
    assert server.made[0].stopped_after in (1, 3)


def test_the_loop_stays_free_while_it_generates(server: type[FakeServer], path: str) -> None:
    go_on = threading.Event()
    server.plan = [go_on, chunk("x"), chunk(stop="stop")]

    async def tick_meanwhile() -> None:
        async def ignore(delta: Delta) -> None:
            pass

        task = asyncio.create_task(EmbeddedModel(path, weights=weights()).stream(ASK, ignore))
        while not (server.made and server.made[0].bodies):
            await asyncio.sleep(0)
        go_on.set()  # only a loop that runs can do this
        assert (await task).content == (Text("x"),)

    asyncio.run(tick_meanwhile())


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"error": {"code": 400, "message": TOO_LONG}}, "prompt_too_long"),
        ({"error": {"code": 500, "message": "out of memory"}}, "server"),
        (RuntimeError("boom"), "server"),
    ],
)  # fmt: skip
def test_failures_have_their_kind(
    server: type[FakeServer], path: str, step: Any, kind: str
) -> None:
    server.plan = [step]
    with pytest.raises(ModelFailure) as caught:
        talk(path)
    assert caught.value.kind == kind


def test_a_load_that_fails_is_told(
    server: type[FakeServer], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: FakeServer, params: Any) -> None:
        raise RuntimeError("no such magic")

    monkeypatch.setattr(server, "__init__", refuse)
    with pytest.raises(ModelFailure, match="cannot load the embedded model: no such magic"):
        talk(path)


def test_a_damaged_file_is_not_loaded(server: type[FakeServer], path: str) -> None:
    Path(path).write_bytes(WHOLE[:-1] + b"!")
    with pytest.raises(ModelFailure, match="damaged; `detent models pull`"):
        talk(path)
    assert server.made == []


def test_sessions_share_one_engine(server: type[FakeServer], path: str) -> None:
    assert engine_for(path) is engine_for(path)
    assert isinstance(engine_for(path), Engine)


def test_what_is_missing_is_said_at_once(
    server: type[FakeServer], path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_embedded(str(tmp_path), weights()).name == "embedded"
    with pytest.raises(NoModel, match="`detent models pull`"):
        open_embedded(str(tmp_path / "elsewhere"), weights())
    Path(path).write_bytes(b"half")
    with pytest.raises(NoModel, match="damaged"):
        open_embedded(str(tmp_path), weights())
    monkeypatch.setattr(module, "is_installed", lambda: False)
    with pytest.raises(NoModel, match=r"pip install 'detent\[local\]'"):
        open_embedded(str(tmp_path), weights())
