"""A promise is made when trying to break it has failed, and only then."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from detent.host.kept import KeptHold
from detent.host.sandbox import choosing, probes
from detent.host.sandbox.bwrap import HINT
from detent.host.sandbox.choosing import all_proven, choose, hint, proven
from detent.host.sandbox.probes import probe
from detent.host.sandbox.profile import Backend, SandboxFailed
from detent.host.sandbox.promises import NEEDED, PROMISES, Probe, holds, not_tried, trouble

from .conftest import need

BEYOND_LANDLOCK = {"protected", "permissions"}


def test_bubblewrap_keeps_every_promise() -> None:
    need("bwrap")
    found = asyncio.run(probe("bwrap"))
    assert [one.promise for one in found] == list(PROMISES)
    assert [one for one in found if not one.held] == []


def test_landlock_keeps_all_that_a_sandbox_needs() -> None:
    need("landlock")
    found = asyncio.run(probe("landlock"))
    assert {one.promise for one in found if not one.held} == BEYOND_LANDLOCK
    assert holds(found)
    (left_open,) = [one.detail for one in found if one.promise == "protected"]
    assert "moving .git" in left_open and "reading a denied file" in left_open


@pytest.mark.skipif(os.geteuid() != 0, reason="as root more gets through")
def test_without_a_sandbox_none_is_kept_but_that_of_the_keepers() -> None:
    """So each attempt can succeed."""
    found = {one.promise: one for one in asyncio.run(probe("none"))}
    assert {name for name, one in found.items() if one.held} == {"children"}
    assert found["network"].detail == "tcp; udp"
    assert found["sockets"].detail == "a unix socket; an abstract socket"
    assert "truncation" in found["writes"].detail


def test_it_is_tried_where_the_folder_for_it_cannot_be_made() -> None:
    need("landlock")
    assert holds(asyncio.run(probe("landlock", "/proc/nowhere")))


def test_a_daemon_that_lives_on_breaks_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[KeptHold] = []

    async def leave_it(self: KeptHold) -> None:
        left.append(self)

    need("landlock")
    monkeypatch.setattr(KeptHold, "end", leave_it)
    found = {one.promise: one for one in asyncio.run(probe("landlock"))}
    for hold in left:
        hold.drop()
    assert found["children"].detail == "a daemon lives on"


@pytest.mark.parametrize("said", ["", "Traceback", "writes\ta file"])
def test_a_trial_that_does_not_come_to_its_end_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    need("landlock")
    program = tmp_path / "attempt.py"
    program.write_text(f"print({said!r})")
    monkeypatch.setattr(probes, "ATTEMPT", str(program))
    found = asyncio.run(probe("landlock"))
    assert not any(one.held for one in found)
    assert "did not come to its end" in found[0].detail


def answers(held: dict[str, bool]) -> dict[str, tuple[Probe, ...]]:
    made = {}
    for backend, works in held.items():
        kind: Backend = backend  # type: ignore[assignment]
        made[backend] = tuple(Probe(name, kind, works, "" if works else "why") for name in PROMISES)
    return made


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Probe, ...]]:
    """What trying would give; the test fills it in."""
    found: dict[str, tuple[Probe, ...]] = {}
    asked: list[str] = []

    async def answer(backend: Backend, folder: str = "") -> tuple[Probe, ...]:
        asked.append(backend)
        return found[backend]

    monkeypatch.setattr(choosing, "probe", answer)
    monkeypatch.setattr(choosing, "found_bwrap", lambda: "/bin/sh")
    found["asked"] = asked  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(
    ("works", "chosen"),
    [
        ({"bwrap": True, "landlock": True}, "bwrap"),
        ({"bwrap": False, "landlock": True}, "landlock"),
        ({"bwrap": False, "landlock": False}, "none"),
    ],
)
def test_auto_takes_the_best_that_holds(
    outcomes: dict[str, tuple[Probe, ...]], works: dict[str, bool], chosen: str
) -> None:
    outcomes.update(answers(works))
    assert asyncio.run(choose("auto")) == chosen


def test_a_certain_one_or_none_at_all(outcomes: dict[str, tuple[Probe, ...]]) -> None:
    outcomes.update(answers({"bwrap": False, "landlock": True}))
    assert asyncio.run(choose("landlock")) == "landlock"
    assert asyncio.run(choose("none")) == "none"
    with pytest.raises(SandboxFailed, match=r"\(bwrap\) does not work here: why"):
        asyncio.run(choose("bwrap"))


@pytest.mark.parametrize("promise", NEEDED)
def test_one_broken_promise_is_enough(promise: str) -> None:
    found = tuple(Probe(name, "bwrap", name != promise) for name in PROMISES)
    assert not holds(found)
    assert trouble(found) == PROMISES[promise]  # type: ignore[index]


def test_without_bubblewrap_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detent.host.sandbox.sandbox.PROGRAM", "no-such-bwrap")
    assert hint() == HINT
    assert "apt install bubblewrap" in HINT and "\n" not in HINT
    found = asyncio.run(proven("bwrap"))
    assert not any(one.held for one in found)
    assert found[0].detail == f"bubblewrap is not installed. {HINT}"


def test_where_there_is_no_nursery_nothing_is_tried(directly: None) -> None:
    from detent.host.local import LocalHost

    async def main() -> tuple[Probe, ...]:
        await LocalHost().run(["true"], cwd="/", timeout=9, output=len)
        return await all_proven()

    assert {one.detail.partition(",")[0] for one in asyncio.run(main())} == {"only on Linux"}


class TestRecord:
    def test_what_held_is_not_tried_again(
        self, outcomes: dict[str, tuple[Probe, ...]], tmp_path: Path
    ) -> None:
        outcomes.update(answers({"bwrap": True, "landlock": True}))
        record = tmp_path / "probes.json"
        first = asyncio.run(all_proven(str(record)))
        assert outcomes["asked"] == ["bwrap", "landlock"]
        assert asyncio.run(all_proven(str(record))) == first
        assert outcomes["asked"] == ["bwrap", "landlock"]
        assert record.stat().st_mode & 0o777 == 0o600
        assert os.listdir(tmp_path) == ["probes.json"]

    def test_what_did_not_is(self, outcomes: dict[str, tuple[Probe, ...]], tmp_path: Path) -> None:
        outcomes.update(answers({"bwrap": False, "landlock": False}))
        record = str(tmp_path / "probes.json")
        assert asyncio.run(choose("auto", record)) == "none"
        outcomes.update(answers({"bwrap": True, "landlock": True}))
        assert asyncio.run(choose("auto", record)) == "bwrap"

    @pytest.mark.parametrize("what", ["boot", "version", "program", "user"])
    def test_another_machine_in_any_respect_is_tried_anew(
        self,
        outcomes: dict[str, tuple[Probe, ...]],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        what: str,
    ) -> None:
        outcomes.update(answers({"bwrap": True, "landlock": True}))
        record = str(tmp_path / "probes.json")
        asyncio.run(choose("auto", record))
        match what:
            case "boot":
                monkeypatch.setattr(choosing, "BOOT", "/proc/version")
            case "version":
                monkeypatch.setattr(choosing, "VERSION", "99")
            case "program":
                monkeypatch.setattr(choosing, "found_bwrap", lambda: "/bin/ls")
            case "user":
                monkeypatch.setattr(os, "getuid", lambda: 12345)
        asyncio.run(choose("auto", record))
        assert outcomes["asked"] == ["bwrap", "bwrap"]

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"bwrap x": [{"promise": "no"}]}'])
    def test_a_damaged_record_is_none(
        self, outcomes: dict[str, tuple[Probe, ...]], tmp_path: Path, text: str
    ) -> None:
        outcomes.update(answers({"bwrap": True}))
        record = tmp_path / "probes.json"
        record.write_text(text)
        assert asyncio.run(choose("auto", str(record))) == "bwrap"

    def test_where_none_can_be_written_it_is_tried_each_time(
        self, outcomes: dict[str, tuple[Probe, ...]]
    ) -> None:
        outcomes.update(answers({"bwrap": True}))
        assert asyncio.run(choose("auto", "/proc/nowhere/probes.json")) == "bwrap"
        assert asyncio.run(choose("auto", "")) == "bwrap"


def test_what_was_not_tried_is_not_held() -> None:
    found = not_tried("bwrap", "why")
    assert len(found) == len(PROMISES) and trouble(found) == "why"
