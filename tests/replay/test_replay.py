"""What a replay notices, what it takes as given, and what it says of itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.options import Options
from detent.app.replay import quiet_loop
from detent.app.replay.session import replayed
from detent.loop import compacting, limits, relief, rest, spending, step, summarising
from detent.sdk.replay import Differs, replay, verify
from detent.sdk.session import Session
from detent.session.cutting import results_lacking, whole
from detent.session.log import frame, framed
from detent.testing import Fault, call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.durable import Durable
from detent.types.errors import BadInput
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Lost,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Trimmed,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.running import Equipped, Unanswered
from detent.types.usage import Usage
from replay.fuzzed import fuzzed


class Home:
    """A folder to work in, and sessions in it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.home = folder / "work", folder / "home"
        self.work.mkdir()
        (self.work / "a.txt").write_text("hello\n")

    def session(self, *replies: Any, prompts: Sequence[str] = ("go",), **more: Any) -> str:
        """The path of its log."""
        model = more.pop("model", None) or ScriptedModel(*replies)
        options = Options(
            model=model,
            cwd=str(self.work),
            environ={"HOME": str(self.home), "DETENT_HOME": str(self.home), "PATH": os.defpath},
            permission_mode=more.pop("mode", "bypassPermissions"),
            **more,
        )

        async def run() -> str:
            async with Session(options) as session:
                for prompt in prompts:
                    async for _ in session.send(prompt):
                        pass
                return session.path

        return asyncio.run(run())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


WORK = (
    reply(call("Read", file_path="a.txt"), call("Bash", command="echo hi"), call("Nope")),
    reply(call("Edit", file_path="a.txt", old_string="hello", new_string="bye")),
    "done",
)


def test_a_real_session_comes_out_again(home: Home) -> None:
    path = home.session(*WORK, "and so on", Fault(status=500), prompts=("go", "on", "fail"))
    before = Path(path).read_bytes()
    events: list[Any] = []
    replay(path, events.append)
    assert b"".join(frame(e) for e in events if isinstance(e, Durable)) == before
    report = verify(path)
    assert report.entries == before.count(b"\n")
    assert (report.made, report.given, report.turns) == (report.entries - 2, 2, 3)
    assert Path(path).read_bytes() == before


def test_nothing_is_run_or_touched(home: Home) -> None:
    path = home.session(reply(call("Bash", command="echo x >> grows.txt")), "done")
    assert (home.work / "grows.txt").read_text() == "x\n"
    verify(path)
    assert (home.work / "grows.txt").read_text() == "x\n"


def test_every_run_begins_with_what_it_goes_by(home: Home) -> None:
    path = home.session(*WORK)
    home.session("again", resume=Path(path).stem)
    entries = _entries(path)
    equipped = [entry for entry in entries if isinstance(entry, Equipped)]
    assert [entry.begins for entry in equipped] == [True, True]
    assert "You are Detent" in equipped[0].system[0]
    assert '"name":"Bash"' in equipped[0].tools
    assert verify(path).turns == 2


def test_another_model_between_turns_is_told(home: Home) -> None:
    model = ScriptedModel("one", "two")
    options = {"model": model, "prompts": ("go",)}
    path = home.session(**options)  # type: ignore[arg-type]
    home.session("more", resume=Path(path).stem, model=ScriptedModel("more", window=9_000))
    windows = [entry.window for entry in _entries(path) if isinstance(entry, Equipped)]
    assert windows == [200_000, 9_000]
    verify(path)


def _entries(path: str) -> list[Entry]:
    from detent.session.reading import read_log

    return list(read_log(path).entries)


def _rewritten(path: str, entries: Sequence[Entry]) -> str:
    other = os.path.join(os.path.dirname(path), "other.jsonl")
    Path(other).write_bytes(b"".join(frame(entry) for entry in entries))
    return other


def _changed(path: str, kind: type, **fields: Any) -> str:
    """The log with the first entry of that kind changed, and a fitting checksum."""
    entries = _entries(path)
    place = next(i for i, entry in enumerate(entries) if isinstance(entry, kind))
    entries[place] = replace(entries[place], **fields)
    return _rewritten(path, entries)


@pytest.mark.parametrize(
    ("kind", "fields", "noticed"),
    [
        (Replied, {"usage": Usage(input=999)}, "turnended"),
        (Replied, {"ms": 123_456}, "turnended"),
        (Replied, {"step": 7}, "replied"),
        (Replied, {"stop": "end_turn"}, "turnended"),
        (CallEnded, {"name": "Write"}, "callended"),
        (TurnEnded, {"usage": Usage(input=1)}, "turnended"),
        (TurnEnded, {"requests": 77}, "turnended"),
        (TurnEnded, {"reason": "max_turns"}, "turnended"),
    ],
)
def test_a_changed_entry_is_noticed(
    home: Home, kind: type, fields: dict[str, Any], noticed: str
) -> None:
    path = home.session(*WORK)
    with pytest.raises(Differs) as told:
        verify(_changed(path, kind, **fields))
    difference = told.value.report.difference
    assert difference is not None and difference.type == noticed


def test_a_result_that_was_changed_shows_where_it_is_shortened(home: Home) -> None:
    """What a tool came to is an input; what the loop makes of it is not."""
    (home.work / "a.txt").write_text("word " * 4_000)
    calls = [call("Bash", command="cat a.txt") for _ in range(8)]
    path = home.session(reply(*calls), "done")
    assert any(isinstance(entry, Trimmed) for entry in _entries(path))
    verify(path)
    with pytest.raises(Differs):
        verify(_changed(path, CallEnded, outcome=done("short")))


def test_another_order_is_noticed(home: Home) -> None:
    path = home.session(*WORK)
    entries = _entries(path)
    started = next(i for i, e in enumerate(entries) if isinstance(e, CallStarted))
    ended = next(
        i
        for i, e in enumerate(entries)
        if isinstance(e, CallEnded) and e.call_id == entries[started].call_id  # type: ignore[union-attr]
    )
    one, other = entries[started], entries[ended]
    entries[started] = replace(other, seq=one.seq)
    entries[ended] = replace(one, seq=other.seq)
    with pytest.raises(Differs):
        verify(_rewritten(path, entries))


def test_an_entry_too_many_and_one_too_few_are_noticed(home: Home) -> None:
    path = home.session(*WORK)
    entries = _entries(path)
    ended = next(i for i, e in enumerate(entries) if isinstance(e, CallEnded))
    fewer = [*entries[:ended], *entries[ended + 1 :]]
    numbered = [replace(entry, seq=number) for number, entry in enumerate(fewer, 1)]
    with pytest.raises(Differs):
        verify(_rewritten(path, numbered))
    extra = CallEnded(call_id="x", name="Read", outcome=done("from nowhere"))
    more = [*entries[:ended], extra, *entries[ended:]]
    numbered = [replace(entry, seq=number) for number, entry in enumerate(more, 1)]
    with pytest.raises(Differs):
        verify(_rewritten(path, numbered))


@pytest.mark.parametrize(
    ("module", "name", "value", "seed"),
    [
        (relief, "WORTH_IT", 10, 2),
        (compacting, "MOST_LEFT", 0.1, 2),
        (summarising, "MOST_FAILURES", 1, 47),
        (limits, "BLOCKED_AT", 0.2, 1),
        (step, "MORE_ROOM", 100, 2),
        (rest, "MOST_PAUSES", 0, 3),
        (rest, "MOST_BROKEN_OFF", 1, 45),
    ],
)
def test_another_program_comes_out_otherwise(
    module: Any, name: str, value: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed threshold shows where a session came near it."""
    entries = fuzzed(seed)
    assert replayed(entries).difference is None
    monkeypatch.setattr(module, name, value)
    assert replayed(entries).difference is not None


def test_a_killed_session_is_replayed_as_far_as_it_came(home: Home) -> None:
    path = home.session(*WORK)
    entries = _entries(path)
    for end in range(3, len(entries)):
        report = replay(_rewritten(path, entries[:end]))
        assert report.difference is None, f"cut behind {end}: {report.difference}"
        assert report.entries == end


def test_damage_is_told_and_the_rest_is_replayed(home: Home) -> None:
    path = home.session(*WORK, "more", prompts=("go", "on"))
    lines = Path(path).read_bytes().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(b"more", b"less")
    Path(path).write_bytes(b"".join(lines))
    report = replay(path)
    assert report.difference is None
    assert report.unchecked == 2, "the line itself, and what stands behind it"
    assert report.why_unchecked == ("1 damaged line",)
    assert report.turns == 2


@pytest.mark.parametrize(
    "last", [b"rubbish\n", framed(b'{"type":"hologram","seq":99}', lambda: None)]
)
def test_a_last_line_that_nobody_can_read_is_not_passed_over(home: Home, last: bytes) -> None:
    path = Path(home.session(*WORK))
    path.write_bytes(path.read_bytes() + last)
    report = replay(str(path))
    assert report.difference is None and report.unchecked == 1


def test_a_session_of_the_first_format_cannot_be_checked(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden" / "log-v1.jsonl"
    report = replay(str(golden))
    assert report.difference is None
    assert report.made == 0 and report.unchecked > 0
    assert "without what a replay goes by" in report.why_unchecked[-1]


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("nothing of ours\n")
    with pytest.raises(BadInput, match="no session"):
        replay(str(tmp_path / "x.jsonl"))
    with pytest.raises(BadInput, match="cannot be read"):
        replay(str(tmp_path / "y.jsonl"))


def test_a_failed_request_stands_in_the_log(home: Home) -> None:
    path = home.session(Fault(status=529))
    (unanswered,) = [entry for entry in _entries(path) if isinstance(entry, Unanswered)]
    assert (unanswered.kind, unanswered.status) == ("overloaded", 529)
    verify(path)


def test_ids_that_the_model_wrote_stand_in_the_log(home: Home) -> None:
    twice = [reply(call("Read", file_path="a.txt", id="call_0")) for _ in range(2)]
    path = home.session(*twice, "done")
    sent = [entry.sent for entry in _entries(path) if isinstance(entry, Replied)]
    assert sent[0] == {} and list(sent[1].values()) == ["call_0"]
    verify(path)


def test_the_words_of_a_summary_stand_in_the_log() -> None:
    """Else what was added to them could not be told apart."""
    made = [
        entry
        for seed in range(40)
        for entry in fuzzed(seed)
        if isinstance(entry, Compacted) and entry.by == "model"
    ]
    assert made
    assert all(entry.written and entry.written not in entry.summary for entry in made)


def test_a_reader_gets_what_happened(home: Home) -> None:
    events: list[Any] = []
    path = home.session(*WORK)
    replay(path, events.append)
    assert [e for e in events if isinstance(e, Opened | Replied | CallEnded | TurnEnded)] == [
        e for e in _entries(path) if isinstance(e, Opened | Replied | CallEnded | TurnEnded)
    ]


def test_what_is_as_before_is_not_told_again(home: Home) -> None:
    path = home.session("one")
    for _ in range(2):
        home.session("again", resume=Path(path).stem)
    home.session("other", resume=Path(path).stem, system_prompt="Be brief.")
    home.session("and on", resume=Path(path).stem, system_prompt="Be brief.")
    told = [entry for entry in _entries(path) if isinstance(entry, Equipped)]
    both = ("system", "tools")
    assert [entry.same for entry in told] == [(), both, both, ("tools",), both]
    assert [bool(entry.system) for entry in told] == [True, False, False, True, False]
    assert [bool(entry.tools) for entry in told] == [True, False, False, False, False]
    assert len(frame(told[1])) < 1_000
    verify(path)


def test_the_report_tells_what_was_only_written_down_again(home: Home) -> None:
    said = "x" * 5_000
    report = verify(home.session(said))
    assert 5_000 < report.inputs < report.bytes
    assert report.bytes - report.inputs < 5_000


def test_a_signed_call_comes_out_again() -> None:
    signed = [
        (seed, entry)
        for seed in range(12)
        for entry in fuzzed(seed)
        if isinstance(entry, Replied) and any(getattr(b, "signature", "") for b in entry.content)
    ]
    assert signed
    assert all(replayed(fuzzed(seed)).difference is None for seed, _ in signed)


@pytest.mark.parametrize("last", range(3, 13))
def test_a_fork_comes_out_again_as_far_as_it_was_copied(home: Home, last: int) -> None:
    path = home.session(*WORK)
    entries = _entries(path)
    assert len(entries) > last
    cut = whole(entries, last)
    opened = replace(entries[0], parent="p", forked_at=cut)
    assert isinstance(opened, Opened)
    copied: list[Entry] = [opened, *(e for e in entries[1:] if e.seq <= cut)]
    note = Reminded(text="[The session goes on elsewhere.]", source="fork")
    added = [
        replace(entry, seq=number)
        for number, entry in enumerate((*results_lacking(copied), note), cut + 1)
    ]
    report = verify(_rewritten(path, [*copied, *added]))
    assert report.entries == report.made + report.given


def test_a_fork_has_not_all_numbers_of_its_parent(home: Home) -> None:
    path = home.session("one", "two", prompts=("go", "on"))
    entries = _entries(path)
    second = next(i for i, e in enumerate(entries) if isinstance(e, Prompted) and e.turn == 2)
    moved = [replace(e, seq=e.seq + 1) if i >= second else e for i, e in enumerate(entries)]
    holed = _rewritten(path, moved)
    assert replay(holed).unchecked == len(entries) - second
    forked = replace(moved[0], parent="p", forked_at=moved[-1].seq)
    report = verify(_rewritten(path, [forked, *moved[1:]]))  # type: ignore[list-item]
    assert (report.unchecked, report.turns) == (0, 2)


def test_calls_that_could_not_have_overlapped_are_noticed(home: Home) -> None:
    """Two that write, begun before the first of them ended."""
    edit = [call("Write", file_path=f"{name}.txt", content=name) for name in "xy"]
    path = home.session(reply(*edit), "done")
    entries = _entries(path)
    calls = [i for i, e in enumerate(entries) if isinstance(e, CallStarted | CallEnded)]
    ended, started = calls[1], calls[2]
    assert isinstance(entries[ended], CallEnded) and isinstance(entries[started], CallStarted)
    one, other = entries[ended], entries[started]
    entries[ended], entries[started] = replace(other, seq=one.seq), replace(one, seq=other.seq)
    bare = [replace(e, kept={}) if isinstance(e, CallStarted) else e for e in entries]
    bare = [replace(e, changed=()) if isinstance(e, CallEnded) else e for e in bare]
    with pytest.raises(Differs):
        verify(_rewritten(path, bare))


def test_a_loop_that_goes_in_circles_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never tells of an attempt that came to nothing."""

    async def silent(self: Any, *, is_told: bool = True) -> None:
        self.end(self.counted)

    sessions = (fuzzed(seed) for seed in range(50))
    losing = next(entries for entries in sessions if any(isinstance(e, Lost) for e in entries))
    assert replayed(losing).difference is None
    monkeypatch.setattr(spending.Meter, "lose", silent)
    assert replayed(losing).difference is not None


def test_a_turn_that_never_ends_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async def for_ever(*rest: Any) -> bool:
        while True:
            await asyncio.sleep(0)

    path = home.session("one")
    monkeypatch.setattr("detent.loop.turn.at_rest", for_ever)
    monkeypatch.setattr(quiet_loop, "MOST_ROUNDS", 2_000)
    difference = replay(path).difference
    assert difference is not None and "hangs" in difference.got
