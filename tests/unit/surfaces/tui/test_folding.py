"""What single events change on the screen."""

from __future__ import annotations

from typing import Any

import pytest

from detent.surfaces.tui.blocks import (
    Block,
    Card,
    Check,
    FileTally,
    Finished,
    Prose,
    Said,
    Thought,
    Told,
)
from detent.surfaces.tui.drawing import flow
from detent.surfaces.tui.drawing.flow import Chunk, Flow
from detent.surfaces.tui.folding import calls, fold, fold_all
from detent.surfaces.tui.folding.calls import changed_files
from detent.surfaces.tui.view import View
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.content import Call, Image, Text, Thinking
from detent.types.events import (
    CallDelta,
    CallEnded,
    CallStarted,
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
    TextDelta,
    ThinkingDelta,
    TurnEnded,
)
from detent.types.files import Change, FileState
from detent.types.outcomes import Done, Failed, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

GO = Prompted(turn=1, content=(Text("go"),))
END = TurnEnded(turn=1, reason="end_turn")
FILE, NONE = FileState("file"), FileState()


def replied(*content: Any, usage: Usage = Usage(1, 1)) -> Replied:  # noqa: B008 — frozen
    return Replied(turn=1, step=1, model="m", content=content, stop="", usage=usage)


def started(id: str, command: str = "make", name: str = "Bash") -> CallStarted:
    arguments = f'{{"command":"{command}"}}'
    return CallStarted(call_id=id, name=name, arguments=arguments, effects=(), verdict=Allow("t"))


def ran(id: str, code: int = 0, *changed: Change) -> CallEnded:
    outcome = (
        Done((Text("x"),), {"exitCode": code}) if code == 0 else Failed("x", {"exitCode": code})
    )
    return CallEnded(call_id=id, name="Bash", outcome=outcome, changed=changed)


def blocks(*events: Event) -> list[Block]:
    return fold_all(events)[1]


def view(*events: Event) -> View:
    return fold_all(events)[0]


# --- answers


def test_what_was_not_streamed_is_shown_when_it_is_whole() -> None:
    found = blocks(GO, replied(Thinking("hm"), Text("one\n\ntwo")))
    assert found[1:] == [
        Thought("hm"), Prose(Chunk("prose", "one")), Prose(Chunk("prose", "two", spaced=True)),
    ]  # fmt: skip
    streamed = blocks(GO, TextDelta(0, "one\n\ntw"), TextDelta(0, "o"), replied(Text("one\n\ntwo")))
    assert streamed[1:] == found[2:], "and what was is not shown twice"


def test_thinking_takes_the_time_it_took() -> None:
    state, _ = fold(View(), ThinkingDelta(0, "a"), 10.0)
    state, none = fold(state, ThinkingDelta(0, "b"), 12.0)
    assert none == () and state.phase == "thinking"
    _, (thought, *_) = fold(state, TextDelta(1, "so"), 14.5)
    assert thought == Thought("ab", 4.5)


def test_thinking_that_says_nothing_is_not_told_of() -> None:
    assert blocks(GO, ThinkingDelta(0, " \n"), TextDelta(1, "x\n\n"))[1:] == [
        Prose(Chunk("prose", "x"))
    ]


def test_thinking_is_kept_in_part() -> None:
    state = view(*[ThinkingDelta(0, "x" * 1_000)] * 50)
    assert len(state.thought) == 20_000


def test_an_answer_that_broke_off_is_void() -> None:
    state, found = fold_all([GO, TextDelta(0, "one\n\ntwo"), Discarded("broke off")])
    assert isinstance(found[-1], Told) and "broke off" in found[-1].text
    assert state.flow == Flow() and not state.heard and state.is_running
    assert blocks(GO, TextDelta(0, "one"), Discarded("x"))[1:] == [], "nothing of it was seen"
    again = blocks(
        GO, TextDelta(0, "half"), Discarded("x"), TextDelta(0, "whole"), replied(Text("whole"))
    )
    assert again[1:] == [Prose(Chunk("prose", "whole"))]


def test_the_phase_says_what_is_done_now() -> None:
    for events, phase in (
        ([GO], "waiting"),
        ([GO, TextDelta(0, "a")], "writing"),
        ([GO, CallDelta(0, "c", "Bash", "{")], "calling"),
        ([GO, started("c")], "working"),
        ([GO, started("c"), ran("c")], "waiting"),
        ([GO, Compacting()], "compacting"),
        ([GO, Compacting(), Compacting(is_over=True)], "waiting"),
        ([GO, Retrying(1, 3, 2.0, "overloaded")], "retrying"),
    ):
        assert view(*events).phase == phase
    assert view(GO, CallDelta(0, "c", "Bash", "{")).forming == "Bash"
    assert view(GO, Retrying(1, 3, 2.0, "overloaded")).note == "overloaded; retry 1/3 in 2 s"


def test_tokens_are_counted_while_they_come_and_then_as_they_are_billed() -> None:
    state = view(GO, TextDelta(0, "x" * 40))
    assert state.tally is not None and state.tally.written == 40
    state = view(GO, TextDelta(0, "x" * 40), replied(Text("x"), usage=Usage(5, 7)))
    assert state.tally is not None
    assert (state.tally.written, state.tally.usage, state.tally.steps) == (0, Usage(5, 7), 1)


# --- a line that does not end


def test_a_line_without_end_is_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: characters that are taken, and how many are ever held back."""
    taken, take = [0], flow._take

    def counting(state: Flow, line: str, chunks: list[Chunk]) -> Flow:
        taken[0] += len(line)
        return take(state, line, chunks)

    monkeypatch.setattr(flow, "_take", counting)
    state, found, size = Flow(), list[Chunk](), 0
    for number in range(20_000):
        delta = f"word{number} "
        size += len(delta)
        state, more = flow.feed(state, delta)
        found += more
        assert len(state.open) + len(state.line) <= flow.LONGEST_OPEN
    found += flow.end(state)[1]
    assert taken[0] == size, "every character once"
    assert "".join(chunk.text for chunk in found) == "".join(f"word{n} " for n in range(20_000))


def test_a_block_of_many_lines_is_not_held_back_for_ever() -> None:
    state, count = Flow(), 0
    for _ in range(5_000):
        state, more = flow.feed(state, "a line of some words\n")
        count += len(more)
        assert len(state.open) + len(state.line) <= flow.LONGEST_OPEN + 1
    assert count >= 10


# --- calls


def test_a_call_has_one_card_with_what_was_run() -> None:
    call = Call("c", "Bash", '{"command":"as written"}')
    found = blocks(GO, replied(call), started("c", "as run"), ran("c"))
    assert found[1:] == [Card("Bash", '{"command":"as run"}', ran("c").outcome)]
    refused = CallEnded(call_id="c", name="Bash", outcome=Refused("no", "rule"))
    assert blocks(GO, replied(call), refused)[1:] == [Card("Bash", call.arguments, refused.outcome)]


def test_a_call_that_ended_before_its_answer_waits_for_its_arguments() -> None:
    call = Call("c", "Bash", '{"command":"ls"}')
    refused = CallEnded(call_id="c", name="Bash", outcome=Refused("no", "rule"))
    assert blocks(GO, refused)[1:] == []
    assert blocks(GO, refused, replied(call))[1:] == [Card("Bash", call.arguments, refused.outcome)]
    assert [type(one) for one in blocks(GO, refused, END)[1:]] == [Card, Finished]


def test_of_what_a_call_prints_the_end_is_kept() -> None:
    state = view(GO, started("c"), started("d"), *[Progress("c", "Bash", "x" * 500)] * 9)
    assert [len(one.tail) for one in state.calls] == [calls.LONGEST_TAIL, 0]
    assert [one.id for one in view(GO, started("c"), started("d"), ran("c")).calls] == ["d"]


@pytest.mark.parametrize(
    "changes, what",
    [
        ([(NONE, FILE)], "made"),
        ([(FILE, FILE)], "changed"),
        ([(FILE, NONE)], "removed"),
        ([(NONE, FILE), (FILE, FILE)], "made"),
        ([(FILE, FILE), (FILE, NONE)], "removed"),
        ([(FILE, NONE), (NONE, FILE)], "changed"),
        ([(NONE, FILE), (FILE, NONE)], None),
    ],
)
def test_what_became_of_a_file(
    changes: list[tuple[FileState, FileState]], what: str | None
) -> None:
    files: tuple[FileTally, ...] = ()
    for before, after in changes:
        files = changed_files(files, (Change("/a", before, after),), {})
    assert [one.what for one in files] == ([what] if what else [])


def test_lines_are_counted_over_a_turn() -> None:
    edited = {"filePath": "/a", "structuredPatch": [{"lines": ["+x", "-y", " z", "+w"]}]}
    made = {"filePath": "/b", "structuredPatch": [], "type": "create", "content": "1\n2\n3"}
    files = changed_files((), (Change("/a", FILE, FILE), Change("/b", NONE, FILE)), edited)
    files = changed_files(files, (Change("/a", FILE, FILE),), edited)
    files = changed_files(files, (), made)
    assert files == (
        FileTally("/a", "changed", 4, 2, is_counted=True),
        FileTally("/b", "made", 3, 0, is_counted=True),
    )


def test_checks_are_told_by_their_last_result_and_go_stale() -> None:
    story = [GO, started("a", "pytest"), ran("a", 1), started("b", "pytest"), ran("b", 0)]
    story += [started("c", "ls"), ran("c", 0)]
    (finished,) = (one for one in blocks(*story, END) if isinstance(one, Finished))
    assert finished.checks == (Check("pytest", 0),)
    story += [started("d", "sed"), ran("d", 0, Change("/a", FILE, FILE))]
    (finished,) = (one for one in blocks(*story, END) if isinstance(one, Finished))
    assert finished.checks == (Check("pytest", 0, is_stale=True),)
    assert finished.files == (FileTally("/a", "changed"),)


def todo(*statuses: str, outcome: Any = None) -> list[Event]:
    listed = ",".join(f'{{"content":"t","status":"{status}"}}' for status in statuses)
    call = CallStarted(
        call_id="t", name="TodoWrite", arguments=f'{{"todos":[{listed}]}}', effects=(),
        verdict=Allow("t"),
    )  # fmt: skip
    return [call, CallEnded(call_id="t", name="TodoWrite", outcome=outcome or done("ok"))]


def test_things_to_do_stand_until_all_are_done() -> None:
    assert [one.status for one in view(GO, *todo("completed", "pending")).todos] == [
        "completed",
        "pending",
    ]
    assert view(GO, *todo("pending"), *todo("completed", "completed")).todos == ()
    assert len(view(GO, *todo("pending"), *todo("pending", "x", outcome=Failed("no"))).todos) == 1
    assert len(view(GO, *todo("pending"), END).todos) == 1, "also in the next turn"


# --- subagents


def agent(id: str, *, background: bool = False) -> AgentStarted:
    return AgentStarted(
        agent=id, kind="explore", call_id="c", description=f"look {id}", background=background
    )


def test_a_subagent_has_a_line_while_it_works() -> None:
    state = view(
        GO, agent("a"), Nested("a", started("x", "ls")), Nested("a", replied(usage=Usage(5, 5))),
        Nested("a", Nested("b", agent("b"))), Nested("a", Nested("b", TextDelta(0, "hi"))),
    )  # fmt: skip
    first, second = state.workers
    assert (first.title, first.calls, first.usage, first.model) == ("look a", 1, Usage(5, 5), "m")
    assert first.doing == "Bash ls" and second.doing == "writing"
    ended = AgentEnded(agent="a", state="completed")
    state, found = fold_all([GO, agent("a"), ended])
    assert state.workers == () and found[1:] == [], "its parent's call tells of it"


def test_one_in_the_background_is_told_of_and_outlives_the_turn() -> None:
    state = view(GO, agent("a"), agent("b", background=True), END)
    assert [one.agent for one in state.workers] == ["b"]
    _, (told,) = fold(state, AgentEnded(agent="b", state="failed", steps=2), 1.0)
    assert isinstance(told, Told) and told.level == "warning" and "look b: failed" in told.text


def test_what_a_subagent_says_is_not_said_by_the_session() -> None:
    found = blocks(
        GO, agent("a"), Nested("a", TextDelta(0, "x\n\n")), Nested("a", ran("z")), Nested("a", END)
    )
    assert found[1:] == []
    assert view(GO, agent("a"), Nested("a", END)).is_running
    assert blocks(GO, Nested("a", Notice("odd", "warning")))[1:] == [Told("odd", "warning")]
    assert blocks(GO, Nested("a", Notice("fine")))[1:] == []


# --- turns, and what is told


def test_a_prompt_is_said_and_begins_a_turn() -> None:
    picture = Image("image/png", "aGk=")
    state, found = fold_all([Prompted(turn=1, content=(Text("a"), Text("<stdin>\nb"), picture))])
    assert found == [Said("a", attached=2)] and state.is_running
    assert fold_all([GO, Prompted(turn=1, content=(Text("b"),), steered=True)])[1][-1] == Said(
        "b", steered=True
    )


def test_an_error_is_told_before_the_end_unless_the_person_wanted_it() -> None:
    failed = TurnEnded(turn=1, reason="api_error", error="It broke.")
    assert [type(one) for one in blocks(GO, failed)] == [Said, Told, Finished]
    stopped = TurnEnded(turn=1, reason="user_cancelled", error="by you")
    assert [type(one) for one in blocks(GO, stopped)] == [Said, Finished]


def test_a_hook_is_told_of_where_it_went_wrong() -> None:
    fine = HookEnded("h", "lint", "Stop", "out", "", 0, "success")
    wrong = HookEnded("h", "lint", "Stop", "", "no such file\nmore", 127, "error")
    silent = HookEnded("h", "lint", "Stop", "", "", None, "error")
    assert blocks(fine) == []
    (told,) = blocks(wrong)
    assert isinstance(told, Told) and told.text.endswith("no such file")
    assert len(blocks(silent)) == 1


def test_going_back_is_told_where_a_person_wanted_it() -> None:
    assert blocks(Rewound(to=1)) == []
    assert len(blocks(Rewound(to=1, asked=True))) == 1
