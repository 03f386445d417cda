"""The summary made without a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.context.compact.local import compact_locally, keeps_from
from detent.context.project import project
from detent.types.content import Call, Text
from detent.types.effects import Reads, Writes
from detent.types.events import CallEnded, CallStarted, Compacted, Entry, Prompted, Replied
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid


def conversation(steps: list[int], early: bool = False) -> list[Entry]:
    """A prompt, then steps with so many calls; a call may start before its answer is whole."""
    entries: list[Entry] = [Prompted(seq=1, turn=1, content=(Text("mend the parser"),))]

    def add(entry: Entry) -> None:
        from msgspec.structs import replace

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
    return {
        "summary": compacted.summary,
        "keeps_from": compacted.keeps_from,
        "before_tokens": compacted.before_tokens,
        "trigger": compacted.trigger,
    }


def test_the_summary_names_tools_files_open_work_and_the_request() -> None:
    compacted = compact_locally(conversation([1, 1, 1, 1, 1]), keep=4, before_tokens=1)
    assert compacted is not None
    for expected in ("Edit", "/p/c0_0.py", "todo 0", "mend the parser", "1 from the user"):
        assert expected in compacted.summary


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
    summary = ""
    for _ in range(times):
        compacted = compact_locally(entries, keep=2, before_tokens=1)
        assert compacted is not None
        summary = compacted.summary
        entries.append(Compacted(seq=len(entries) + 1, **_fields(compacted)))
        entries += session_of()
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
    return summary


def test_the_task_survives_any_number_of_compactions() -> None:
    assert "rewrite the parser" in compacted_again(session_of(("rewrite the parser", False)), 5)


def test_the_instruction_behind_a_long_context_survives() -> None:
    text = "x" * 50_000 + "\nreview this diff"
    assert "review this diff" in compacted_again(session_of((text, False)), 2)


def test_steering_does_not_replace_the_task() -> None:
    entries = session_of(("rewrite the parser", False), ("also mind the docs", True))
    summary = compacted_again(entries, 1)
    assert "current request:\nrewrite the parser" in summary
    assert "also mind the docs" in summary


def test_open_work_is_found_by_all_its_words() -> None:
    for word in ("todo", "next", "pending", "remaining"):
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
