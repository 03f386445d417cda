"""Append first, show second; and what people are told of a log that is in trouble."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app import durability
from detent.app import recorder as recorder_module
from detent.app.durability import Power
from detent.app.recorder import Recorder
from detent.context.conversation import Conversation
from detent.session import log as log_module
from detent.session.log import FileLog
from detent.session.reading import read_log
from detent.types.budget import Budget
from detent.types.content import Text
from detent.types.durable import Durable
from detent.types.effects import Reads, Writes
from detent.types.events import (
    Budgeted,
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Event,
    Notice,
    Prompted,
    Reminded,
    Switched,
    TextDelta,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.verdicts import Allow


class Stage:
    """A recorder over a file, and a reader who notes what the file held when an event came."""

    def __init__(self, folder: Path, *, power: bool = False) -> None:
        self.log = FileLog(str(folder / "s.jsonl"), lambda: 1.0)
        self.seen: list[Event] = []
        self.on_disk: list[bool] = []
        self.synced: list[bool] = []
        self.recorder = Recorder(
            self.log, Conversation(), (self.look,), Power(self.log) if power else None
        )
        self.recorder.attach(self.deliver, self.seen.append)

    def look(self, event: Event) -> None:
        if isinstance(event, Durable) and not self.log.trouble:
            self.on_disk.append(event in read_log(self.log.path).entries)
            self.synced.append(not self.log.unsynced)

    async def deliver(self, event: Event) -> None:
        self.seen.append(event)

    def notices(self) -> list[str]:
        return [event.text for event in self.seen if isinstance(event, Notice)]


def prompt(text: str = "a") -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


def started(call: str, *effects: Any) -> CallStarted:
    return CallStarted(call_id=call, name="T", arguments="", effects=effects, verdict=Allow("r"))


def ended(call: str) -> CallEnded:
    return CallEnded(call_id=call, name="T", outcome=done("ok"))


def fails(*arguments: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_shown_is_in_the_file(tmp_path: Path) -> None:
    async def run() -> Stage:
        stage = Stage(tmp_path)
        for event in (prompt(), TextDelta(0, "x"), Switched(model="m"), prompt("b")):
            await stage.recorder.emit(event)
        stage.recorder.record(Budgeted(budget=Budget()))
        await stage.recorder.settle()
        return stage

    stage = asyncio.run(run())
    assert stage.on_disk == [True] * 4
    shown = [event for event in stage.seen if isinstance(event, Durable)]
    assert shown == list(stage.log.entries)
    stage.log.close()


def test_trouble_is_told_once_before_what_is_not_saved_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> Stage:
        stage = Stage(tmp_path)
        await stage.recorder.emit(prompt("1"))
        with monkeypatch.context() as patched:
            patched.setattr(log_module.os, "write", fails)
            for text in "234":
                await stage.recorder.emit(prompt(text))
            assert "No space left" in stage.recorder.unsaved
        await stage.recorder.emit(prompt("5"))
        assert stage.recorder.unsaved == ""
        with monkeypatch.context() as patched:
            patched.setattr(log_module.os, "write", fails)
            stage.recorder.record(Switched(model="m"))
            await stage.recorder.emit(TextDelta(0, "x"))
        return stage

    stage = asyncio.run(run())
    first, again, anew = stage.notices()
    assert first.startswith("This session is not being saved: No space left")
    assert again == "This session is being saved again; nothing is missing."
    assert anew == first
    assert isinstance(stage.seen[1], Notice), "before the entry that it is about"
    stage.log.close()
    assert [entry.seq for entry in read_log(stage.log.path).entries] == [1, 2, 3, 4, 5]


def test_what_was_written_is_synced_soon_and_in_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is in time depends on the machine; that it comes by itself does not."""
    threads: list[bool] = []
    here = threading.current_thread()
    real = os.fdatasync

    def noted(descriptor: int) -> None:
        threads.append(threading.current_thread() is here)
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", noted)

    async def run() -> None:
        stage = Stage(tmp_path)
        await stage.recorder.emit(prompt())
        assert stage.log.unsynced
        async with asyncio.timeout(30):
            while stage.log.unsynced:
                await asyncio.sleep(0.01)
        assert len(threads) == 1
        await stage.recorder.emit(prompt())
        async with asyncio.timeout(30):
            while stage.log.unsynced:
                await asyncio.sleep(0.01)
        await stage.recorder.settle()
        stage.log.close()

    asyncio.run(run())
    assert threads == [False, False]
    assert recorder_module.SYNC_AFTER < 0.2


def test_the_end_of_a_turn_is_synced_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "SYNC_AFTER", 3600.0)

    async def run() -> None:
        stage = Stage(tmp_path)
        await stage.recorder.emit(prompt())
        await stage.recorder.emit(TurnEnded(turn=1, reason="end_turn"))
        async with asyncio.timeout(30):
            while stage.log.unsynced:
                await asyncio.sleep(0.01)
        await stage.recorder.emit(prompt())
        await stage.recorder.settle()
        assert not stage.log.unsynced, "and so is what is left when the session ends"
        stage.log.close()

    asyncio.run(run())


def test_a_sync_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdatasync", fails)

    async def run(power: bool) -> Stage:
        folder = tmp_path / str(power)
        stage = Stage(folder, power=power)
        await stage.recorder.emit(prompt())
        await stage.recorder.emit(TurnEnded(turn=1, reason="end_turn"))
        if (news := await stage.recorder.settle()) is not None:
            stage.seen.append(news)
        stage.log.close()
        return stage

    stage = asyncio.run(run(False))
    (told,) = stage.notices()
    assert told.startswith("This session would not survive a power cut: No space left")
    assert stage.recorder.unsaved == "", "it survives what the user wants it to"
    stage = asyncio.run(run(True))
    assert stage.notices() == [told.replace("False", "True")]
    assert "No space left" in stage.recorder.unsaved, "here it does not"


SYNCED: list[tuple[str, Callable[[], list[Entry]], list[bool]]] = [
    ("a prompt", lambda: [prompt()], [True]),
    ("a reminder", lambda: [Reminded(text="r", source="s")], [False]),
    ("a call with effects", lambda: [started("c", Writes("/a")), ended("c")], [True, True]),
    ("a call without", lambda: [started("c", Reads("/a")), ended("c")], [False, False]),
    ("a compaction", lambda: [Compacted(summary="s", keeps_from=1)], [True]),
    ("the end of a turn", lambda: [TurnEnded(turn=1, reason="end_turn")], [True]),
]


@pytest.mark.parametrize(
    ("entries", "synced"), [(e, s) for _, e, s in SYNCED], ids=[n for n, _, _ in SYNCED]
)
def test_against_power_cuts_it_is_synced_before_anybody_sees_it(
    tmp_path: Path, entries: Callable[[], list[Entry]], synced: list[bool]
) -> None:
    async def run() -> list[bool]:
        stage = Stage(tmp_path, power=True)
        for entry in entries():
            await stage.recorder.emit(entry)
        await stage.recorder.settle()
        stage.log.close()
        return stage.synced

    assert asyncio.run(run()) == synced


def test_calls_at_the_same_time_share_a_sync_and_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs: list[int] = []
    real = os.fdatasync

    def counted(descriptor: int) -> None:
        syncs.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", counted)

    async def run() -> Stage:
        stage = Stage(tmp_path, power=True)
        some: list[Entry] = [started(f"c{n}", Writes("/a")) for n in range(20)]
        some[5] = Switched(model="one that need not wait, but for the others")
        await asyncio.gather(*map(stage.recorder.emit, some))
        await stage.recorder.settle()
        stage.log.close()
        return stage

    stage = asyncio.run(run())
    assert [event.seq for event in stage.seen if isinstance(event, Durable)] == list(range(1, 21))
    assert len(syncs) <= 3


def test_a_sync_that_nobody_waits_for_any_more_ends_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A session that was not closed: its event loop is gone before the disk is done."""
    begun, may_end = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        begun.set()
        may_end.wait(30)

    monkeypatch.setattr(os, "fdatasync", slow)
    stage = Stage(tmp_path)

    async def run() -> None:
        await stage.recorder.emit(TurnEnded(turn=1, reason="end_turn"))

    asyncio.run(run())
    assert begun.wait(30)
    may_end.set()
    stage.log.close()
    assert durability._threads(os.getpid()).submit(lambda: True).result(30), (
        "it has come to its end"
    )
    assert caplog.records == []


def test_a_later_event_loop_does_not_wait_for_one_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    real = os.fdatasync

    def slow(descriptor: int) -> None:
        begun.set()
        may_end.wait(30)
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", slow)
    stage = Stage(tmp_path)

    async def first() -> None:
        await stage.recorder.emit(TurnEnded(turn=1, reason="end_turn"))

    async def second() -> None:
        may_end.set()
        async with asyncio.timeout(30):
            await stage.recorder.settle()

    asyncio.run(first())
    assert begun.wait(30)
    asyncio.run(second())
    assert not stage.log.unsynced
    stage.log.close()


def test_what_was_due_in_an_event_loop_that_is_gone_is_done_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "SYNC_AFTER", 0.01)
    stage = Stage(tmp_path)

    async def first() -> None:
        stage.recorder.record(prompt())

    async def second() -> None:
        await asyncio.sleep(0.02)  # what was due is overdue
        stage.recorder.record(prompt())
        async with asyncio.timeout(30):
            while stage.log.unsynced:
                await asyncio.sleep(0.005)

    asyncio.run(first())
    asyncio.run(second())
    stage.log.close()


def test_without_an_event_loop_it_is_synced_at_the_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.recorder.record(prompt())
    assert stage.log.unsynced
    stage.log.close()
    assert not stage.log.unsynced
