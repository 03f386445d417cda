"""The fault corpus: what a server may do to us, and what must come of it.

A case says what the server answers, request by request, and the outcome that a user may expect;
the outcomes are few:

- `Answers`: as if nothing were wrong, with one request.
- `Recovers`: asked again; only the second answer is seen, and it is seen once.
- `Settles`: either of the two, for answers that are odd but can be understood.
- `Ends`: a clear reason and an exit code, never a wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from detent.testing import Fault, Reply, Request, call, fault, reply, say
from detent.testing.script import Maker, Spoken

ALL = ("anthropic", "chat", "responses", "gemini")
GOOD, AGAIN = "Hello wörld 😀", "second try"
SPLIT = say("Hello ", "wörld 😀")


@dataclass(frozen=True)
class Answers:
    text: str = GOOD
    requests: int = 1


@dataclass(frozen=True)
class Recovers:
    requests: int = 2
    status: int | None = None
    """Of the failed request, as the retry tells it."""
    text: str = AGAIN


@dataclass(frozen=True)
class Settles:
    texts: tuple[str, ...] = (GOOD, AGAIN)


@dataclass(frozen=True)
class Ends:
    codes: tuple[int, ...]
    requests: int | None = 1
    says: str = ""


@dataclass(frozen=True)
class Case:
    name: str
    replies: tuple[Spoken | Maker, ...]
    outcome: Answers | Recovers | Settles | Ends
    wires: tuple[str, ...] = ALL
    ran: tuple[int, ...] = ()
    """How often the command `echo ran >> log` may have run; empty: there is none."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    repeat: bool = False
    """The last reply is given to all further requests."""


def broken(**how: Any) -> Reply:
    return reply(SPLIT, fault=fault(**how))


def harmless() -> Iterator[Case]:
    """Legal, if unusual: a reader of events must not notice."""
    ways: dict[str, Reply] = {
        "crlf": broken(edits="crlf"),
        "cr": broken(edits="cr"),
        "byte order mark": broken(edits="bom"),
        "comments": broken(edits="comments"),
        "several data lines": broken(edits="data_lines"),
        "no blank line at the end": broken(edits="no_last_blank"),
        "gzip": broken(edits="gzip"),
        "deflate": broken(edits="deflate"),
        "crlf, byte by byte": broken(edits="crlf", split=1),
        "cr, byte by byte": broken(edits="cr", split=1),
        "gzip, byte by byte": broken(edits="gzip", split=1),
        "bom, byte by byte": broken(edits="bom", split=1),
        "no blank behind the colon": broken(edits="replace:data: =>data:"),
        "ids and retry times": broken(edits="replace:data: =>id: 1\nretry: 5\ndata: "),
        "byte by byte": broken(split=1),
        "two bytes at a time": broken(split=2),
        "three bytes at a time": broken(split=3),
        "seven bytes at a time": broken(split=7),
        "a content-length": broken(framing="length"),
        "ended by the connection": broken(framing="close"),
        "continue first": broken(preface=b"HTTP/1.1 100 Continue\r\n\r\n"),
        "early hints first": broken(
            preface=b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
        ),
        "unknown events and pings": reply(SPLIT, quirks=["noise"]),
        "no usage": reply(SPLIT, quirks=["no_usage"]),
        "a long header": reply(SPLIT, headers={"x-long": "x" * 32_000}),
        "connection: close": reply(SPLIT, headers={"connection": "close"}),
    }
    for name, made in ways.items():
        yield Case(name, (made,), Answers())
    yield Case("10,000 tiny deltas", (reply(say(*["ab "] * 10_000)),), Answers("ab " * 10_000))
    huge = "x" * 10_000_000
    yield Case("one huge delta", (reply(huge),), Answers(huge))
    packed = reply(huge, fault=fault(edits="gzip"))
    yield Case("one huge delta, packed", (packed,), Answers(huge))
    for wire, word in TERMINAL.items():
        twice = broken(edits=f"twice:{word}")
        yield Case("the terminal event twice", (twice,), Answers(), (wire,))
    yield Case("no [DONE]", (reply(SPLIT, quirks=["no_done"]),), Answers(), ("chat",))
    unknown = reply(SPLIT, stop="something_new")
    yield Case("an unknown stop reason", (unknown,), Answers(), ("anthropic", "chat", "gemini"))


TERMINAL = {
    "anthropic": "event: message_stop",
    "chat": "[DONE]",
    "responses": "event: response.completed",
    "gemini": '"finishReason"',
}


def odd() -> Iterator[Case]:
    """Against the protocol, yet everything is there: understood, or asked for again."""
    bent = {
        "no start of the block": ("anthropic", "drop:content_block_start"),
        "no stop of the block": ("anthropic", "drop:content_block_stop"),
        "the start of the block comes late": ("anthropic", "late:content_block_start"),
        "no start of the message": ("anthropic", "drop:message_start"),
        "two starts of the message": ("anthropic", "twice:message_start"),
        "two starts of the block": ("anthropic", "twice:content_block_start"),
        "two stops of the block": ("anthropic", "twice:content_block_stop"),
        "an index out of order": ("anthropic", 'replace:"index":0=>"index":7'),
        "a negative index": ("anthropic", 'replace:"index":0=>"index":-1'),
        "an index that is a text": ("anthropic", 'replace:"index":0=>"index":"0"'),
        "a null index": ("anthropic", 'replace:"index":0=>"index":null'),
        "no stop reason": ("anthropic", "drop:message_delta"),
        "no finish reason": ("chat", 'drop:"finish_reason":"stop"'),
        "no first chunk": ("chat", 'drop:"role":"assistant"'),
        "two first chunks": ("chat", 'twice:"role":"assistant"'),
        "null usage": ("chat", 'replace:"created":0=>"created":0,"usage":null'),
        "fields of another type": ("chat", 'replace:"created":0=>"created":"now","usage":[]'),
        "no first event": ("responses", "drop:response.created"),
        "two first events": ("responses", "twice:response.created"),
        "no item": ("responses", "drop:response.output_item.added"),
        "no end of the item": ("responses", "drop:response.output_item.done"),
        "no content part": ("responses", "drop:response.content_part.added"),
        "no numbers": ("responses", 'replace:"sequence_number"=>"numbered"'),
        "no item ids": ("responses", 'replace:"item_id"=>"id_of_item"'),
        "the item comes late": ("responses", "late:response.output_item.added"),
        "no role": ("gemini", 'replace:"role":"model"=>"role":null'),
        "no index of the candidate": ("gemini", 'replace:"index":0=>"index":null'),
        "no model version": ("gemini", 'replace:"modelVersion"=>"other"'),
    }
    for name, (wire, edit) in bent.items():
        yield Case(name, (broken(edits=edit), AGAIN), Settles(), (wire,))
    callless = reply(SPLIT, stop="tool_use")
    yield Case("a stop for calls without any", (callless, AGAIN), Settles())
    lying = broken(framing="too_long")  # but everything is there
    yield Case("a length that is too long", (lying, AGAIN), Settles())
    damaged = broken(edits="replace:ö=>\udcff")
    replaced = Settles((AGAIN, GOOD.replace("ö", "\ufffd")))
    yield Case("a byte that is no UTF-8", (damaged, AGAIN), replaced)
    half = reply(say("\ud83d", "\ude00"))
    halves = ("😀", "\ufffd\ufffd", "\ufffd" * 6, AGAIN)
    yield Case("half a character per delta", (half, AGAIN), Settles(halves))
    label = {"content-type": "text/plain"}
    yield Case("events under another name", (reply(SPLIT, headers=label), AGAIN), Settles())
    flood = broken(preface=b"HTTP/1.1 100 Continue\r\n\r\n" * 5000)
    yield Case("a flood of provisional answers", (flood, AGAIN), Settles())
    for (wire, key), value in product(COUNTS.items(), ('"many"', "-5", "1e30", "null", "[5]")):
        counted = broken(edits=f'replace:"{key}":5=>"{key}":{value}')
        yield Case(f"usage {value}", (counted, AGAIN), Settles(), (wire,))
    for wire, place in PLACES.items():
        deep = broken(edits=f'replace:{place}=>{place},"deep":{"[" * 5000}{"]" * 5000}')
        yield Case("a very deep field", (deep, AGAIN), Settles(), (wire,))
    doubled = broken(edits='twice:"Hello "')
    yield Case("the same delta twice is content", (doubled,), Answers("Hello " + GOOD))


COUNTS = {
    "anthropic": "output_tokens",
    "chat": "completion_tokens",
    "responses": "output_tokens",
    "gemini": "candidatesTokenCount",
}
PLACES = {
    "anthropic": '"type":"text_delta"',
    "chat": '"created":0',
    "responses": '"logprobs":[]',
    "gemini": '"index":0',
}
"""A field that every event of the wire has, or every delta."""


def failing() -> Iterator[Case]:
    """No answer, or only a part of one: asked for again."""
    html = fault(200, body="<html>Sign in</html>", headers={"content-type": "text/html"})
    empty = fault(200, body="", headers={"content-type": "text/event-stream"})
    ways: dict[str, Reply | Fault] = {
        "cut at once": broken(cut_after=0),
        "cut in the middle": broken(cut_after=1),
        "cut before the stop": broken(cut_after=99),
        "no end of the message": broken(no_stop=True),
        "an error at once": broken(error_after=0),
        "an error in the middle": broken(error_after=1),
        "an error before the stop": broken(error_after=99),
        "a truncated event": broken(garbage_after=1),
        "a reset instead of an answer": fault(reset=True),
        "a reset after one byte": broken(reset_after=1),
        "a reset after some bytes": broken(reset_after=200),
        "closed right after the request": fault(raw=b""),
        "half a status line": fault(raw=b"HTTP/1.1 200 O"),
        "half a head": fault(raw=b"HTTP/1.1 200 OK\r\ncontent-type: text/ev"),
        "not HTTP": fault(raw=b"SSH-2.0-OpenSSH_9.9\r\n"),
        "another protocol": fault(raw=UPGRADE),
        "a length that is too short": broken(framing="too_short"),
        "a chunk without a size": broken(framing="bad_chunk"),
        "half of a gzip": broken(edits="gzip_cut"),
        "a gzip bomb": broken(edits="gzip_bomb:64"),
        "gzip that is none": broken(edits="encoding:gzip"),
        "deflate that is none": broken(edits="encoding:deflate"),
        "an unknown encoding": broken(edits="encoding:br"),
        "comments and nothing else": broken(edits="comments_only"),
        "an error object in place of a stream": fault(200, body=OVERLOADED),
        "an empty stream": empty,
        "an empty body": fault(200, body=""),
        "a web page": html,
        "an endless head": reply(SPLIT, headers={"x-endless": "x" * 2_000_000}),
        "an api_error in the middle": broken(error_after=1, error_type="api_error"),
    }
    for name, made in ways.items():
        yield Case(name, (made, AGAIN), Recovers())
    for wire, edits in OPENING.items():
        first = broken(edits=edits, error_after=0)
        yield Case("an error instead of the first event", (first, AGAIN), Recovers(), (wire,))
    failed = reply(SPLIT, stop="failed")
    yield Case("a response that failed", (failed, AGAIN), Recovers(), ("responses",))
    unended = reply(SPLIT, quirks=["no_done"])
    yield Case("no terminal event", (unended, AGAIN), Recovers(), ("responses",))
    yield Case("no message_stop", (unended, AGAIN), Settles(), ("anthropic",))
    malformed = reply(stop="MALFORMED_FUNCTION_CALL")
    yield Case("a malformed call", (malformed, AGAIN), Settles((AGAIN,)), ("gemini",))
    for wire, word in BROKEN:
        stopped = reply("half an ans", stop=word)
        yield Case(f"finish {word}", (stopped, AGAIN), Recovers(), (wire,))
    endless = reply("x" * 40_000_000)
    yield Case("an endless event", (endless, AGAIN), Recovers(), ("anthropic",))
    mixed = (fault(529), broken(cut_after=1), fault(reset=True), broken(garbage_after=1), AGAIN)
    yield Case("one thing after another", mixed, Recovers(5))
    yield Case("an answer without content", (reply(), AGAIN), Settles((AGAIN,)))
    yield Case("an answer of blanks", (reply(" \n"), AGAIN), Settles((AGAIN,)))


BROKEN = (
    ("anthropic", "error"),
    ("chat", "error"),
    ("chat", "abort"),
    ("chat", "insufficient_system_resource"),
    ("gemini", "OTHER"),
)
"""Words for an answer that was not ended but given up."""
UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
OPENING = {
    "anthropic": ("drop:message_start",),
    "chat": ('drop:"role":"assistant"',),
    "responses": ("drop:response.created", "drop:response.in_progress"),
}


def stalled() -> Iterator[Case]:
    """Silence, and what only sounds like life."""
    ways: dict[str, Reply] = {
        "silence at once": broken(stall_after=0),
        "silence in the middle": broken(stall_after=1),
        "a drip at once": broken(drip_after=0),
        "a drip in the middle": broken(drip_after=1),
        "pings for ever": reply(SPLIT, tail=1000.0),
        "no answer at all": reply(SPLIT, delay=1000.0),
    }
    for name, made in ways.items():
        quick = {"idleTimeout": 0.4}
        yield Case(name, (made, AGAIN), Recovers(), settings=quick, repeat=True)


def statuses() -> Iterator[Case]:
    for status in (408, 409, 429, 500, 502, 503, 504, 529):
        yield Case(f"{status} once", (fault(status), AGAIN), Recovers(status=status))
    for status, code in ((400, 1), (401, 7), (403, 7), (404, 1), (422, 1)):
        yield Case(f"{status}", (fault(status),), Ends((code,)))
    for status in (429, 500, 503, 529):
        yield Case(f"{status} for ever", (fault(status),), Ends((7,), 5), repeat=True)
    yield Case("413", (fault(413),), Ends((5,), None), repeat=True)
    yield Case("a web page with status 502", (fault(502, body="<html>"), AGAIN), Recovers())
    waits = {
        "0 seconds": "0",
        "a date that has passed": "Wed, 21 Oct 2015 07:28:00 GMT",
        "a date far away": "Wed, 21 Oct 2099 07:28:00 GMT",
        "a fraction": "0.01",
        "garbage": "soon",
        "a negative number": "-5",
        "a huge number": "1e99",
        "infinity": "inf",
        "no number": "nan",
    }
    for name, value in waits.items():
        tried = (fault(429, retry_after=value), AGAIN)
        yield Case(f"retry-after: {name}", tried, Recovers(status=429))
    told = {"x-should-retry": "false"}
    yield Case("x-should-retry: false", (fault(500, headers=told),), Ends((1, 7)))
    told = {"x-should-retry": "true"}
    yield Case("x-should-retry: true", (fault(400, headers=told), AGAIN), Recovers(status=400))
    spent = {"error": {"type": "insufficient_quota", "message": "insufficient_quota: pay first"}}
    yield Case("a spent quota", (fault(429, body=spent),), Ends((1, 7), says="quota"))
    for name, body in LONG.items():
        yield Case(f"too long: {name}", (fault(400, body=body),), Ends((5,), None), repeat=True)


LONG: dict[str, dict[str, Any]] = {
    "prompt is too long": {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}},
    "a code": {"error": {"message": "too big", "code": "context_length_exceeded"}},
}


def told() -> Iterator[Case]:
    """Errors that come with status 200: inside of a stream, or in the place of one."""
    for code, requests in ((400, 1), (401, 1), (404, 1)):
        error = {"error": {"code": code, "message": f"told {code}"}}
        outcome = Ends((1, 7), requests, f"told {code}")
        yield Case(f"{code} in the stream", (in_stream(error),), outcome, ("chat",))
    busy = in_stream({"error": {"code": 429, "message": "told 429"}})
    yield Case("429 in the stream", (busy, AGAIN), Recovers(status=429), ("chat",))
    body = {"error": {"type": "invalid_request_error", "message": "your plan has expired"}}
    instead = fault(200, body=body, headers={"content-type": "application/json"})
    yield Case("an error and no stream", (instead,), Ends((1,), 1, "your plan has expired"))


def in_stream(error: Any) -> Fault:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    return fault(raw=head + b"data: " + json.dumps(error).encode() + b"\n\n")


def endings() -> Iterator[Case]:
    cut = reply("half an ans", stop="max_tokens")
    yield Case("cut at the length limit for ever", (cut,), Ends((5,), None), repeat=True)
    for wire, word in (("anthropic", "length"), ("chat", "model_length")):
        cut = reply("half an ans", stop=word)
        yield Case(f"finish {word} for ever", (cut,), Ends((5,), None), (wire,), repeat=True)
    filtered = reply("half an ans", stop="content_filter")
    yield Case("finish content_filter", (filtered,), Ends((1,)), ("anthropic",))
    no = reply("I will not.", stop="refusal")
    yield Case("a refusal", (no,), Ends((1,)))
    yield Case("a blocked prompt", (reply(stop="blocked"),), Ends((1,)), ("gemini",))
    for finish in ("RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST"):
        stopped = reply("half", stop=finish)
        yield Case(f"finish {finish}", (stopped,), Ends((1, 5)), ("gemini",))
    window = reply("half", stop="model_context_window_exceeded")
    yield Case("a full window", (window,), Ends((5,), None), ("anthropic",), repeat=True)
    unknown = reply("half", stop="something_new")
    yield Case(
        "incomplete, who knows why", (unknown,), Ends((1, 5, 7), None), ("responses",), repeat=True
    )
    pause = reply("thinking about it", stop="pause_turn")
    yield Case("a pause for ever", (pause,), Ends((1, 5, 7), None), ("anthropic",), repeat=True)
    lost: dict[str, Reply | Fault] = {
        "cut for ever": broken(cut_after=1),
        "reset for ever": fault(reset=True),
        "an error in the stream for ever": broken(error_after=1),
    }
    for name, made in lost.items():
        yield Case(name, (made,), Ends((7,), 5), repeat=True)
    page = fault(200, body="<html>Sign in</html>", headers={"content-type": "text/html"})
    yield Case("a web page for ever", (page,), Ends((1, 7), None, "html"), repeat=True)
    yield Case("garbage for ever", (broken(garbage_after=1),), Ends((1, 7), None), repeat=True)
    yield Case("no content for ever", (reply(),), Ends((1, 5, 7), None), repeat=True)


RUN = "echo ran >> log"


def calling() -> Iterator[Case]:
    """Calls: each runs once if it can be understood, and never otherwise."""
    ok = call("Bash", command=RUN)
    done = Answers("done", 2)
    yield Case("a call", (reply(ok), "done"), done, ran=(1,))
    pieces = ["", '{"comm', f'and": "{RUN}', '"}']
    yield Case("in fragments", (reply(call("Bash", pieces=pieces)), "done"), done, ran=(1,))
    two = reply("Both. ", ok, ok)
    yield Case("two calls", (two, "done"), done, ran=(2,))
    yield Case("twenty calls", (reply(*[ok] * 20), "done"), done, ran=(20,))
    ended = reply(ok, stop="end_turn")
    yield Case("a call, and a stop that knows of none", (ended, "done"), done, ran=(1,))
    bad = {
        "arguments that end early": call("Bash", raw='{"command": "' + RUN),
        "arguments with a comma too many": call("Bash", raw='{"command": "' + RUN + '",}'),
        "arguments twice": call("Bash", raw=('{"command": "' + RUN + '"}') * 2),
        "arguments that are a list": call("Bash", raw=f'["{RUN}"]'),
        "arguments that are a text": call("Bash", raw=f'"{RUN}"'),
        "arguments that are null": call("Bash", raw="null"),
        "arguments of another type": call("Bash", {"command": [RUN]}),
        "no arguments": call("Bash"),
        "an unknown tool": call("Shell of the future", command=RUN),
        "a tool without a name": call("", command=RUN),
    }
    for name, made in bad.items():
        yield Case(name, (reply(made), "done"), done, ran=(0,))
    cut = reply(call("Bash", raw='{"command": "' + RUN), stop="max_tokens")
    yield Case("a call cut at the length limit", (cut, "done"), Settles(("done",)), ran=(0,))
    yield Case("cut there for ever", (cut,), Ends((5,), None), ran=(0,), repeat=True)
    same = call("Bash", command=RUN, id="same")
    yield Case("the same call twice under one id", (reply(same, same), "done"), done, ran=(1,))
    other = call("Bash", command=f"{RUN}; true", id="same")
    yield Case("two calls under one id", (reply(same, other), "done"), done, ran=(2,))
    again = reply(call("Bash", command=RUN, id="same"))
    yield Case("an id that was used before", (again, again, "done"), Answers("done", 3), ran=(2,))
    nameless = reply(call("Bash", command=RUN, id=""))
    yield Case("an empty id", (nameless, "done"), done, ran=(1,))
    big = reply(call("Bash", command=f"{RUN} # " + "x" * 1_000_000))
    yield Case("huge arguments", (big, "done"), Settles(("done",)))
    ways = {"edits": ("crlf", "cr", "bom", "gzip", "data_lines", "comments"), "split": (1, 5)}
    for way, values in ways.items():
        for value in values:
            bent = reply(ok, fault=fault(**{way: value}))
            yield Case(f"a call, {way} {value}", (bent, "done"), done, ran=(1,))
    yield from _lost_calls(ok)
    quirks = (
        "no_index",
        "index_zero",
        "object_arguments",
        "finish_stop",
        "interleave",
        "missing_id",
        "null_content",
        "usage_every_chunk",
        "thought_signature",
    )
    for quirk in quirks:
        yield Case(
            quirk, (reply(two.blocks[0], ok, ok, quirks=[quirk]), "done"), done, ("chat",), ran=(2,)
        )
    missing = reply(ok, ok, quirks=["missing_id"])
    yield Case("missing_id", (missing, "done"), done, ("gemini",), ran=(2,))
    deep = call("Bash", raw='{"command": "' + RUN + '", "x": ' + "[" * 5000 + "]" * 5000 + "}")
    yield Case("very deep arguments", (reply(deep), "done"), Settles(("done",)))
    many = reply(*[call("Nothing of that name")] * 300)
    yield Case("300 calls to nowhere", (many, "done"), done, ran=(0,))
    yield from _bent_calls(ok)


def _lost_calls(ok: Any) -> Iterator[Case]:
    """The stream breaks around a call: it runs once, whichever answer it is of.

    A server that is asked for the same answer again words the call in another way.
    """
    settled = Settles(("done",))

    def again(request: Request) -> Reply:
        anew = reply("Now. ", call("Bash", command=RUN, description="Append a line"))
        return reply("done") if request.tool_results else anew

    behind: dict[str, Fault] = {
        "cut behind the call": fault(cut_after=99),
        "an error behind the call": fault(error_after=99),
        "no end behind the call": fault(no_stop=True),
    }
    for name, wrong in behind.items():
        for gap in (0.0, 0.15):
            first = reply("Now. ", ok, say("And", " so"), gap=gap, fault=wrong)
            slowly = f"{name}, slowly" if gap else name
            yield Case(slowly, (first, again), settled, ran=(1,), repeat=True)
    still = reply("Now. ", ok, fault=fault(stall_after=99))
    yield Case(
        "silence behind the call",
        (still, again),
        settled,
        ran=(1,),
        settings={"idleTimeout": 0.4},
        repeat=True,
    )
    later: dict[str, Reply | Fault] = {
        "529": fault(529),
        "a cut": broken(cut_after=1),
        "a reset": fault(reset=True),
        "garbage": broken(garbage_after=1),
        "nothing": fault(raw=b""),
    }
    for name, wrong in later.items():
        yield Case(f"{name} behind a result", (reply(ok), wrong, "done"), settled, ran=(1,))


def _bent_calls(ok: Any) -> Iterator[Case]:
    """The stream of a call, bent: it runs once or not at all, and the turn goes on."""
    bent = {
        "no start of the call": ("anthropic", "drop:content_block_start"),
        "no stop of the call": ("anthropic", "drop:content_block_stop"),
        "two stops of the call": ("anthropic", "twice:content_block_stop"),
        "a fragment twice": ("anthropic", "twice:partial_json"),
        "the arguments of a call twice": ("chat", 'twice:"arguments":"{'),
        "an argument event twice": ("responses", "twice:function_call_arguments.delta"),
        "no item of the call": ("responses", "drop:response.output_item.added"),
        "no end of the arguments": ("responses", "drop:function_call_arguments.done"),
        "no end of the call": ("responses", "drop:response.output_item.done"),
        "only the end of the call": ("responses", "drop:function_call_arguments"),
        "two ends of the call": ("responses", "twice:response.output_item.done"),
    }
    for name, (wire, edit) in bent.items():
        odd_call = reply(ok, fault=fault(edits=edit))
        yield Case(name, (odd_call, "done"), Settles(("done",)), (wire,), ran=(0, 1))


CASES = [
    case
    for part in (harmless, odd, failing, stalled, statuses, told, endings, calling)
    for case in part()
]
