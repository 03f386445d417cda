"""What an edit has made wrong, as a server sees it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from detent.ports import Host
from detent.testing.memory_host import MemoryHost
from detent.tools.language import client, work
from detent.tools.language.code import LanguageServers

WAITS = ("AFTER_AN_EDIT", "BASELINE", "NEWS")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine changes nothing; tests of a wait that runs out make it short."""
    for wait in WAITS:
        monkeypatch.setattr(work, wait, 20.0)


def after(lab: Any, *texts: str, runs_out: str = "") -> list[str]:
    """What was told after each edit that leads from one text to the next. With the first one, the
    wait named by `runs_out` does."""
    path = lab.file("a.toy", texts[0])

    async def talk(code: LanguageServers) -> list[str]:
        told = []
        with pytest.MonkeyPatch.context() as patch:
            if runs_out:
                patch.setattr(work, runs_out, 0.1)
                told.append(await code.faults(path, texts[0], texts[1]))
        for before, text in pairwise(texts[bool(runs_out) :]):
            lab.file("a.toy", text)
            told.append(await code.faults(path, before, text))
        return told

    result: list[str] = lab.run(talk)
    return result


@pytest.mark.parametrize("manner", ["", "pull", "unversioned", "in parts", "looks back"])
def test_only_new_faults_are_told(lab: Any, manner: str) -> None:
    lab.manners = {manner: True}
    told = after(lab, "BAD1\n", "fine\n\n  BAD1\n", "fine\nBAD2 BAD3\n  BAD1\n", "fine\n")
    assert told == [
        "",
        "New diagnostics in a.toy:\n  2:1 error: BAD2 is wrong (toy)\n"
        "  2:6 error: BAD3 is wrong (toy)",
        "",
    ]


def test_a_second_fault_of_the_same_kind_is_new(lab: Any) -> None:
    (told,) = after(lab, "BAD\n", "BAD\nBAD\n")
    assert told.count("BAD is wrong") == 1


def test_errors_come_before_warnings_and_are_bounded(lab: Any) -> None:
    (told,) = after(lab, "ok\n", "HMM\n" + "".join(f"BAD{n}\n" for n in range(11)))
    lines = told.splitlines()
    assert lines[1] == "  2:1 error: BAD0 is wrong (toy)"
    assert len(lines) == 12
    assert lines[-1] == "  [2 more]"


def test_all_faults_of_a_new_file_are_new(lab: Any) -> None:
    (told,) = after(lab, "", "BAD\n")
    assert "1:1 error: BAD is wrong" in told
    assert len(lab.said("textDocument/didOpen")) == 1
    assert not lab.said("textDocument/didChange")
    (watched,) = lab.said("workspace/didChangeWatchedFiles")
    assert watched["params"]["changes"][0]["type"] == 1


def test_the_baseline_is_asked_for_only_once(lab: Any) -> None:
    after(lab, "a\n", "b\n", "c\n")
    assert len(lab.said("textDocument/didOpen")) == 1
    assert len(lab.said("textDocument/didChange")) == 2


def test_a_late_result_is_told_with_the_next_edit(lab: Any) -> None:
    lab.manners["withhold"] = [2]
    told = after(lab, "a\n", "BAD\n", "BAD\nb\n", "BAD\nc\n", runs_out="NEWS")
    assert told == ["", "New diagnostics in a.toy:\n  1:1 error: BAD is wrong (toy)", ""]


def test_a_late_result_that_is_no_longer_true_is_not_told(lab: Any) -> None:
    lab.manners["withhold"] = [2]
    assert after(lab, "a\n", "BAD\n", "b\n", runs_out="NEWS") == ["", ""]


def test_a_baseline_that_came_too_late_is_asked_for_again(lab: Any) -> None:
    lab.manners["withhold"] = [1, 2]
    told = after(lab, "BAD1\n", "BAD1\nBAD2\n", "BAD1\nBAD2\nok\n", runs_out="BASELINE")
    assert told == ["", "New diagnostics in a.toy:\n  2:1 error: BAD2 is wrong (toy)"]


def test_a_server_that_is_slow_to_start_costs_a_bounded_wait_and_serves_later(lab: Any) -> None:
    path = lab.file("a.toy", "BAD\n")

    async def talk(code: LanguageServers) -> tuple[str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(work, "AFTER_AN_EDIT", 0.001)
            first = await code.faults(path, "a\n", "BAD\n")
        await lab.until(lambda: lab.said("initialized"))
        return first, await code.faults(path, "BAD\n", "BAD\nb\n")

    first, second = lab.run(talk)
    assert first == ""
    assert "BAD is wrong" in second
    assert len(lab.pids) == 1


def test_a_crash_is_nothing_to_an_edit(lab: Any) -> None:
    lab.manners |= {"crash_on": "textDocument/didOpen", "crashes": 9}
    assert after(lab, "a\n", "BAD\n", "BAD2\n", "BAD3\n") == ["", "", ""]
    assert len(lab.pids) == 2


def test_after_a_crash_the_next_edit_tells_all(lab: Any) -> None:
    lab.manners |= {"crash_on": "textDocument/didChange", "crashes": 1}
    first, second = after(lab, "a\n", "BAD\n", "BAD\nok\n")
    assert first == ""
    assert "1:1 error: BAD is wrong" in second


SILENT: Any = [
    {"withhold": list(range(99))},
    {"pull": True, "ignores": ["textDocument/diagnostic"]},
]


def waits(lab: Any, monkeypatch: pytest.MonkeyPatch, edits: int) -> list[float]:
    """How long edits wait for the faults of a server, given 0.1 s and then 0.01 s."""
    monkeypatch.setattr(work, "BASELINE", 0.1)
    monkeypatch.setattr(work, "BRIEF", 0.01)
    asked: list[float] = []
    faults = client.Client.faults

    async def noted(self: Any, path: str, document: Any, seconds: float) -> Any:
        asked.append(seconds)
        return await faults(self, path, document, seconds)

    monkeypatch.setattr(client.Client, "faults", noted)
    after(lab, *(f"{number}\n" for number in range(edits + 1)))
    return asked


@pytest.mark.parametrize("manners", SILENT)
def test_a_silent_server_is_waited_for_twice_and_not_for_good(
    lab: Any, manners: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.manners = manners
    assert waits(lab, monkeypatch, 4) == [0.1, 0.1, 0.01, 0.01]


def test_a_server_that_speaks_again_is_waited_for_again(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says nothing of the first five texts; the old one and the new are shown with each edit."""
    lab.manners = {"withhold": [1, 2, 3, 4, 5]}
    path = lab.file("a.toy", "a\n")
    monkeypatch.setattr(work, "BASELINE", 0.1)
    monkeypatch.setattr(work, "BRIEF", 0.01)

    async def talk(code: LanguageServers) -> list[str]:
        for before, text in pairwise("abcd"):
            assert await code.faults(path, before, text) == ""
        (silent,) = code._work._fleet._berths.values()
        await lab.until(lambda: silent.client is not None and not silent.client.is_silent)
        monkeypatch.setattr(work, "BASELINE", 20.0)
        return [await code.faults(path, "d", "BAD")]

    assert lab.run(talk) == ["New diagnostics in a.toy:\n  1:1 error: BAD is wrong (toy)"]


def test_one_that_never_gets_ready_is_waited_for_once(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.manners = {"ignores": ["initialize"]}
    path = lab.file("a.toy", "a\n")

    async def talk(code: LanguageServers) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(work, "AFTER_AN_EDIT", 0.1)
            assert await code.faults(path, "a\n", "b\n") == ""
        # The others would wait for 20 seconds, which is all that this test may take.
        for _ in range(3):
            assert await code.faults(path, "b\n", "c\n") == ""

    lab.run(talk)


def test_old_faults_are_not_told_as_new_by_a_server_that_is_slow_to_think(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says without a version may be of the text before."""
    monkeypatch.setattr(client, "SETTLING", 0.05)
    monkeypatch.setattr(client, "SETTLING_UNSURE", 2.0)
    lab.manners = {"unversioned": True, "in parts": True, "ponders": 0.3}
    told = after(lab, "x\nBAD1\n", "y\nBAD1\nBAD2\n")
    assert told == ["New diagnostics in a.toy:\n  3:1 error: BAD2 is wrong (toy)"]


def test_cancelling_an_edit_that_waits(lab: Any) -> None:
    lab.manners["withhold"] = [1]
    path = lab.file("a.toy", "a\n")

    async def talk(code: LanguageServers) -> None:
        waiting = asyncio.create_task(code.faults(path, "a\n", "b\n"))
        await lab.until(lambda: lab.said("textDocument/didOpen"))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # The server was told of the edit all the same.
        await lab.until(lambda: lab.said("textDocument/didChange"))

    lab.run(talk)


def test_bytes_that_are_no_text_do_no_harm(lab: Any) -> None:
    path = lab.file("a.toy", "")
    broken = b"\xff BAD\n".decode("utf-8", "surrogateescape")
    assert "1:3 error" in lab.run(lambda code: code.faults(path, "", broken))


def test_a_huge_file_is_left_alone(lab: Any) -> None:
    path = lab.file("a.toy", "")
    assert lab.run(lambda code: code.faults(path, "", "BAD\n" * 300_000)) == ""
    assert lab.pids == []


@pytest.mark.parametrize("chosen", [{}, None, {".toy": ()}, {".toy": ("no-such-program-1",)}])
def test_without_a_server_nothing_is_waited_for(chosen: Any) -> None:
    class Untouched(MemoryHost):
        async def facts(self, path: str) -> None:
            raise AssertionError("looked around for nothing")

    host: Host = Untouched()
    code = LanguageServers(
        host, cwd=lambda: "/p", holds=lambda path: True, reads_freely=lambda path: True,
        chosen=chosen, trusted=True,
    )  # fmt: skip
    assert asyncio.run(code.faults("/p/a.toy", "", "BAD")) == ""
