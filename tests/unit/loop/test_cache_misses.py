"""When the provider's cache held less than it should, the first thing that changed is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from crewbench import in_loop
from detent.context.cache_watch import LastRequest, changed, last_miss
from detent.testing import reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Image, Text
from detent.types.events import (
    Compacted,
    Entry,
    Notice,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Switched,
    Trim,
    Trimmed,
    Withheld,
)
from detent.types.messages import Request
from kitbench import Bench, BenchTool, BenchTools

WARM = {"cache_read": 9_000, "cache_write": 1_000}
COLD = {"cache_read": 0, "cache_write": 10_000}


async def _nothing(args: Any, desk: Any) -> str:
    return "done"


def tools(*names: str) -> BenchTools:
    return BenchTools(*(BenchTool(name, _nothing) for name in names))


def bench(*answers: Any) -> Bench:
    return resumed((), *answers)


def resumed(entries: Sequence[Entry], *answers: Any) -> Bench:
    found = Bench(ScriptedModel(*answers), toolbox=tools("A", "B"), entries=entries)
    found.kit = replace(found.kit, system=("stable", "session"))
    return found


async def three(between: Callable[[Bench], Any], *answers: Any) -> list[str]:
    """Three turns: a talk, a warm answer, and one that found less in the cache."""
    talk = bench(*(answers or (reply("one", **COLD), reply("two", **WARM), reply("3", **COLD))))
    await talk.turn((Text("first"), Image("image/png", "cGl4")))
    await talk.turn("second")
    assert not misses(talk)
    done = between(talk)
    if done is not None:
        await talk.recorder.emit(done)
    await talk.turn("third")
    return misses(talk)


def misses(talk: Bench) -> list[str]:
    found = [event for event in talk.events if isinstance(event, Notice)]
    return [notice.text for notice in found if "prompt cache" in notice.text]


def first(talk: Bench, kind: type[Entry]) -> int:
    return next(entry.seq for entry in talk.log.entries if isinstance(entry, kind))


def last(talk: Bench) -> int:
    return talk.log.entries[-1].seq


def kit(**changes: Any) -> Callable[[Bench], None]:
    def change(talk: Bench) -> None:
        talk.kit = replace(talk.kit, **changes)

    return change


def _another_model(talk: Bench) -> Switched:
    talk.kit = replace(talk.kit, model=ScriptedModel(reply("3", **COLD), name="other"))
    return Switched(model="other")


def _other_settings(talk: Bench) -> None:
    talk.kit = replace(talk.kit, model=ScriptedModel(reply("3", **COLD)))


CAUSES: dict[str, tuple[Callable[[Bench], Any], str]] = {
    "a tool more": (kit(toolbox=tools("A", "B", "C")), "the list of tools has changed (C came)"),
    "a tool less": (kit(toolbox=tools("A")), "the list of tools has changed (B went)"),
    "a tool first": (kit(toolbox=tools("C", "A", "B")), "the list of tools has changed (C came)"),
    "the stable prompt": (
        kit(system=("other", "session")), "the stable part of the system prompt has changed",
    ),
    "the session's prompt": (
        kit(system=("stable", "other")), "the session's part of the system prompt has changed",
    ),
    "more prompt": (
        kit(system=("stable", "session", "more")), "the system prompt has changed",
    ),
    "another model": (_another_model, "another model answers (scripted → other): switched (entry"),
    "other settings": (_other_settings, "the model was opened with other settings"),
    "a compaction": (
        lambda talk: Compacted(summary="so far", keeps_from=last(talk)),
        "message 1 (from entry 1 on) has changed: compacted (auto) (entry",
    ),
    "a trim": (
        lambda talk: Trimmed(stage="micro", trims=(Trim(first(talk, Replied), "…", 0),)),
        "message 2 (from entry 2 on) has changed: shortened by micro, from entry 2 on (entry",
    ),
    "pictures": (
        lambda talk: Withheld(entries=(first(talk, Prompted),), reason="too large"),
        "message 1 (from entry 1 on) has changed: pictures left out, from entry 1 on (entry",
    ),
    "going back": (
        lambda talk: Rewound(to=first(talk, Replied)),
        "message 3 (from entry 4 on) has changed: went back to entry 2 (entry",
    ),
    "nothing": (
        lambda talk: setattr(talk.clock, "time", talk.clock.time + 600),
        "nothing changed on our side; the last request was 10 min before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CAUSES))
@in_loop
async def test_the_cause_is_named(name: str) -> None:
    between, says = CAUSES[name]
    (told,) = await three(between)
    assert told.startswith("10,000 tokens were not read from the prompt cache: ")
    assert says in told


@in_loop
async def test_undoing_a_compaction_is_named() -> None:
    talk = bench(reply("one", **COLD), reply("two", **WARM), reply("3", **WARM), reply("4", **COLD))
    await talk.turn("first")
    await talk.turn("second")
    await talk.recorder.emit(Compacted(summary="so far", keeps_from=last(talk)))
    compacted = last(talk)
    await talk.turn("third")
    await talk.recorder.emit(Restored(entries=(compacted,)))
    await talk.turn("fourth")
    assert "a compaction, trim or rewind was undone" in misses(talk)[-1]


@pytest.mark.parametrize(
    "answers",
    [
        (reply("1"), reply("2"), reply("3")),  # it does not report
        (reply("1", **COLD), reply("2", **WARM), reply("3", cache_read=10_000, cache_write=100)),
        (reply("1", **COLD), reply("2", **WARM), reply("3", cache_read=8_100)),  # a little less
        (reply("1", cache_read=0), reply("2", cache_read=5_000), reply("3", cache_read=4_096)),
        (reply("1", **COLD), reply("2", **WARM), reply("3", input=0, output=0)),  # no usage
    ],
)
@in_loop
async def test_no_false_alarm(answers: tuple[Any, ...]) -> None:
    assert await three(lambda talk: None, *answers) == []


@in_loop
async def test_after_a_resume_the_log_alone_is_known() -> None:
    talk = bench(reply("one", **COLD), reply("two", **WARM))
    await talk.turn("first")
    await talk.turn("second")
    for extra, says in (
        ([], "the session was resumed; nothing changed on our side"),
        ([Compacted(summary="s", keeps_from=3)], "older messages have changed: compacted (auto)"),
    ):
        again = resumed(talk.log.entries, reply("3", **COLD))
        for entry in extra:
            await again.recorder.emit(entry)
        await again.turn("third")
        (told,) = misses(again)
        assert says in told
        assert ("nothing changed on our side" in last_miss(again.log.entries)) is (not extra)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"toolbox": tools("A", "B", "C")}, "the list of tools has changed"),
        ({"system": ("other", "session")}, "the stable part of the system prompt has changed"),
        ({"system": ("stable", "other")}, "the session's part of the system prompt has changed"),
        ({"system": ("stable",)}, "the system prompt has changed"),
        ({"system": ("stable", "session")}, "nothing changed on our side"),
    ],
)
@in_loop
async def test_after_a_resume_digests_tell_of_prompt_and_tools(
    changes: dict[str, Any], says: str
) -> None:
    talk = bench(reply("one", **COLD), reply("two", **WARM))
    await talk.turn("first")
    await talk.turn("second")
    heads = [entry.head for entry in talk.log.entries if isinstance(entry, Replied)]
    assert heads[0]
    assert heads[1] == "", "kept once"
    again = resumed(talk.log.entries, reply("3", **COLD))
    again.kit = replace(again.kit, **changes)
    await again.turn("third")
    (told,) = misses(again)
    assert f"the session was resumed; {says}" in told
    assert says in last_miss(again.log.entries)


@in_loop
async def test_what_no_request_had_held_is_no_cause() -> None:
    """A result that was shortened before it was sent."""
    fresh = Reminded(text="long " * 99, source="x")

    def shorten(talk: Bench) -> Trimmed:
        return Trimmed(stage="result_budget", trims=(Trim(last(talk), "short"),))

    answers = (reply("one", **COLD), reply("two", **WARM), reply("3", **COLD))
    talk = bench(*answers)
    await talk.turn("first")
    await talk.turn("second")
    await talk.recorder.emit(fresh)
    await talk.recorder.emit(shorten(talk))
    await talk.turn("third")
    (told,) = misses(talk)
    assert "nothing changed on our side" in told
    assert "nothing changed on our side" in last_miss(talk.log.entries)


@in_loop
async def test_the_log_tells_of_the_last_miss() -> None:
    talk = bench(reply("one", **COLD), reply("two", **WARM))
    await talk.turn("first")
    await talk.turn("second")
    assert last_miss(talk.log.entries) == ""


def test_a_part_of_the_prompt_is_named_with_its_heading() -> None:
    def asked(session: str) -> LastRequest:
        request = Request(("# Work\nwell", session), (), ())
        return LastRequest(request, ("m", "p"), None, 1, 0.0, 9_000)

    before = asked("# Permissions\nall\n# Place\nhere")
    assert changed(before, asked("# Permissions\nall\n# Place\nthere"), ()) == (
        "the session's part of the system prompt has changed (Place)"
    )
