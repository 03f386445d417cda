"""Streams: deltas per second of CPU, on every wire, and a thousand streams held open at once.

``python bench/streams.py`` prints the table and writes ``results/streams.md``. The vendor SDKs are
measured in the same run where they are installed: each client is a process of its own, reading the
same bytes from the same loopback server.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
DELTAS = 20_000
STREAMS = 1_000
ROUNDS = 5
PER_WRITE = 10  # events in one write of the server: a busy provider's pace

Say = Callable[..., bytes]


def event(**fields: Any) -> bytes:
    return f"event: {fields['type']}\ndata: {json.dumps(fields)}\n\n".encode()


def data(**fields: Any) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


def anthropic_events() -> list[bytes]:
    head = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = event(type="message_start", message={**head, "stop_reason": None, "usage": usage})
    block = event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    deltas = [
        event(
            type="content_block_delta", index=0, delta={"type": "text_delta", "text": f"word{n} "}
        )
        for n in range(DELTAS)
    ]
    stop = event(
        type="message_delta",
        delta={"stop_reason": "end_turn", "stop_sequence": None},
        usage={"output_tokens": DELTAS},
    )
    ends = [event(type="content_block_stop", index=0), stop, event(type="message_stop")]
    return [start, block, *deltas, *ends]


def chat_events() -> list[bytes]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return data(**head, choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    deltas = [chunk({"content": f"word{n} "}) for n in range(DELTAS)]
    return [chunk({"role": "assistant"}), *deltas, chunk({}, "stop"), b"data: [DONE]\n\n"]


def responses_events() -> list[bytes]:
    response: dict[str, Any] = {
        "id": "r", "object": "response", "created_at": 0, "model": "m", "output": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "in_progress",
    }  # fmt: skip
    item = {"id": "i", "type": "message", "role": "assistant", "content": [], "status": "completed"}
    place = {"item_id": "i", "output_index": 0, "content_index": 0}
    text = "".join(f"word{n} " for n in range(DELTAS))
    part = {"type": "output_text", "text": text, "annotations": []}
    usage = {
        "input_tokens": 1, "output_tokens": DELTAS, "total_tokens": DELTAS + 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    whole = {**item, "content": [part]}
    done = {**response, "status": "completed", "output": [whole], "usage": usage}
    empty = {"type": "output_text", "text": "", "annotations": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": empty},
    ]
    for n in range(DELTAS):
        delta = {"type": "response.output_text.delta", "delta": f"word{n} ", "logprobs": []}
        events.append({**delta, **place})
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": done},
    ]
    return [event(**each, sequence_number=n) for n, each in enumerate(events)]


def gemini_events() -> list[bytes]:
    def part(text: str, **more: Any) -> bytes:
        content = {"role": "model", "parts": [{"text": text}]}
        return data(candidates=[{"content": content, "index": 0, **more}], modelVersion="m")

    return [*(part(f"word{n} ") for n in range(DELTAS)), part("end", finishReason="STOP")]


EVENTS: dict[str, Callable[[], list[bytes]]] = {
    "anthropic": anthropic_events,
    "chat": chat_events,
    "responses": responses_events,
    "gemini": gemini_events,
}
PATHS = {"anthropic": "", "chat": "/v1", "responses": "/v1", "gemini": "/v1beta"}


# The server, a process of its own


async def serve(wire: str) -> None:
    """Streams the events; `x-hold` in a request keeps the stream open behind its first delta."""
    events = EVENTS[wire]()
    chunks = [b"".join(events[n : n + PER_WRITE]) for n in range(0, len(events), PER_WRITE)]
    first = b"".join(events[:4])
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in request.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        await reader.readexactly(length)
        writer.write(head)
        if b"x-hold" in request.lower():
            writer.write(b"%x\r\n%b\r\n" % (len(first), first))
            await reader.read(1)  # until the client goes away
            writer.close()
            return
        for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# The clients, each a process of its own


def our_model(wire: str, port: int, headers: tuple[tuple[str, str], ...] = ()) -> Any:
    from detent.app.clock import SystemClock
    from detent.models.build import Wishes, build_route
    from detent.models.catalog import ModelFacts, ProviderFacts
    from detent.models.client import HttpModel
    from detent.models.protocols.wire import Endpoint
    from detent.models.providers import Choice

    endpoint = Endpoint(f"http://127.0.0.1:{port}{PATHS[wire]}", headers)
    choice = Choice("bench", "m", wire, endpoint, ModelFacts(), about=ProviderFacts(wire))
    return HttpModel([build_route(choice, Wishes(), {})], clock=SystemClock())


async def ours(wire: str, port: int) -> int:
    from detent.types.content import Text
    from detent.types.events import TextDelta
    from detent.types.messages import Request, User

    model = our_model(wire, port)
    text: list[str] = []

    async def sink(delta: Any) -> None:
        if isinstance(delta, TextDelta):
            text.append(delta.text)

    await model.stream(Request((), [User((Text("hi"),))]), sink)
    return "".join(text).count("word")


async def anthropic_sdk(port: int) -> int:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="k", base_url=f"http://127.0.0.1:{port}")
    count = 0
    asked: Any = [{"role": "user", "content": "hi"}]
    async with client.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
        async for text in stream.text_stream:
            count += text.count("word")
    return count


async def openai_sdk(wire: str, port: int) -> int:
    import openai

    client = openai.AsyncOpenAI(api_key="k", base_url=f"http://127.0.0.1:{port}/v1")
    asked: Any = [{"role": "user", "content": "hi"}]
    count = 0
    if wire == "chat":
        async for chunk in await client.chat.completions.create(
            model="m", messages=asked, stream=True
        ):
            count += sum((choice.delta.content or "").count("word") for choice in chunk.choices)
        return count
    async for one in await client.responses.create(model="m", input="hi", stream=True):
        if one.type == "response.output_text.delta":
            count += one.delta.count("word")
    return count


async def google_sdk(port: int) -> int:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=f"http://127.0.0.1:{port}")
    client = genai.Client(api_key="k", http_options=options)
    count = 0
    async for chunk in await client.aio.models.generate_content_stream(model="m", contents="hi"):
        count += (chunk.text or "").count("word")
    return count


def sdk(wire: str, port: int) -> Any:
    if wire == "anthropic":
        return anthropic_sdk(port)
    return google_sdk(port) if wire == "gemini" else openai_sdk(wire, port)


def client(who: str, wire: str, port: int) -> None:
    """CPU of one stream, the second of two: imports and caches are warm."""

    async def main() -> None:
        for _ in range(2):
            begun = time.process_time()
            count = await (ours(wire, port) if who == "detent" else sdk(wire, port))
            spent = time.process_time() - begun
        assert count == DELTAS, count
        print(spent)

    asyncio.run(main())


def resident() -> int:
    """Resident bytes; Linux only, elsewhere 0."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def hold(wire: str, port: int) -> None:
    """A thousand streams open at once: memory each, and how late the last first event came."""

    async def main() -> None:
        from detent.types.content import Text
        from detent.types.events import TextDelta
        from detent.types.messages import Request, User

        request = Request((), [User((Text("hi"),))])
        arrived: list[float] = []
        everybody = asyncio.Event()

        async def one(model: Any) -> None:
            told = False

            async def sink(delta: Any) -> None:
                nonlocal told
                if isinstance(delta, TextDelta) and not told:
                    told = True
                    arrived.append(time.perf_counter())
                    if len(arrived) == STREAMS:
                        everybody.set()

            await model.stream(request, sink)

        models = [our_model(wire, port, (("x-hold", "1"),)) for _ in range(STREAMS + 1)]
        warm = asyncio.create_task(one(models.pop()))
        while not arrived:
            await asyncio.sleep(0)
        arrived.clear()
        before, begun = resident(), time.perf_counter()
        tasks = [asyncio.create_task(one(model)) for model in models]
        await asyncio.wait_for(everybody.wait(), 60)
        each = (resident() - before) / STREAMS
        print(json.dumps([each, max(arrived) - begun]))
        for task in (warm, *tasks):
            task.cancel()

    asyncio.run(main())


# The run


def child(*arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=False
    )
    return ran.stdout.strip() if ran.returncode == 0 else ""


def measure(wire: str) -> list[str]:
    server = subprocess.Popen(
        [sys.executable, __file__, "serve", wire], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        rates: dict[str, list[float]] = {"detent": [], "sdk": []}
        for _ in range(ROUNDS):
            for who, found in rates.items():
                spent = child("client", who, wire, port)
                if spent:
                    found.append(DELTAS / float(spent))
        held = child("hold", wire, port)
        return row(wire, rates, json.loads(held) if held else None)
    finally:
        server.kill()
        server.wait()


def row(wire: str, rates: dict[str, list[float]], held: list[float] | None) -> list[str]:
    mine = sorted(rates["detent"])[len(rates["detent"]) // 2]
    theirs = sorted(rates["sdk"])[len(rates["sdk"]) // 2] if rates["sdk"] else 0.0
    return [
        wire,
        f"{mine:,.0f}",
        f"{theirs:,.0f}" if theirs else "–",
        f"{mine / theirs:.1f}" if theirs else "–",
        "yes" if mine >= 100_000 or (theirs and mine >= 3 * theirs) else "NO",
        f"{held[0] / 1000:.1f} kB" if held else "–",
        f"{held[1]:.2f} s" if held else "–",
        "yes" if held and held[0] <= 60_000 else "NO",
    ]


def main() -> None:
    head = [
        "wire", "detent, deltas/s of CPU", "vendor SDK", "ratio", "≥ 100,000 or ≥ 3x",
        "memory per open stream", "last first event", "≤ 60 kB",
    ]  # fmt: skip
    rows = [head, ["---"] * len(head), *(measure(wire) for wire in EVENTS)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    about = (
        f"# Streams\n\n{DELTAS:,} text deltas over loopback, {PER_WRITE} per write, CPU of the "
        f"whole client process for one stream, median of {ROUNDS}, interleaved; {STREAMS:,} "
        "streams held open in one process behind their first delta.\n\n"
    )
    (RESULTS / "streams.md").write_text(f"{about}{table}\n", encoding="utf-8")
    print(table)
    if any("NO" in cells for cells in rows):
        sys.exit(1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", wire]:
            asyncio.run(serve(wire))
        case ["client", who, wire, port]:
            client(who, wire, int(port))
        case ["hold", wire, port]:
            hold(wire, int(port))
        case _:
            main()
