"""llama.cpp inside this process: the one place that knows xllamacpp.

One worker thread loads the weights and does all generating, one request after the other, so the
event loop stays free. The library calls back between batches of the prompt and between tokens; a
callback that returns True ends the generation.
"""

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from detent.types.errors import ModelFailure, NoModel

WINDOW = 8192
BATCH = 128
"""Tokens of a prompt between two callbacks: two seconds on a slow machine. So cancelling works
while the prompt is still being read."""
INSTALL = "pip install 'detent[local]'"

Chunk = dict[str, Any]


class Engine:
    """A loaded model. `chat` streams the chunks of one chat completion."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._server: Any = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="embedded-model")

    async def load(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._worker, self._load)

    async def chat(self, body: dict[str, Any]) -> AsyncGenerator[Chunk, None]:
        """Leaving the iterator early stops the generation at the next callback."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Chunk | None] = asyncio.Queue()
        stopped = threading.Event()

        def hand_over(chunk: Chunk | None) -> bool:
            """True means stop. A loop that is closed wants nothing any more."""
            try:
                loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            except RuntimeError:
                return True
            return stopped.is_set()

        def generate() -> None:
            try:
                if not stopped.is_set():
                    self._server.handle_chat_completions(body, hand_over)
            finally:
                hand_over(None)

        running = loop.run_in_executor(self._worker, generate)
        try:
            while (chunk := await arrived.get()) is not None:
                yield chunk
            await running
        except RuntimeError as error:  # what the library throws for anything of its own
            raise ModelFailure("server", f"the embedded model failed: {error}") from None
        finally:
            stopped.set()

    def _load(self) -> None:
        if self._server is None:
            try:
                self._server = _start(self._path)
            except (RuntimeError, ValueError, OSError) as error:
                raise ModelFailure("server", f"cannot load the embedded model: {error}") from None


_engines: dict[str, Engine] = {}
_engines_lock = threading.Lock()


def engine_for(path: str) -> Engine:
    """Sessions of one process share the weights: they are gigabytes."""
    with _engines_lock:
        return _engines.setdefault(path, Engine(path))


def is_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None


def need_library() -> None:
    if not is_installed():
        raise NoModel(f"the embedded model needs an extra: {INSTALL}")


def _start(path: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = free_cores()
    params.verbosity = -1  # llama.cpp would write its whole life story to stderr
    params.warmup = False
    # The library always opens a loopback port of its own. We do not use it, nobody else may.
    params.api_keys = [secrets.token_hex(16)]
    params.endpoint_slots = params.endpoint_props = params.ui = False
    return xllamacpp.Server(params)


def free_cores() -> int:
    """Those nobody else is busy on: the threads wait for each other at every step, so one that
    has to share its core slows all of them to a crawl."""
    try:
        busy = int(os.getloadavg()[0])
    except OSError:
        busy = 0
    return max(1, physical_cores() - busy)


def physical_cores() -> int:
    """Hyper-threads only get in each other's way here; a container's share counts, too."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    logical = len(usable) if usable else os.cpu_count() or 1
    cores = set()
    for cpu in usable or ():
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                cores.add(file.read())
        except OSError:
            return logical
    return len(cores) or logical
