"""Whatever the log holds and whichever stages run in whatever order: requests stay ones that every
provider takes, nothing that was sent changes without an entry that says so, nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.compact.result_budget import trims as budget_trims
from detent.context.compact.view import View, chosen
from detent.context.conversation import Conversation
from detent.context.project import effective, project
from detent.context.shaping import ORDER, Shaping, Stage
from detent.loop.relief import proposals
from detent.testing.script import call, reply, say
from detent.testing.scripted_model import ScriptedModel
from detent.types.codec import arguments_object, encode
from detent.types.content import Call, Image, Opaque, Redacted, Text, Thinking
from detent.types.effects import Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Switched,
    Trim,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.messages import Assistant, Message, User
from detent.types.outcomes import Cut, Done, Failed, Refused
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import READS, Bench, BenchTool, check_valid

STAGES: tuple[Stage, ...] = ("snip_window", "snip_messages", "micro", "collapse")
LONG = ("word " * 400).strip()
LONGER = "\n".join(f"line {number} of what a command said" for number in range(400))

ARGUMENTS = encode({"file_path": "/p/a", "note": LONG}).decode()

# Few ids and few texts, so that they collide often; some texts are long enough for every stage.
ids = st.sampled_from(["", "a", "b", "c", "d", "a_2", "call"])
texts = st.sampled_from(["", " ", "one", LONG, LONGER])
names = st.sampled_from(["Read", "Bash", "TodoWrite", "AskUserQuestion"])
arguments = st.sampled_from(
    ["", "{}", "{bad", '{"a":1}', f'{{"content":"{LONG}"}}', "[" + "1," * 900 + "1]"]
)
parts = st.lists(st.builds(Text, texts) | st.just(Image("image/png", "aGk=")), max_size=2)
outcomes = st.one_of(
    st.builds(Done, parts.map(tuple)),
    st.builds(Failed, texts),
    st.builds(Refused, texts, st.just("rule")),
    st.builds(Cut, texts, texts),
)
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, st.sampled_from(["", "sig"])),
    st.builds(Redacted, st.just("xx")),
    st.builds(Opaque, st.just('{"type":"x"}')),
    st.builds(Call, ids, names, arguments, st.sampled_from(["", "", "sig"])),
    st.builds(Call, ids, names, arguments),
)
seqs = st.integers(0, 40)
effects = st.sampled_from([(), (Reads("/p/a"),), (Writes("/p/a"),), (Reads("/p/b"),)])
damaged: list[st.SearchStrategy[Entry]] = [
    st.builds(
        Prompted,
        turn=st.just(1),
        content=st.lists(st.builds(Text, texts), max_size=2).map(tuple),
        steered=st.booleans(),
    ),
    st.builds(Reminded, text=texts, source=st.just("hook"), leads=st.booleans()),
    st.builds(
        Replied,
        turn=st.just(1),
        step=st.just(1),
        model=st.sampled_from(["m", "n"]),
        content=st.lists(blocks, max_size=4).map(tuple),
        stop=st.just("end_turn"),
        usage=st.sampled_from([Usage(), Usage(1, 1), Usage(4_000, 50)]),
    ),
    st.builds(
        CallStarted,
        call_id=ids,
        name=names,
        arguments=arguments,
        effects=effects,
        verdict=st.just(Allow("test")),
    ),
    st.builds(CallEnded, call_id=ids, name=names, outcome=outcomes),
    st.builds(Compacted, summary=texts, keeps_from=seqs, keeps=st.lists(seqs, max_size=2)),
    st.builds(
        Trimmed,
        stage=st.just("x"),
        trims=st.lists(st.builds(Trim, seqs, texts, st.integers(-1, 3)), max_size=3).map(tuple),
    ),
    st.builds(Restored, entries=st.lists(seqs, max_size=3).map(tuple)),
    st.builds(Rewound, to=seqs),
    st.builds(Withheld, entries=st.lists(seqs, max_size=4).map(tuple), reason=st.just("r")),
    st.builds(Switched, model=st.just("n")),
    st.builds(TurnEnded, turn=st.just(1), reason=st.just("end_turn")),
]
entries = st.one_of(*damaged, *[damaged[kind] for kind in (0, 2, 2, 2, 3, 4, 4, 4)])


def numbered(found: Sequence[Entry]) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(found, 1)]


logs = st.lists(entries, max_size=40).map(numbered)
orders = st.permutations(STAGES)


def sound_session(turns: list[list[list[tuple[bool, str]]]]) -> list[Entry]:
    """As the loop writes it: turns of steps of calls, each run before (True) or after its answer
    is whole, with its result."""
    log: list[Entry] = []
    for turn, steps in enumerate(turns):
        log.append(Prompted(turn=turn, content=(Text(f"wish {turn}"),)))
        for step, calls in enumerate(steps):
            ran = [(f"c{turn}_{step}_{n}", early, text) for n, (early, text) in enumerate(calls)]
            log += [e for name, early, text in ran if early for e in _run(name, text)]
            log.append(_said(turn, step, [name for name, _, _ in ran]))
            log += [e for name, early, text in ran if not early for e in _run(name, text)]
        log.append(_said(turn, len(steps), []))
    return numbered(log)


def _run(name: str, text: str) -> list[Entry]:
    started = CallStarted(
        call_id=name,
        name="Read",
        arguments='{"file_path":"/p/a"}',
        effects=(Reads("/p/a"),),
        verdict=Allow("test"),
    )
    return [started, CallEnded(call_id=name, name="Read", outcome=Done((Text(text),)))]


def _said(turn: int, step: int, calls: list[str]) -> Replied:
    made = [Call(name, "Read", ARGUMENTS) for name in calls]
    return Replied(
        turn=turn,
        step=step,
        model="m",
        content=(Thinking("hm", "sig"), Text(f"answer {turn}.{step} {LONG}"), *made),
        stop="end_turn",
        usage=Usage(),
    )


steps = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["short", LONG, LONGER])), min_size=1, max_size=3
)
sessions = st.lists(st.lists(steps, max_size=5), min_size=1, max_size=7).map(sound_session)


def run_stages(
    log: list[Entry], order: Sequence[Stage], need: int, *, critical: bool = False
) -> list[Entry]:
    """The log with what the stages say."""
    for stage in order:
        view = View(effective(log), 4, is_critical=critical)
        choice = chosen(view, proposals(stage, view), need)
        if choice.trims:
            last = log[-1].seq if log else 0
            log = [*log, Trimmed(seq=last + 1, stage=stage, trims=choice.trims)]
    return log


@given(logs, orders, st.integers(0, 9_000), st.booleans())
@settings(max_examples=300, deadline=None)
def test_after_any_stages_in_any_order_the_history_is_valid(
    log: list[Entry], order: list[Stage], need: int, critical: bool
) -> None:
    shortened = run_stages(log, order, need, critical=critical)
    messages = project(shortened)
    check_valid(messages)
    assert Conversation(shortened).messages() == messages
    kept = Conversation(log)
    for entry in shortened[len(log) :]:
        kept.add(entry)
    assert kept.messages() == messages, "kept up to date entry by entry, or made at once"
    assert kept.tokens() == Conversation(shortened).tokens()


@given(logs)
@settings(max_examples=300, deadline=None)
def test_a_damaged_log_with_trims_is_valid_at_every_prefix(log: list[Entry]) -> None:
    kept = Conversation()
    for length in range(len(log) + 1):
        if length:
            kept.add(log[length - 1])
        messages = project(log[:length])
        check_valid(messages)
        assert kept.messages() == messages


@given(logs, orders, st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_second_run_finds_nothing_more(
    log: list[Entry], order: list[Stage], critical: bool
) -> None:
    """With no end to what is needed each stage takes all that it can the first time. What one
    leaves another may shorten further; but once around, nothing is left to do for any."""
    once = run_stages(log, order, 10**9, critical=critical)
    again = run_stages(once, order, 10**9, critical=critical)
    assert again == once


@given(sessions, orders, st.booleans())
@settings(max_examples=150, deadline=None)
def test_what_the_user_said_and_what_was_signed_stays(
    log: list[Entry], order: list[Stage], critical: bool
) -> None:
    shortened = run_stages(log, order, 10**9, critical=critical)
    messages = project(shortened)
    check_valid(messages)
    said = [
        b.text for m in messages if isinstance(m, User) for b in m.content if isinstance(b, Text)
    ]
    assert said == [e.content[0].text for e in log if isinstance(e, Prompted)]  # type: ignore[union-attr]
    for message in messages:
        for block in message.content if isinstance(message, Assistant) else ():
            if isinstance(block, Thinking):
                assert block == Thinking("hm", "sig")
            if isinstance(block, Call):
                assert arguments_object(block.arguments) is not None
    tail = 2 if critical else 4
    assert messages[-tail + 1 :] == project(log)[-tail + 1 :], "the latest messages are untouched"


@given(logs, orders, st.integers(0, 9_000))
@settings(max_examples=150, deadline=None)
def test_restored_gives_back_what_was_there(
    log: list[Entry], order: list[Stage], need: int
) -> None:
    log = [entry for entry in log if not isinstance(entry, Restored)]
    shortened = run_stages(log, order, need)
    undone = tuple(entry.seq for entry in shortened[len(log) :])
    restored = [*shortened, Restored(seq=len(shortened) + 1, entries=undone)]
    assert project(restored) == project(log)
    assert Conversation(restored).messages() == project(log)


@given(logs, st.integers(500, 9_000))
@settings(max_examples=200, deadline=None)
def test_the_budget_of_results_changes_nothing_that_was_sent(log: list[Entry], most: int) -> None:
    kept = Conversation(log)
    before = kept.messages()
    found = budget_trims(kept.fresh_results(), most, lambda entry, text: "/f")
    trimmed = Trimmed(seq=len(log) + 1, stage="result_budget", trims=found)
    kept.add(trimmed)
    after = kept.messages()
    check_valid(after)
    assert after == project([*log, trimmed])
    assert list(map(id, after[:-1])) == list(map(id, before[:-1])), "all but the open message"
    assert budget_trims(kept.fresh_results(), most, lambda entry, text: "/f") == ()


CHANGES = (Compacted, Trimmed, Rewound, Restored, Withheld, Switched)
"""After one of these, and no other entry, an earlier message may read differently."""


FREE = {"input": 0, "output": 0}
"""No usage is reported, so everything is estimated."""


class Watched(ScriptedModel):
    """Notes how much was in the log when each request was sent."""

    def watch(self, bench: Bench) -> None:
        self.bench, self.known = bench, list[int]()

    async def stream(self, request: Any, deltas: Any) -> Any:
        self.known.append(len(self.bench.log.entries))
        return await super().stream(request, deltas)


def _is_prefix(earlier: Sequence[Message], later: Sequence[Message]) -> bool:
    """The last message is open: what came since may stand behind what it held."""
    if list(later[: len(earlier)]) == list(earlier):
        return True
    *closed, last = earlier
    grown = later[len(closed)].content[: len(last.content)]
    return list(later[: len(closed)]) == closed and grown == last.content


async def _look(args: dict[str, Any], desk: Any) -> str:
    return LONGER[: args["n"] * 4_000]


def play(turns: list[list[int]], window: int, order: Sequence[Stage]) -> tuple[Bench, Watched]:
    """Turns of steps with so many calls, in a window that may be too small for them."""
    script = []
    for steps in turns:
        script += [
            reply(say(f"step {step}"), *[call("look", n=n + 1) for n in range(count)], **FREE)
            for step, count in enumerate(steps)
        ]
        script.append(reply("done", **FREE))
    model = Watched(*script, window=window, max_output=2_000)
    shaping = Shaping(order=tuple(order), summariser="local")
    b = Bench(model, BenchTool("look", _look, effects=READS), shaping=shaping)
    model.watch(b)

    async def session() -> None:
        for number, _ in enumerate(turns):
            await b.turn(f"wish {number}", number + 1)

    asyncio.run(session())
    return b, model


def check_session(b: Bench, model: Watched) -> None:
    log = b.log.entries
    for number, (one, two) in enumerate(zip(model.requests, model.requests[1:], strict=False)):
        between = log[model.known[number] : model.known[number + 1]]
        if not any(map(_breaks, between)):
            assert _is_prefix(one.messages, two.messages), f"request {number + 2}"
    for number, request in enumerate(model.requests):
        check_valid(request.messages)
        asked = [e for e in log[: model.known[number]] if isinstance(e, Prompted)][-1]
        assert any(asked.content[0] in m.content for m in request.messages), "word for word"
    assert Conversation(log).messages() == b.conversation.messages()
    assert Conversation(log).tokens() == b.conversation.tokens()


@given(
    st.lists(st.lists(st.integers(1, 3), max_size=8), min_size=1, max_size=6),
    st.sampled_from([8_000, 16_000, 40_000]),
    st.permutations(ORDER),
)
@settings(max_examples=40, deadline=None)
def test_a_request_begins_as_the_one_before_it(
    turns: list[list[int]], window: int, order: list[Stage]
) -> None:
    """Through the whole loop, unless an entry between them says why not."""
    check_session(*play(turns, window, order))


def test_such_sessions_come_to_every_stage() -> None:
    """Or what is said above would be said of nothing."""
    found: set[str] = set()
    for order in (ORDER, ("result_budget", "micro", "snip_messages"), ("collapse", "auto")):
        for window in (8_000, 30_000):
            b, model = play([[1]] * 6 + [[3, 1, 2, 2, 1, 1, 2, 1, 3, 1, 2, 3]], window, order)  # type: ignore[arg-type]
            check_session(b, model)
            found |= {getattr(e, "stage", "auto") for e in b.of(Trimmed, Compacted)}
    assert found == set(ORDER)


def _breaks(entry: Entry) -> bool:
    if isinstance(entry, Trimmed) and entry.stage == "result_budget":
        return False
    return isinstance(entry, CHANGES)


@given(logs, orders, st.integers(0, 9_000), st.sampled_from([0, 5_000]))
@settings(max_examples=150, deadline=None)
def test_a_log_that_is_read_at_once_counts_as_one_that_grew(
    log: list[Entry], order: list[Stage], need: int, base: int
) -> None:
    entries = run_stages(log, order, need)
    loaded, grown = Conversation(entries), Conversation()
    for entry in entries:
        grown.add(entry)
        grown.tokens()
    loaded.base = grown.base = base
    assert (loaded.tokens(), loaded.scale) == (grown.tokens(), grown.scale)
    assert loaded.messages() == grown.messages()
    assert loaded.told == grown.told
