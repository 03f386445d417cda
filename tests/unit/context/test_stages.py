"""Each stage by itself: what it shortens, what it leaves alone, and that it says so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from detent.context.bounds import kept_in, shortened
from detent.context.compact import collapse, micro, result_budget, snip_messages, snip_window
from detent.context.compact.view import View, chosen
from detent.context.conversation import Conversation
from detent.context.project import effective, project
from detent.context.trims import shorter, words_of
from detent.types.codec import arguments_object
from detent.types.content import Call, Image, Result, Text, Thinking, plain_text
from detent.types.effects import Effect, Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Trim,
    Trimmed,
)
from detent.types.messages import User
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid

ALL = 10**9


def prompt(text: str, *, steered: bool = False) -> Prompted:
    return Prompted(turn=1, content=(Text(text),), steered=steered)


def said(*blocks: Text | Call | Thinking) -> Replied:
    return Replied(turn=1, step=1, model="m", content=blocks, stop="end_turn", usage=Usage())


def step(
    call_id: str,
    result: str | Outcome,
    *,
    name: str = "Bash",
    arguments: str = "{}",
    effects: tuple[Effect, ...] = (),
    text: str = "",
) -> list[Entry]:
    started = CallStarted(
        call_id=call_id, name=name, arguments=arguments, effects=effects, verdict=Allow("t")
    )
    outcome = done(result) if isinstance(result, str) else result
    words = (Text(text),) if text else ()
    return [
        said(*words, Call(call_id, name, arguments)),
        started,
        CallEnded(call_id=call_id, name=name, outcome=outcome),
    ]


def log(*entries: Entry | list[Entry]) -> list[Entry]:
    flat: list[Entry] = []
    for entry in entries:
        flat += entry if isinstance(entry, list) else [entry]
    return [replace(entry, seq=number) for number, entry in enumerate(flat, 1)]


def after(
    stage: object, entries: list[Entry], *, keep: int = 4, critical: bool = False
) -> list[Entry]:
    """The entries with what the stage says of them."""
    view = View(effective(entries), keep, is_critical=critical)
    choice = chosen(view, stage.trims(view), ALL)  # type: ignore[attr-defined]
    if not choice.trims:
        return entries
    return [*entries, Trimmed(seq=len(entries) + 1, stage="x", trims=choice.trims)]


def results(entries: Sequence[Entry]) -> list[str]:
    messages = project(entries)
    check_valid(messages)
    found = [b for m in messages if isinstance(m, User) for b in m.content if isinstance(b, Result)]
    return [plain_text(result.content) for result in found]


RECENT = [*step("y", "recent"), *step("z", "last")]
"""The kept tail of four messages."""


# --- result_budget


def fresh(*sizes: int) -> list[CallEnded]:
    return [
        CallEnded(seq=number, call_id=f"c{number}", name="Bash", outcome=done("x" * size))
        for number, size in enumerate(sizes, 1)
    ]


def test_results_within_the_budget_stay_whole() -> None:
    assert result_budget.trims(fresh(4_000, 6_000), 10_000, lambda entry, text: "") == ()


def test_the_largest_results_are_shortened_first() -> None:
    put_away: list[tuple[str, int]] = []

    def keep(entry: CallEnded, text: str) -> str:
        put_away.append((entry.call_id, len(text)))
        return f"/kept/{entry.call_id}"

    found = result_budget.trims(fresh(50_000, 1_000, 9_000, 2_000), 16_000, keep)
    assert [trim.entry for trim in found] == [1, 3], "the small ones stay whole"
    assert sum(len(trim.text) for trim in found) <= 13_000
    assert put_away == [("c1", 50_000), ("c3", 9_000)]
    assert "the whole is in /kept/c1" in found[0].text


@pytest.mark.parametrize(
    ("sizes", "most", "level"),
    [([5, 5], 10, 5), ([1, 9], 6, 5), ([1, 9, 9], 7, 3), ([], 5, 0), ([10, 10, 1], 9, 4)],
)
def test_what_each_result_may_have(sizes: list[int], most: int, level: int) -> None:
    assert result_budget.level_of(sizes, most) == level
    assert sum(min(size, level) for size in sizes) <= most


def test_a_great_many_results_keep_some_of_each() -> None:
    found = result_budget.trims(fresh(*[2_000] * 100), 10_000, lambda entry, text: "")
    assert {len(trim.text) for trim in found} == {result_budget.LEAST}


def test_a_result_that_lies_in_a_file_gets_no_second_one() -> None:
    first = result_budget.trims(fresh(90_000, 90_000), 50_000, lambda entry, text: "/kept/a")
    again = [
        CallEnded(seq=trim.entry, call_id=f"c{trim.entry}", name="Bash", outcome=done(trim.text))
        for trim in first
    ]
    second = result_budget.trims(again, 20_000, lambda entry, text: "/kept/wrong")
    assert [kept_in(trim.text) for trim in second] == ["/kept/a", "/kept/a"]


def test_the_budget_follows_the_window_and_the_wish() -> None:
    assert result_budget.budget_of(200_000, 30_000) == 100_000
    assert result_budget.budget_of(200_000, 150_000) == 150_000, "who wants more of one gets it"
    assert result_budget.budget_of(8_000, 30_000) == 16_000, "half of a small window"


def test_pictures_and_refusals_are_left_alone() -> None:
    picture = Done((Text("x" * 9_000), Image("image/png", "aGk=")))
    assert words_of(picture) == "" and words_of(Refused("x" * 9_000, "rule")) == ""
    assert words_of(Failed("no")) == "no" and words_of(Cut("time", "so far")) == "so far"


def test_what_a_request_has_held_is_no_longer_fresh() -> None:
    conversation = Conversation(log(prompt("go"), step("a", "one")))
    assert [entry.call_id for entry in conversation.fresh_results()] == ["a"]
    conversation.add(replace(said(Text("well")), seq=9))
    assert conversation.fresh_results() == []


def test_a_result_that_is_shortened_before_it_was_sent_is_counted_as_it_is() -> None:
    entries = log(prompt("go"), step("a", "word " * 2_000))
    conversation = Conversation(entries)
    whole, sent = conversation.tokens(), conversation.messages()
    trimmed = Trimmed(seq=9, stage="result_budget", trims=(Trim(entries[-1].seq, "word " * 500),))
    conversation.add(trimmed)
    assert (
        conversation.tokens() == Conversation(log(prompt("go"), step("a", "word " * 500))).tokens()
    )
    assert conversation.tokens() < whole / 3
    assert conversation.messages()[0] is sent[0], "what was sent is not made anew"


def test_a_trim_of_a_result_that_does_not_count_changes_nothing() -> None:
    """A damaged log may hold two results of one call: the first one counts."""
    entries = log(prompt("go"), step("a", "first"), step("a", "second")[2])
    conversation = Conversation(entries)
    conversation.add(Trimmed(seq=9, stage="x", trims=(Trim(entries[-1].seq, "short"),)))
    assert conversation.messages() == project(entries)


# --- snip_window


def turns(count: int) -> list[Entry]:
    entries: list[Entry | list[Entry]] = []
    for number in range(count):
        entries += [
            prompt(f"wish {number}"),
            step(f"a{number}", "r" * 900, text="I look"),
            prompt(f"also {number}", steered=True),
            step(f"b{number}", "s" * 900, name="Read"),
            said(Text(f"answer {number}")),
        ]
    return log(*entries)


def test_old_turns_keep_what_was_said_and_the_last_answer() -> None:
    messages = project(after(snip_window, turns(5)))
    check_valid(messages)
    assert len(results(after(snip_window, turns(5)))) == 6, "those of the last three turns"
    first, answer, second = messages[:3]
    assert plain_text(first.content) == "wish 0also 0"  # type: ignore[arg-type]
    note = "[2 calls and their results are left out: Bash ×1, Read ×1]"
    assert plain_text(answer.content) == f"{note}\n\nanswer 0"  # type: ignore[arg-type]
    assert plain_text(second.content) == "wish 1also 1"  # type: ignore[arg-type]


def test_the_last_turns_stay_whole() -> None:
    entries = turns(3)
    assert after(snip_window, entries) == entries


def test_the_oldest_turn_goes_first_and_no_more_than_is_needed() -> None:
    view = View(effective(turns(6)), 4)
    choice = chosen(view, snip_window.trims(view), 1)
    entries = {entry.seq: entry for entry in view.entries}
    assert {entries[trim.entry].seq for trim in choice.trims} <= set(range(1, 10))
    assert choice.saved >= 1


def test_an_interrupted_turn_keeps_its_words() -> None:
    entries = log(prompt("w"), step("a", "r" * 900, text="I begin"), turns(3))
    messages = project(after(snip_window, entries))
    check_valid(messages)
    assert plain_text(messages[1].content).endswith("left out: Bash ×1]\n\nI begin")  # type: ignore[arg-type]


def test_a_call_that_cannot_be_told_from_its_twin_stays() -> None:
    """In a damaged log: to leave out the one would take the result of the other."""
    old, new = step("a", "old " * 300), step("a", "new " * 300)
    entries = log(prompt("w"), old, said(Text("ok")), turns(2), prompt("last"), new)
    assert results(after(snip_window, entries))[-1] == "new " * 300


def test_what_the_user_answered_stays() -> None:
    asked = step("q", "The user chose blue." * 50, name="AskUserQuestion")
    entries = after(snip_window, log(prompt("w"), asked, said(Text("ok")), turns(3)))
    assert any("chose blue" in text for text in results(entries))


# --- snip_messages


def many(*old: list[Entry]) -> list[Entry]:
    """Old steps, and enough new ones that they are old."""
    newer = [step(f"n{number}", "new") for number in range(8)]
    return log(prompt("go"), *old, *newer)


def test_old_results_become_stubs_with_a_preview() -> None:
    entries = after(snip_messages, many(step("a", "The beginning. " + "x" * 5_000)))
    (stub, *rest) = results(entries)
    assert stub.startswith("[snipped: 5,015 characters. It began: The beginning. xxx")
    assert len(stub) < 200 and rest == ["new"] * 8


def test_the_file_of_a_shortened_result_is_still_named() -> None:
    kept = shortened("x" * 9_000, 2_000, lambda text: "/f/a")
    assert "; the whole is in /f/a. It began: xxx" in snip_messages.stub(kept)


def test_long_arguments_stay_an_object_with_their_short_values() -> None:
    given = '{"file_path":"/p/a","content":"' + "x" * 4_000 + '","edits":[' + "1," * 900 + "1]}"
    entries = after(snip_messages, many(step("a", "ok", name="Write", arguments=given)))
    call = next(b for m in project(entries) for b in m.content if isinstance(b, Call))
    found = arguments_object(call.arguments)
    assert found is not None and found["file_path"] == "/p/a"
    assert found["content"].startswith("[snipped: 4,000 characters")
    assert found["edits"].startswith("[snipped: ")


@pytest.mark.parametrize(
    "given", ["{bad" + "x" * 2_000, "[" + "1," * 900 + "1]", '"' + "x" * 2_000 + '"']
)
def test_arguments_that_are_no_object_become_one(given: str) -> None:
    assert arguments_object(snip_messages.short_arguments(given)) is not None


def test_long_texts_go_last() -> None:
    old = step("a", "r" * 5_000, text="t" * 5_000)
    view = View(effective(many(old)), 4)
    first, second = (group[0] for group in snip_messages.trims(view))
    assert (first.block, second.block) == (-1, 0), "a result before a text"


def test_signed_calls_prompts_boundaries_and_reminders_are_not_touched() -> None:
    signed = said(
        Thinking("t" * 5_000, "sig"), Call("s", "Bash", '{"a":"' + "x" * 3_000 + '"}', "sig")
    )
    ended = CallEnded(call_id="s", name="Bash", outcome=done("ok"))
    entries = many(
        [Compacted(summary="s" * 5_000, keeps_from=0), prompt("p" * 5_000)],
        [Reminded(text="m" * 5_000, source="memory", path="/m"), signed, ended],
    )
    assert after(snip_messages, entries) == entries


def test_the_tail_is_kept_and_a_stub_is_not_snipped_again() -> None:
    recent = log(prompt("go"), *[step(f"n{n}", "x" * 5_000) for n in range(8)])
    assert after(snip_messages, recent) == recent
    once = after(
        snip_messages, many(step("a", "x" * 5_000, arguments='{"a":"' + "y" * 3_000 + '"}'))
    )
    assert after(snip_messages, once) == once


def test_what_would_save_nothing_is_not_taken() -> None:
    view = View(effective(many(step("a", "short"))), 4)
    longer = [(Trim(4, "a much longer text than there was before it was cut " * 9),)]
    assert chosen(view, longer, ALL).trims == ()


# --- micro


def test_oversized_old_results_keep_head_and_tail() -> None:
    entries = after(micro, log(prompt("go"), step("a", "head" + "x" * 9_000 + "tail"), RECENT))
    cut, *rest = results(entries)
    assert cut.startswith("head") and cut.endswith("tail") and len(cut) <= micro.LEFT
    assert "9,008 characters in all" in cut and rest == ["recent", "last"]
    assert after(micro, entries) == entries


def test_recent_results_only_when_the_window_is_nearly_full() -> None:
    entries = log(prompt("go"), step("y", "x" * 9_000), step("z", "y" * 9_000))
    assert after(micro, entries) == entries
    first, last = results(after(micro, entries, critical=True))
    assert len(first) <= micro.LEFT and len(last) == 9_000, "never the last message"


# --- collapse


def read(call_id: str, text: str, arguments: str = '{"file_path":"/p/a"}') -> list[Entry]:
    return step(call_id, text, name="Read", arguments=arguments, effects=(Reads("/p/a"),))


def test_an_older_view_of_a_file_points_to_the_later_one() -> None:
    entries = log(prompt("go"), read("a", "old " * 200), read("b", "new " * 200), RECENT)
    first, second, *_ = results(after(collapse, entries))
    assert first == "[/p/a was read again, see below]" and second == "new " * 200


def test_a_view_of_a_file_that_was_changed_since() -> None:
    write = step("w", "ok", name="Edit", effects=(Writes("/p/a"),))
    first, *_ = results(after(collapse, log(prompt("go"), read("a", "old " * 200), write, RECENT)))
    assert first == "[/p/a as it was before it was changed, see below]"


def test_a_part_does_not_stand_for_the_whole() -> None:
    part = read("b", "part " * 100, '{"file_path":"/p/a","offset":9}')
    entries = log(prompt("go"), read("a", "old " * 200), part, RECENT)
    assert after(collapse, entries) == entries


def test_a_failed_read_or_write_stands_for_nothing() -> None:
    failed = step("w", Failed("no"), name="Edit", effects=(Writes("/p/a"),))
    again = step("r", Failed("no"), name="Read", effects=(Reads("/p/a"),))
    entries = log(prompt("go"), read("a", "old " * 200), failed, again, RECENT)
    assert after(collapse, entries) == entries


def test_the_same_command_with_the_same_result() -> None:
    run = ("x " * 400, "Bash", '{"command":"make"}')
    twice = [step(c, run[0], name=run[1], arguments=run[2]) for c in ("a", "b")]
    other = step("c", "y " * 400, arguments='{"command":"make"}')
    first, second, third, *_ = results(after(collapse, log(prompt("go"), *twice, other, RECENT)))
    assert first == "[the same call gave the same result again, see below]"
    assert (second, third) == (run[0], "y " * 400)


def test_the_later_view_may_be_the_last_message() -> None:
    entries = log(
        prompt("go"), read("a", "old " * 200), step("y", "recent"), read("b", "new " * 200)
    )
    first, *_ = results(after(collapse, entries))
    assert first == "[/p/a was read again, see below]"


# --- trims


def test_a_trim_says_the_same_kind_of_thing() -> None:
    def trimmed(outcome: Outcome) -> Outcome:
        entry = shorter(CallEnded(seq=1, call_id="a", name="T", outcome=outcome), Trim(1, "short"))
        assert isinstance(entry, CallEnded)
        return entry.outcome

    assert trimmed(Done((Text("long"),), {"n": 1})) == Done((Text("short"),), {"n": 1})
    assert trimmed(Failed("long")) == Failed("short")
    assert trimmed(Cut("time is up", "long")) == Cut("time is up", "short")
    assert trimmed(Refused("no", "rule")) == Refused("no", "rule")


def test_the_last_to_do_list_stays() -> None:
    lists = [
        step(f"t{n}", "ok", name="TodoWrite", arguments='{"todos":"' + f"{n}" * 2_000 + '"}')
        for n in range(2)
    ]
    entries = after(snip_messages, many(*lists))
    first, second = [
        b.arguments for m in project(entries) for b in m.content
        if isinstance(b, Call) and b.name == "TodoWrite"
    ]  # fmt: skip
    assert len(first) < 400 and len(second) > 2_000
