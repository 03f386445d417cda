"""The summary made without a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.compact.boundary import boundary_of, keeps_from
from detent.context.project import project
from detent.types.content import Call, Image, Text
from detent.types.effects import Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
)
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid, compact_locally


def conversation(steps: list[int], early: bool = False) -> list[Entry]:
    """A prompt, then steps with so many calls; a call may start before its answer is whole."""
    entries: list[Entry] = [Prompted(seq=1, turn=1, content=(Text("mend the parser"),))]

    def add(entry: Entry) -> None:
        entries.append(replace(entry, seq=len(entries) + 1))

    for number, calls in enumerate(steps):
        ids = [f"c{number}_{i}" for i in range(calls)]
        blocks = tuple(Call(each, "Edit", "{}") for each in ids)
        answer = Replied(
            turn=1,
            step=number,
            model="m",
            content=(Text(f"step {number}. Next: todo {number}"), *blocks),
            stop="tool_use",
            usage=Usage(1, 1),
        )
        ran: list[Entry] = []
        for each in ids:
            effects = (Writes(f"/p/{each}.py"), Reads("/p/read.py"))
            started = CallStarted(
                call_id=each, name="Edit", arguments="{}", effects=effects, verdict=Allow("test")
            )
            ran += [started, CallEnded(call_id=each, name="Edit", outcome=done(f"ok {each}"))]
        for entry in [*ran, answer] if early else [answer, *ran]:
            add(entry)
    return entries


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.booleans(), st.integers(0, 6))
def test_a_boundary_never_splits_a_pair(steps: list[int], early: bool, keep: int) -> None:
    entries = conversation(steps, early)
    compacted = compact_locally(entries, keep=keep, before_tokens=9)
    if compacted is None:
        return
    after = [*entries, Compacted(seq=len(entries) + 1, **_fields(compacted))]
    messages = project(after)
    check_valid(messages)
    assert "interrupted" not in str(messages), "every kept call still has its own result"
    assert "mend the parser" in str(messages), "the current request survives"


def _fields(compacted: Compacted) -> dict[str, object]:
    """All but the number, which the log gives."""
    return {k: getattr(compacted, k) for k in compacted.__struct_fields__ if k != "seq"}


def test_the_summary_names_tools_files_open_work_and_the_request() -> None:
    compacted = compact_locally(conversation([1, 1, 1, 1, 1]), keep=4, before_tokens=1)
    assert compacted is not None
    for expected in ("Edit ×3", "/p/c0_0.py", "todo 0", "- Messages: 3 from you, 3 calls."):
        assert expected in compacted.summary
    assert compacted.keeps == (1,), "the request itself stays beside it"


def test_summaries_of_summaries_stay_bounded() -> None:
    entries = conversation([1] * 4)
    sizes = []
    for _ in range(12):
        compacted = compact_locally(entries, keep=2, before_tokens=1)
        assert compacted is not None
        sizes.append(len(compacted.summary))
        entries.append(Compacted(seq=len(entries) + 1, **_fields(compacted)))
        entries += [
            Replied(
                seq=len(entries) + 1 + i,
                turn=1,
                step=9,
                model="m",
                content=(Text(f"more {i}"),),
                stop="end_turn",
                usage=Usage(),
            )
            for i in range(3)
        ]
    assert max(sizes) < 12_000


def test_nothing_old_is_nothing_to_leave_out() -> None:
    assert compact_locally([], before_tokens=1) is None
    assert keeps_from([], 4) == 1


def session_of(*prompts: tuple[str, bool]) -> list[Entry]:
    entries: list[Entry] = []
    for text, steered in prompts:
        entries.append(
            Prompted(seq=len(entries) + 1, turn=1, content=(Text(text),), steered=steered)
        )
        entries += [
            Replied(
                seq=len(entries) + 1 + i,
                turn=1,
                step=i,
                model="m",
                content=(Text(f"answer {i}"),),
                stop="end_turn",
                usage=Usage(),
            )
            for i in range(3)
        ]
    return entries


def compacted_again(entries: list[Entry], times: int) -> str:
    """What the model reads in the end."""
    for _ in range(times):
        compacted = compact_locally(entries, keep=2, before_tokens=1)
        assert compacted is not None
        entries.append(Compacted(seq=len(entries) + 1, **_fields(compacted)))
        entries.append(
            Replied(
                seq=len(entries) + 1,
                turn=1,
                step=9,
                model="m",
                content=(Text("more"),),
                stop="end_turn",
                usage=Usage(),
            )
        )
    return "\n".join(
        block.text
        for message in project(entries)
        for block in message.content
        if isinstance(block, Text)
    )


def test_the_task_survives_any_number_of_compactions() -> None:
    assert "rewrite the parser" in compacted_again(session_of(("rewrite the parser", False)), 5)


def test_the_request_is_never_touched_however_long_it_is() -> None:
    text = "x" * 50_000 + "\nreview this diff"
    assert text in compacted_again(session_of((text, False)), 2)


def test_steering_does_not_replace_the_task() -> None:
    entries = session_of(("rewrite the parser", False), ("also mind the docs", True))
    read = compacted_again(entries, 3)
    assert read.index("rewrite the parser") < read.index("also mind the docs")


def test_pictures_stay_with_the_request() -> None:
    entries = session_of(("look", False))
    first = entries[0]
    assert isinstance(first, Prompted)
    entries[0] = Prompted(seq=1, turn=1, content=(Text("look"), Image("image/png", "QUJD")))
    compacted_again(entries, 2)
    assert any(isinstance(block, Image) for block in project(entries)[0].content)


def test_what_a_hook_added_to_the_request_stays_with_it() -> None:
    entries = session_of(("go", False))
    entries.insert(1, Reminded(seq=2, text="the build is red", source="prompt hook"))
    entries[2:] = [replace(entry, seq=n) for n, entry in enumerate(entries[2:], 3)]
    assert "the build is red" in compacted_again(entries, 3)


def test_earlier_requests_are_told_in_short() -> None:
    entries = session_of(("write the docs", False), ("rewrite the parser", False))
    assert "Earlier requests: write the docs" in compacted_again(entries, 3)


def test_summaries_nest_and_say_how_deep_and_of_what() -> None:
    entries = session_of(("Never use XML.", False), ("go", False))
    compacted_again(entries, 4)
    boundaries = [entry for entry in entries if isinstance(entry, Compacted)]
    assert [entry.depth for entry in boundaries] == [1, 2, 3, 4]
    seqs = [entry.seq for entry in boundaries]
    assert [list(entry.lineage) for entry in boundaries] == [seqs[:n] for n in range(4)]
    assert "an earlier summary, depth 3" in boundaries[-1].summary
    assert boundaries[-1].summary.count("Never use XML.") == 2, "a rule and an earlier request"


def test_fifty_compactions_do_not_make_it_grow() -> None:
    entries = session_of(*((f"Never use port {8000 + n}.", False) for n in range(40)))
    compacted_again(entries, 50)
    sizes = [len(entry.summary) for entry in entries if isinstance(entry, Compacted)]
    assert max(sizes[-15:]) <= min(sizes[-15:]) + 50
    assert max(sizes) < 25_000


def test_a_boundary_counts_messages() -> None:
    entries = conversation([1, 1, 1, 1])
    for keep, replies in ((0, 0), (1, 1), (2, 1), (4, 2), (6, 3)):
        boundary = boundary_of(entries, keep)
        assert boundary is not None
        assert sum(isinstance(entry, Replied) for entry in boundary.kept) == replies


def test_open_work_is_found_by_all_its_words() -> None:
    for word in ("todo", "to-do", "next", "pending", "remaining", "follow up"):
        entries = session_of(("go", False))
        entries[1] = Replied(
            seq=2,
            turn=1,
            step=0,
            model="m",
            content=(Text(f"Something is {word.upper()} here"),),
            stop="end_turn",
            usage=Usage(),
        )
        assert f"Something is {word.upper()} here" in compacted_again(entries, 1)
