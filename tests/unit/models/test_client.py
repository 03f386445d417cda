"""A model over real HTTP on loopback: both wires, what goes wrong, and what comes of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from detent.models.client import HttpModel
from detent.models.protocols.wire import Manner
from detent.models.retry import RetryPolicy
from detent.models.route import Bounds
from detent.models.watch import Timers
from detent.testing import RedactedThink, ScriptedServer, call, fault, reply, say, script, think
from detent.types.content import Call, Redacted, Text, Thinking, plain_text
from detent.types.deltas import Begun, CallReady, Counted, Delta
from detent.types.errors import ModelFailure
from detent.types.events import Discarded, Notice, Retrying, Switched, TextDelta, ThinkingDelta
from detent.types.messages import Reply, Request, User
from detent.types.usage import Usage
from kitbench import FakeClock
from modelbench import http_model, route

HI = Request((), (User((Text("hi"),)),))
both_wires = pytest.mark.parametrize("wire", ["anthropic", "chat"])


class Client:
    """A model that talks to a scripted server; keeps the deltas and what the clock slept."""

    def __init__(self, server: ScriptedServer, wire: str, **conduct: Any) -> None:
        self.clock = FakeClock()
        self.deltas: list[Delta] = []
        self.server = server
        self.model = http_model(server.url, wire, self.clock, **conduct)

    async def ask(self, request: Request = HI) -> Reply:
        return await self.model.stream(request, self.take)

    async def take(self, delta: Delta) -> None:
        self.deltas.append(delta)

    def of(self, kind: type) -> list[Any]:
        return [delta for delta in self.deltas if isinstance(delta, kind)]

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.of(TextDelta))


def talk(wire: str, plan: Any, main: Callable[[Client], Awaitable[None]], **conduct: Any) -> None:
    async def run() -> None:
        async with ScriptedServer(plan) as server:
            client = Client(server, wire, **conduct)
            try:
                await main(client)
            finally:
                await client.model.aclose()
            assert not server.problems or server.script.after == "error"

    asyncio.run(run())


async def fails(client: Client) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await client.ask()
    return caught.value


@both_wires
def test_an_answer_arrives_in_pieces_and_whole(wire: str) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert plain_text(answer.content) == "one two"
        assert client.text == "one two"
        (made,) = answer.calls
        assert (made.name, made.arguments) == ("Read", '{"path": "a"}')
        (ready,) = client.of(CallReady)
        assert ready.call == made
        assert answer.stop == "tool_use"
        assert answer.model == "m"
        cached = Usage(7, 5, 2, 1) if wire == "anthropic" else Usage(8, 5, 2)
        assert answer.usage == cached

    plan = reply(
        say("one ", "two"), call("Read", path="a"), input=7, output=5, cache_read=2, cache_write=1
    )
    talk(wire, plan, main)


@both_wires
def test_requests_share_a_connection(wire: str) -> None:
    async def main(client: Client) -> None:
        for _ in range(3):
            await client.ask()
        assert client.server.connections == 1

    talk(wire, script("a", "b", "c"), main)


@both_wires
def test_a_call_is_ready_before_the_answer_is_whole(wire: str) -> None:
    """The last text is held back by the server until the call was seen."""
    seen = threading.Event()

    async def main(client: Client) -> None:
        async def take(delta: Delta) -> None:
            client.deltas.append(delta)
            if isinstance(delta, CallReady):
                seen.set()

        answer = await client.model.stream(HI, take)
        assert client.deltas.index(client.of(CallReady)[0]) < len(client.deltas) - 1
        assert plain_text(answer.content) == "and more"

    held = reply(call("Read", path="a"), say("and ", "more"), hold=seen, hold_after=2)
    talk(wire, held, main)


def test_thinking_comes_with_its_signature() -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert answer.content == (Thinking("hm, so", "sig"), Text("yes"))
        assert "".join(d.text for d in client.of(ThinkingDelta)) == "hm, so"

    talk("anthropic", reply(think("hm, ", "so", signature="sig"), "yes"), main)


def test_redacted_thinking_is_kept_and_not_shown() -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert answer.content == (Redacted("xyz"), Text("yes"))
        assert client.text == "yes"

    talk("anthropic", reply(RedactedThink("xyz"), "yes"), main)


@both_wires
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refused_request_is_not_sent_again(wire: str, status: int) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.status == status
        assert client.server.request_count == 1
        assert client.clock.slept == []

    talk(wire, script(fault(status), "never"), main)


@both_wires
def test_a_failing_server_is_asked_five_times(wire: str) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.exhausted
        assert failure.status == 500
        assert client.clock.slept == [0.2, 0.4, 0.8, 2.0]
        assert client.server.request_count == 5
        assert client.server.connections == 1, "an error answer keeps the connection"

    talk(wire, script(fault(500), after="repeat_last"), main)


@both_wires
def test_the_wait_the_server_asks_for_is_kept(wire: str) -> None:
    async def main(client: Client) -> None:
        assert plain_text((await client.ask()).content) == "now"
        assert client.clock.slept == [3.0]
        (retry,) = client.of(Retrying)
        assert (retry.attempt, retry.delay, retry.status) == (1, 3.0, 429)

    talk(wire, script(fault(429, retry_after="3"), "now"), main)


@both_wires
def test_an_overloaded_model_is_left_for_the_fallback(wire: str) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert answer.model == "n"
        assert [request.json["model"] for request in client.server.requests] == ["m", "n"]
        assert client.clock.slept == []
        assert len(client.of(Notice)) == 1

    talk(wire, script(fault(529), "from n"), main, fallbacks=("n",))


@both_wires
def test_overload_in_the_middle_is_taken_back_and_left_for_the_fallback(wire: str) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert plain_text(answer.content) == "whole"
        kinds = [type(d) for d in client.deltas]
        assert kinds.index(Discarded) < kinds.index(Notice) < len(kinds) - 1
        assert [request.json["model"] for request in client.server.requests] == ["m", "n"]

    broken = reply(say("ha", "lf"), fault=fault(error_after=2), gap=0.01)
    talk(wire, script(broken, "whole"), main, fallbacks=("n",))


@both_wires
@pytest.mark.parametrize(
    "trouble",
    [{"cut_after": 1}, {"no_stop": True}, {"reset": True}],
    ids=["cut", "no_stop", "reset"],
)
def test_a_stream_that_ends_early_is_asked_for_again(wire: str, trouble: dict[str, Any]) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert plain_text(answer.content) == "whole"
        assert client.clock.slept == [0.2]
        shown = client.deltas.index(client.of(Retrying)[0])
        assert bool(client.of(Discarded)) == bool(
            [d for d in client.deltas[:shown] if isinstance(d, TextDelta)]
        )

    talk(wire, script(reply(say("ha", "lf"), fault=fault(**trouble)), "whole"), main)


@both_wires
def test_garbage_is_asked_for_again_once(wire: str) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.kind == "invalid_response"
        assert client.server.request_count == 2

    broken = reply(say("a", "b"), fault=fault(garbage_after=1))
    talk(wire, script(broken, after="repeat_last"), main)


@both_wires
@pytest.mark.parametrize(
    "empty",
    [reply(stop="tool_use"), reply("so", stop="tool_use")],
    ids=["nothing", "no call"],
)
def test_an_answer_that_is_none_is_asked_for_again_once(wire: str, empty: Any) -> None:
    async def main(client: Client) -> None:
        assert plain_text((await client.ask()).content) == "better"
        assert client.server.request_count == 2

    talk(wire, script(empty, "better"), main)


@both_wires
@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "end_turn"])
def test_an_empty_answer_with_a_reason_is_an_answer(wire: str, stop: str) -> None:
    async def main(client: Client) -> None:
        assert (await client.ask()).stop == stop

    talk(wire, reply(stop=stop), main)


@both_wires
def test_pings_do_not_feed_the_idle_timer(wire: str) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.kind == "timeout"
        assert "silent" in failure.message
        assert client.text == "half"

    pinging = reply("half", tail=30.0)
    conduct = {"timers": Timers(idle=0.2), "retry": RetryPolicy(delays=())}
    talk(wire, pinging, main, **conduct)


@both_wires
def test_silence_before_the_head_is_silence(wire: str) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.kind == "timeout"
        await client.server.wait_for_mark(1, "gone")

    conduct = {"timers": Timers(idle=0.1), "retry": RetryPolicy(delays=())}
    talk(wire, reply("late", delay=30.0), main, **conduct)


@both_wires
def test_a_slow_reader_is_not_the_servers_silence(wire: str) -> None:
    async def main(client: Client) -> None:
        async def slow(delta: Delta) -> None:
            await asyncio.sleep(0.25)

        answer = await client.model.stream(HI, slow)
        assert plain_text(answer.content) == "patience"

    # Were it taken for silence, every attempt would fail.
    patient = script("patience", after="repeat_last")
    talk(wire, patient, main, timers=Timers(idle=0.2))


@both_wires
def test_the_whole_request_has_a_time_too(wire: str) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.kind == "timeout"
        assert "too long" in failure.message

    dripping = reply(say(*["x"] * 2_000), gap=0.02)
    conduct = {"timers": Timers(idle=5.0, request=0.2), "retry": RetryPolicy(delays=())}
    talk(wire, dripping, main, **conduct)


@both_wires
def test_from_the_second_timeout_on_less_is_asked_for(wire: str) -> None:
    async def main(client: Client) -> None:
        await fails(client)
        asked = [request.json["max_tokens"] for request in client.server.requests]
        assert asked == [4_000, 4_000, 2_000, 1_024, 1_024]

    silent = script(fault(stall_after=0), after="repeat_last")
    talk(wire, silent, main, timers=Timers(idle=0.05), max_output=4_000)


@both_wires
def test_cancelling_closes_the_connection(wire: str) -> None:
    async def main(client: Client) -> None:
        begun = asyncio.Event()

        async def take(delta: Delta) -> None:
            if not isinstance(delta, Begun):
                begun.set()

        task = asyncio.create_task(client.model.stream(HI, take))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.server.wait_for_mark(1, "gone")

    talk(wire, reply("half", fault=fault(stall_after=1)), main)


@both_wires
def test_nobody_there_is_a_network_failure(wire: str) -> None:
    async def main() -> None:
        async with ScriptedServer("x") as server:
            client = Client(server, wire)
        failure = await fails(client)
        assert failure.kind == "network"
        assert failure.exhausted
        assert "cannot reach" in failure.message

    asyncio.run(main())


@both_wires
def test_a_server_that_keeps_the_stream_open_behind_its_end_loses_the_connection(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.models.route.SETTLE", 0.05)
    end = b'data: {"type":"message_stop"}\n\n' if wire == "anthropic" else b"data: [DONE]\n\n"
    said = (
        b'data: {"type":"content_block_start","content_block":{"type":"text","text":"hi"}}\n\n'
        if wire == "anthropic"
        else b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for part in (said, end):
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        await writer.drain()
        try:
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
        gone.set()
        writer.transport.abort()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        model = http_model(url, wire, FakeClock())

        async def ignore(delta: Delta) -> None:
            pass

        assert plain_text((await model.stream(HI, ignore)).content) == "hi"
        await asyncio.wait_for(gone.wait(), 10)
        server.close()

    gone = asyncio.Event()
    asyncio.run(main())


def test_nothing_to_send_is_told_without_a_request() -> None:
    async def main(client: Client) -> None:
        with pytest.raises(ModelFailure) as caught:
            await client.ask(Request(("system",), ()))
        assert caught.value.kind == "invalid_request"
        assert client.server.request_count == 0

    talk("anthropic", "x", main)


# The quirks of 4.2 and 4.5, one round trip each

QUIRKS = [
    (),
    ("no_index",),
    ("index_zero",),
    ("object_arguments",),
    ("index_zero", "object_arguments"),
    ("no_index", "object_arguments", "finish_stop"),
    ("finish_stop",),
    ("missing_id",),
    ("missing_id", "no_index"),
    ("missing_id", "index_zero"),
    ("interleave",),
    ("null_content",),
    ("no_done",),
    ("no_usage",),
    ("usage_every_chunk",),
    ("noise",),
    ("thought_signature",),
]


@pytest.mark.parametrize("quirks", QUIRKS, ids="+".join)
def test_odd_chat_servers_give_the_same_calls(quirks: tuple[str, ...]) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert plain_text(answer.content) == "look"
        made = [(one.name, one.arguments.replace(" ", "")) for one in answer.calls]
        bare = "{}" if "object_arguments" in quirks else ""
        assert made == [("A", '{"n":1}'), ("B", bare), ("C", '{"n":3,"m":"}"}')]
        assert len({one.id for one in answer.calls}) == 3
        assert all(one.id for one in answer.calls)
        ready = sorted(client.of(CallReady), key=lambda one: one.index)
        assert [one.call for one in ready] == list(answer.calls)
        assert client.server.request_count == 1
        if "no_usage" in quirks:
            assert answer.usage == Usage()
        else:
            assert answer.usage == Usage(10, 5)

    pieces = ['{"n"', ':3,"m"', ':"}"', "}"]
    plan = reply("look", call("A", n=1), call("B"), call("C", pieces=pieces), quirks=quirks)
    talk("chat", plan, main)


@pytest.mark.parametrize(
    "quirks", [("reasoning",), ("reasoning_content",), ("reasoning", "reasoning_content")]
)
def test_reasoning_is_read_from_either_field_but_not_from_both(quirks: tuple[str, ...]) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert answer.content == (Thinking("so, then"), Text("yes"))

    talk("chat", reply(think("so, ", "then"), "yes", quirks=quirks), main)


@pytest.mark.parametrize("quirks", [("noise",), ("no_usage",)])
def test_odd_messages_servers(quirks: tuple[str, ...]) -> None:
    async def main(client: Client) -> None:
        answer = await client.ask()
        assert answer.content == (Text("look"), Call("call_1_1", "A", ""))

    talk("anthropic", reply("look", call("A"), quirks=quirks), main)


def test_without_message_stop_a_message_is_not_whole() -> None:
    async def main(client: Client) -> None:
        assert plain_text((await client.ask()).content) == "whole"
        assert len(client.of(Discarded)) == 1

    talk("anthropic", script(reply("half", quirks=["no_done"]), "whole"), main)


@both_wires
@pytest.mark.parametrize(
    ("kind", "message", "wanted"),
    [
        ("overloaded_error", "Overloaded", "overloaded"),
        ("api_error", "Internal", "server"),
        ("invalid_request_error", "prompt is too long: 9 > 8", "prompt_too_long"),
    ],
)
def test_an_error_inside_a_good_stream_has_a_kind(
    wire: str, kind: str, message: str, wanted: str
) -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.kind == wanted
        assert message in failure.message

    broken = reply(
        say("a", "b"), fault=fault(error_after=1, error_type=kind, error_message=message)
    )
    talk(wire, script(broken, after="repeat_last"), main, retry=RetryPolicy(delays=()))


# What an attempt has cost, whatever becomes of it


@pytest.mark.parametrize("wire", ["anthropic", "responses"])
def test_a_failed_attempt_tells_what_it_has_cost(wire: str) -> None:
    async def main(client: Client) -> None:
        await client.ask()
        kinds = [type(delta) for delta in client.deltas]
        assert kinds.index(Counted) < kinds.index(Discarded)
        first = next(delta for delta in client.deltas if isinstance(delta, Counted))
        assert first.usage.input == 700

    broken = (
        reply(say("a", "b"), input=700, fault=fault(cut_after=1))
        if wire == "anthropic"
        else reply("a", input=700, stop="failed")
    )
    talk(wire, script(broken, "fine"), main)


@both_wires
def test_each_attempt_tells_who_is_asked_and_for_how_much(wire: str) -> None:
    async def main(client: Client) -> None:
        await client.ask()
        await client.ask(replace(HI, max_output=100))
        assert client.of(Begun) == [Begun("m", "house", limit) for limit in (500, 500, 100)]
        assert client.of(Discarded) == [], "where nothing was shown, nothing is taken back"

    house = Manner(provider="house")
    talk(wire, script(fault(529), "fine", "fine"), main, max_output=500, manner=house)


def test_a_fallback_serves_for_a_while_and_then_the_first_is_asked_again() -> None:
    async def main(client: Client) -> None:
        await client.ask()
        await client.ask()
        client.clock.time += 301
        await client.ask()
        used = [request.json["model"] for request in client.server.requests]
        assert used == ["m", "n", "n", "m"]
        assert [each.model for each in client.of(Switched)] == ["n", "m"]
        assert client.model.name == "m"

    talk("anthropic", script(fault(529), "one", "two", "three"), main, fallbacks=("n",))


def test_when_nobody_could_serve_the_next_request_begins_with_the_first() -> None:
    async def main(client: Client) -> None:
        failure = await fails(client)
        assert failure.exhausted
        await client.ask()
        assert [request.json["model"] for request in client.server.requests] == ["m", "n", "m"]

    plan = script(fault(529), fault(500), "fine")
    talk("anthropic", plan, main, fallbacks=("n",), retry=RetryPolicy(delays=()))


def test_the_largest_window_counts_while_a_fallback_serves() -> None:
    small = route("http://127.0.0.1:1", name="n")
    small.bounds = Bounds(window=8_000)
    model = HttpModel([route("http://127.0.0.1:1"), small], clock=FakeClock())
    model._at = 1
    assert (model.name, model.window) == ("n", 128_000)


def test_a_fallback_has_a_limit_of_its_own() -> None:
    async def main(client: Client) -> None:
        await client.ask(Request((), HI.messages, max_output=32_000))
        home, other = client.server.requests
        assert home.json["max_tokens"] == 32_000
        assert "max_tokens" not in other.json

    talk("chat", script(fault(529), "fine"), main, fallbacks=("n",))
