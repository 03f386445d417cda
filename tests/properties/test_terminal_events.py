"""The terminal as a fold over events: whatever they say, nothing of it is obeyed, and nothing is
told twice or not at all."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.surfaces.tui.blocks import Card, Finished, Output, Prose, Said, Thought, Told
from detent.surfaces.tui.drawing.blocks import Look, drawn
from detent.surfaces.tui.folding import fold_all
from detent.surfaces.tui.screen.spans import columns
from detent.surfaces.tui.stage import Below
from detent.surfaces.tui.view import View
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.codec import encode
from detent.types.content import Call, Redacted, Text, Thinking
from detent.types.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Compacted,
    Compacting,
    Discarded,
    Event,
    HookEnded,
    Nested,
    Notice,
    Progress,
    Prompted,
    Replied,
    Retrying,
    Rewound,
    Switched,
    TextDelta,
    ThinkingDelta,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Cut, Done, Failed, Refused
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from terminalbench import DARK, Written, raw_in, raw_in_line, staged

# --- nothing raw

nasty = st.lists(
    st.sampled_from([
        "\x1b[31m", "\x1b]0;t\x07", "\x1b", "\r", "\n", "\t", "\x9b2J", "\u202e", "\u2066",
        "\u200b", "\x00", "\x7f", "\x85", "\u2028", "\ufeff", "\U000e0041", "&#x202e;", "&#13;",
        "&NewLine;", "a", "two words", "日", "e\u0301", "`", "| a |", "- ", "/",
        "9" * 400, " of ", "1", "x" * 50,
    ]),
    max_size=5,
).map("".join)  # fmt: skip
ARGUMENTS = (
    "command", "file_path", "pattern", "path", "subagent_type", "prompt", "description", "to",
    "message",
)  # fmt: skip
arguments = st.one_of(
    nasty,
    st.dictionaries(
        nasty | st.sampled_from(ARGUMENTS),
        nasty,
        max_size=4,
    ).map(lambda given: encode(given).decode()),
    st.lists(st.fixed_dictionaries({"content": nasty, "status": nasty}), max_size=3).map(
        lambda listed: encode({"todos": listed}).decode()
    ),
)  # fmt: skip
ids = st.sampled_from(["a", "b", "c"])


def as_line(parts: tuple[str, str]) -> str:
    return "".join(parts).replace("\n", "")


hunks = st.lists(
    st.builds(
        lambda lines: {"oldStart": 1, "newStart": 1, "lines": lines},
        st.lists(st.tuples(st.sampled_from("+- "), nasty).map(as_line), max_size=4),
    ),
    max_size=2,
)
result_data = st.none() | st.one_of(
    st.builds(lambda path, patch: {"filePath": path, "structuredPatch": patch}, nasty, hunks),
    st.builds(
        lambda path, text: {"type": "create", "filePath": path, "content": text}, nasty, nasty
    ),
    st.builds(
        lambda code, status: {"exitCode": code, "status": status},
        st.sampled_from([None, 0, 1]),
        nasty,
    ),
    st.builds(lambda status: {"totalSteps": 1, "status": status}, nasty),
)  # fmt: skip
outcomes = st.one_of(
    st.builds(Done, st.lists(st.builds(Text, nasty), max_size=2).map(tuple), result_data),
    st.builds(Failed, nasty, result_data),
    st.builds(Refused, nasty, nasty),
    st.builds(Cut, nasty, nasty),
)
states = st.sampled_from([FileState(), FileState("file")])
changes = st.lists(st.builds(Change, nasty, states, states), max_size=2).map(tuple)
usages = st.builds(Usage, st.integers(0, 5_000), st.integers(0, 500))
blocks = st.one_of(
    st.builds(Text, nasty),
    st.builds(Thinking, nasty),
    st.builds(Call, ids, nasty, arguments),
    st.builds(Redacted, nasty),
)
signals: list[st.SearchStrategy[Event]] = [
    st.builds(TextDelta, st.integers(0, 2), nasty),
    st.builds(ThinkingDelta, st.integers(0, 2), nasty),
    st.builds(CallDelta, st.integers(0, 2), ids, nasty, nasty),
    st.builds(Progress, ids, nasty, nasty),
    st.builds(Retrying, st.just(1), st.just(3), st.just(0.5), nasty),
    st.builds(Discarded, nasty),
    st.builds(Notice, nasty, st.sampled_from(["info", "warning", "error"])),
    st.builds(Compacting, st.booleans()),
    st.builds(
        HookEnded, ids, nasty, nasty, nasty, nasty, st.sampled_from([None, 1]),
        st.sampled_from(["success", "error"]),
    ),
]  # fmt: skip
entries: list[st.SearchStrategy[Event]] = [
    st.builds(
        Prompted, turn=st.just(1), content=st.lists(st.builds(Text, nasty), max_size=2).map(tuple),
        steered=st.booleans(),
    ),
    st.builds(
        Replied, turn=st.just(1), step=st.just(1), model=nasty, stop=nasty, usage=usages,
        content=st.lists(blocks, max_size=3).map(tuple),
    ),
    st.builds(
        CallStarted, call_id=ids, name=nasty, arguments=arguments, effects=st.just(()),
        verdict=st.just(Allow("test")),
    ),
    st.builds(CallEnded, call_id=ids, name=nasty | st.just("TodoWrite"), outcome=outcomes,
              changed=changes, ms=st.integers(0, 9_000)),
    st.builds(
        AgentStarted, agent=ids, kind=nasty, call_id=ids, description=nasty, name=nasty,
        depth=st.integers(1, 3), background=st.booleans(),
    ),
    st.builds(AgentEnded, agent=ids, state=st.sampled_from(["completed", "failed"])),
    st.builds(Compacted, summary=nasty, keeps_from=st.just(1)),
    st.builds(Trimmed, stage=nasty, trims=st.just(())),
    st.builds(Switched, model=nasty, reason=nasty),
    st.builds(Withheld, entries=st.just((1,)), reason=nasty),
    st.builds(Rewound, to=st.just(0), asked=st.booleans()),
    st.builds(Undone, of=st.just((1,)), changes=changes, begun=st.booleans()),
    st.builds(
        TurnEnded, turn=st.just(1), error=nasty,
        reason=st.sampled_from(["end_turn", "user_cancelled", "api_error"]), usage=usages,
    ),
]  # fmt: skip
plain_events = st.one_of(*signals, *entries)
events = plain_events | st.builds(Nested, ids, plain_events)
stories = st.lists(events, max_size=12)


@given(stories, st.integers(20, 60), st.integers(5, 30), nasty, st.booleans())
@settings(max_examples=250)
def test_nothing_that_anybody_says_reaches_the_terminal_raw(
    story: list[Event], width: int, height: int, beside: str, thinks: bool
) -> None:
    async def play() -> None:
        terminal = Written(width, height)
        stage, _, box = staged(terminal, theme=DARK)
        stage.look = replace(stage.look, cwd="/p", shows_thinking=thinks)
        box.text = beside
        stage.below = lambda: Below(
            queued=(beside,), jobs=(beside,), busy=beside if thinks else "", verb="At it"
        )
        stage.hear(Prompted(turn=1, content=(Text(beside),)))
        for event in story:
            stage.hear(event)
            stage.paint()
            live = stage.painter.live
            assert all(columns(line) <= width and not raw_in_line(line) for line in live)
        stage.show(Output(beside, beside), Told(beside), Output("", beside, is_markdown=True))
        stage.leave()
        assert raw_in(terminal.all) == []

    asyncio.run(play())


@given(stories, st.integers(20, 60))
@settings(max_examples=150)
def test_whatever_is_finished_is_drawn_in_single_lines(story: list[Event], width: int) -> None:
    """In the transcript too, where everything is told."""
    for detailed in (False, True):
        seen = Look(width, DARK, "/p", detailed=detailed, shows_thinking=True)
        for block in fold_all(story)[1]:
            for line in drawn(block, seen):
                assert raw_in_line(line) == [], block


# --- the fold


def cut(text: str, places: set[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


END = TurnEnded(turn=1, reason="end_turn")


@given(stories)
@settings(max_examples=200)
def test_every_call_that_ended_has_one_card_and_the_end_leaves_nothing(story: list[Event]) -> None:
    view, found = fold_all([*story, END])
    cards = sorted((card.name, repr(card.outcome)) for card in found if isinstance(card, Card))
    ends = (event for event in story if isinstance(event, CallEnded))
    assert cards == sorted((end.name, repr(end.outcome)) for end in ends)
    assert isinstance(found[-1], Finished)
    assert not view.is_running and all(worker.background for worker in view.workers)
    assert replace(view, todos=(), workers=()) == View()


said = st.text("ab \n#-`|", max_size=30)
steps = st.lists(
    st.tuples(
        st.lists(st.builds(Text, said) | st.builds(Thinking, said), max_size=3),
        st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3),
        st.sets(st.integers(0, 400), max_size=12),
    ),
    max_size=4,
)


def streamed(content: list[Text | Thinking | Call], places: set[int]) -> list[Event]:
    found: list[Event] = []
    for index, block in enumerate(content):
        match block:
            case Text(text=text):
                found += [TextDelta(index, part) for part in cut(text, places) if part]
            case Thinking(text=text):
                found += [ThinkingDelta(index, part) for part in cut(text, places) if part]
            case Call(id=id, name=name, arguments=given):
                found += [CallDelta(index, id, name, part) for part in cut(given, places)]
    return found


@given(steps)
@settings(max_examples=200)
def test_a_turn_that_was_streamed_leaves_what_its_entries_leave(
    turn: list[tuple[list[Text | Thinking], list[tuple[bool, bool]], set[int]]],
) -> None:
    """Calls may end before their answer is whole; some never run."""
    live: list[Event] = [Prompted(turn=1, content=(Text("go"),))]
    for number, (words, calls, pieces) in enumerate(turn, 1):
        content: list[Text | Thinking | Call] = [*words]
        early, late = list[Event](), list[Event]()
        for place, (is_early, runs) in enumerate(calls):
            call = Call(f"{number}.{place}", "Bash", '{"command":"ls"}')
            content.append(call)
            ran = early if is_early else late
            if runs:
                ran.append(
                    CallStarted(
                        call_id=call.id, name="Bash", arguments=call.arguments, effects=(),
                        verdict=Allow("test"),
                    )
                )  # fmt: skip
            ran.append(CallEnded(call_id=call.id, name="Bash", outcome=Failed(call.id)))
        live += [*streamed(content, pieces), *early]
        live.append(
            Replied(
                turn=1, step=number, model="m", content=tuple(content), stop="", usage=Usage(1, 1)
            )
        )
        live += late
    live.append(END)
    logged = [
        event for event in live if not isinstance(event, TextDelta | ThinkingDelta | CallDelta)
    ]
    shown_live, shown_later = fold_all(live)[1], fold_all(logged)[1]
    for kind in (Prose, Card, Said, Finished):
        assert [one for one in shown_live if isinstance(one, kind)] == [
            one for one in shown_later if isinstance(one, kind)
        ]
    thoughts = (
        "".join(one.text for one in some if isinstance(one, Thought))
        for some in (shown_live, shown_later)
    )
    assert len({"".join(text.split()) for text in thoughts}) == 1
    assert all(card.arguments for card in shown_live if isinstance(card, Card)), "and its arguments"
