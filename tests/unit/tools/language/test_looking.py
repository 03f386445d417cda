"""Questions about code, answered by a server that is a real process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from detent.tools.language import client, connection
from detent.tools.language.code import LanguageServers
from detent.tools.language.fleet import Fleet
from detent.tools.language.servers import Found, Server

FAKE = Path(__file__).with_name("fake_server.py")


def test_a_definition_is_shown_with_its_line(lab: Any) -> None:
    path = lab.file("a.toy", "use one\n\n    def one\n")
    assert lab.look("definition", path, query="one") == (
        "Definition of `one` (a.toy:1:5):\na.toy:3:9  def one"
    )


def test_references_are_sorted_and_relative(lab: Any) -> None:
    path = lab.file("sub/a.toy", "call f\ndef f\ncall f\n")
    text = lab.look("references", path, line=2, character=5)
    assert text.splitlines() == [
        "References of `f` (sub/a.toy:2:5):",
        "sub/a.toy:1:6  call f",
        "sub/a.toy:2:5  def f",
        "sub/a.toy:3:6  call f",
    ]


def test_many_places_are_bounded(lab: Any) -> None:
    path = lab.file("a.toy", "f\n" * 130)
    lines = lab.look("references", path, query="f").splitlines()
    assert len(lines) == 102
    assert lines[-1] == "[30 more]"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_characters_beyond_the_first_plane_do_not_shift_columns(lab: Any, encoding: str) -> None:
    lab.manners["encoding"] = encoding
    path = lab.file("a.toy", 'x = "😀é😀"; use far; use near\ndef far\ndef near 😀 BAD\n')
    line = "a.toy:1:16"
    assert lab.look("definition", path, line=1, character=16) == (
        f"Definition of `far` ({line}):\na.toy:2:5  def far"
    )
    assert lab.look("references", path, query="near").splitlines()[1:] == [
        'a.toy:1:25  x = "😀é😀"; use far; use near',
        "a.toy:3:5  def near 😀 BAD",
    ]
    assert "3:12 error: BAD is wrong (toy)" in lab.look("diagnostics", path)


def test_encodings_are_offered_with_the_plain_one_first(lab: Any) -> None:
    lab.look("symbols", lab.file("a.toy", "def a\n"))
    (hello,) = lab.said("initialize")
    offered = hello["params"]["capabilities"]["general"]["positionEncodings"]
    assert offered == ["utf-32", "utf-8", "utf-16"]


def test_a_name_wins_over_a_column_that_is_off(lab: Any) -> None:
    path = lab.file("a.toy", "f\nx f y\ndef f\n")
    assert "`f` (a.toy:2:3)" in lab.look("hover", path, line=2, character=99, query="f")


def test_hover_is_the_servers_text(lab: Any) -> None:
    path = lab.file("a.toy", "def f\n")
    assert lab.look("hover", path, query="f") == "`f` (a.toy:1:5):\nabout **f**"


def test_nothing_found_says_what_was_asked(lab: Any) -> None:
    path = lab.file("a.toy", "use f\n")
    assert lab.look("definition", path, query="f") == "No definition found of `f` (a.toy:1:5)."


def test_a_place_outside_the_workspace_is_named_but_not_read(lab: Any) -> None:
    path = lab.file("a.toy", "outside\n")
    (lab.notes / "lib.toy").write_text("one\nsecret\n")
    text = lab.look("definition", path, query="outside")
    assert text.endswith(f"\n{lab.notes}/lib.toy:2:1")


def test_a_place_in_a_file_that_read_may_not_open_is_named_but_not_read(lab: Any) -> None:
    path = lab.file("a.toy", "one\n")
    lab.file(".env", "KEY=secret\n")
    lab.manners["points at"] = [str(lab.work / ".env"), "nul\0"]
    text = lab.look("references", path, query="one")
    assert ".env:1:1" in text.splitlines() and "secret" not in text


def test_symbols_of_a_file(lab: Any) -> None:
    path = lab.file("a.toy", "\ndef a\ndef b\n")
    assert lab.look("symbols", path) == (
        "Symbols in a.toy, with their lines:\n     2  function a\n     3  function b"
    )


def test_symbols_of_the_workspace_from_a_folder(lab: Any) -> None:
    lab.file("a.toy", "def alpha\n")
    assert lab.look("symbols", str(lab.work), query="alpha") == (
        "Symbols like `alpha`:\na.toy:1:5  function alpha"
    )


def test_a_folder_without_code_has_no_symbols(lab: Any) -> None:
    lab.file("a.txt", "def alpha\n")
    with pytest.raises(LookupError, match="no file of a language with a server"):
        lab.look("symbols", str(lab.work), query="alpha")


@pytest.mark.parametrize("pull", [False, True])
def test_diagnostics_of_a_file(lab: Any, pull: bool) -> None:
    lab.manners["pull"] = pull
    path = lab.file("a.toy", "fine\n  BAD1 HMM2\n")
    assert lab.look("diagnostics", path) == (
        "Diagnostics in a.toy:\n  2:3 error: BAD1 is wrong (toy)\n"
        "  2:8 warning: HMM2 is wrong (toy)"
    )
    assert bool(lab.said("textDocument/diagnostic")) is pull


def test_no_diagnostics(lab: Any) -> None:
    text = lab.look("diagnostics", lab.file("a.toy", "fine\n"))
    assert text.startswith("No diagnostics in a.toy")


def test_what_the_server_lacks_is_said(lab: Any) -> None:
    with pytest.raises(LookupError, match=r"cannot tell\. Use Grep"):
        lab.look("implementation", lab.file("a.toy", "def a\n"), query="a")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"line": 9}, "only 2 lines; there is no line 9"),
        ({"query": "gone"}, "`gone` does not occur in the file"),
        ({"line": 1}, "give `query`"),
        ({}, "give `query`"),
    ],
)
def test_a_place_that_is_none(lab: Any, place: dict[str, Any], said: str) -> None:
    with pytest.raises(LookupError, match=said):
        lab.look("hover", lab.file("a.toy", "a\nb\n"), **place)


def test_one_server_serves_all_files_of_a_project(lab: Any) -> None:
    one, two = lab.file("a.toy", "def a\n"), lab.file("sub/b.toy", "use a\n")

    async def talk(code: LanguageServers) -> str:
        await code.look("symbols", one, 0, 0, "")
        return await code.look("definition", two, 0, 0, "a")

    assert lab.run(talk).endswith("a.toy:1:5  def a")
    assert len(lab.pids) == 1


def test_each_project_of_a_workspace_has_its_own_server(lab: Any) -> None:
    lab.file("one/pyproject.toml", "")
    lab.file("two/package.json", "")

    async def talk(code: LanguageServers) -> None:
        for name in ("one/x/a.toy", "two/a.toy"):
            await code.look("symbols", lab.file(name, "def a\n"), 0, 0, "")

    lab.run(talk)
    roots = [one["params"]["rootUri"] for one in lab.said("initialize")]
    assert roots == [f"file://{lab.work}/one", f"file://{lab.work}/two"]


def test_a_file_changed_by_others_is_shown_again(lab: Any) -> None:
    one, two = lab.file("a.toy", "def a\n"), lab.file("b.toy", "use a\n")

    async def talk(code: LanguageServers) -> tuple[str, str, str]:
        first = await code.look("definition", one, 0, 0, "a")
        lab.file("a.toy", "\n\ndef a\n")
        os.utime(one, (1, 1))
        second = await code.look("definition", two, 0, 0, "a")
        os.unlink(one)
        return first, second, await code.look("definition", two, 0, 0, "a")

    first, second, third = lab.run(talk)
    assert first.endswith("a.toy:1:5  def a")
    assert second.endswith("a.toy:3:5  def a")
    assert third.startswith("No definition")


def test_many_documents_do_not_stay_open(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_OPEN", 2)

    async def talk(code: LanguageServers) -> None:
        for name in "abc":
            await code.look("symbols", lab.file(f"{name}.toy", "def a\n"), 0, 0, "")

    lab.run(talk)
    (closed,) = lab.said("textDocument/didClose")
    assert closed["params"]["textDocument"]["uri"].endswith("/a.toy")


def test_a_server_that_still_reads_the_project_is_asked_again(lab: Any) -> None:
    lab.manners["busy"] = True
    path = lab.file("a.toy", "def a\n")
    assert lab.look("definition", path, query="a").endswith("a.toy:1:5  def a")
    assert len(lab.said("textDocument/definition")) == 2


def test_an_answer_made_stale_by_a_change_is_asked_for_again(lab: Any) -> None:
    stale = {"code": -32801, "message": "content modified"}
    lab.manners["refuses"] = {"textDocument/hover": [stale]}
    assert "about **a**" in lab.look("hover", lab.file("a.toy", "def a\n"), query="a")


def test_what_a_server_refuses_is_passed_on(lab: Any) -> None:
    lab.manners["refuses"] = {"textDocument/hover": [{"code": -1, "message": "not on Mondays"}]}
    with pytest.raises(LookupError, match="says: not on Mondays"):
        lab.look("hover", lab.file("a.toy", "def a\n"), query="a")


def test_requests_of_the_server_are_answered(lab: Any) -> None:
    lab.manners["asks first"] = True
    lab.look("symbols", lab.file("a.toy", "def a\n"))
    answers = {one["id"]: one for one in lab.heard if str(one.get("id", "")).startswith("s")}
    assert answers["s0"]["result"] == [None, None]
    assert answers["s1"]["result"] is None and answers["s2"]["result"] is None
    assert answers["s3"]["result"]["applied"] is False
    assert answers["s4"]["result"] is None
    assert answers["s5"]["error"]["code"] == -32601


def test_a_greeting_before_the_first_message_is_passed_over(lab: Any) -> None:
    lab.manners["greets"] = True
    assert "function a" in lab.look("symbols", lab.file("a.toy", "def a\n"))


def test_a_crash_is_mended_once(lab: Any) -> None:
    lab.manners |= {"crash_on": "textDocument/hover", "crashes": 1}
    assert "about **a**" in lab.look("hover", lab.file("a.toy", "def a\n"), query="a")
    assert len(lab.pids) == 2


def test_a_server_that_crashes_again_is_left_alone(lab: Any) -> None:
    lab.manners |= {"crash_on": "textDocument/hover", "crashes": 9}
    path = lab.file("a.toy", "def a\n")

    async def talk(code: LanguageServers) -> list[str]:
        said = []
        for _ in range(2):
            with pytest.raises(LookupError) as caught:
                await code.look("hover", path, 0, 0, "a")
            said.append(str(caught.value))
        return said

    first, second = lab.run(talk)
    assert "exit code 3" in first and "the toy broke" in first
    assert "failed twice and is not started again" in second
    assert len(lab.pids) == 2


def test_a_program_that_cannot_be_started(lab: Any) -> None:
    code = lab.code({".toy": (lab.file("empty", ""),)})
    path = lab.file("a.toy", "def a\n")
    with pytest.raises(LookupError, match=r"empty could not be started: .*Use Grep instead"):
        asyncio.run(code.look("symbols", path, 0, 0, ""))


async def fails_and_is_gone(lab: Any, code: LanguageServers) -> str:
    """What was said of a server that cannot be used, once its processes have ended."""
    with pytest.raises(LookupError) as caught:
        await code.look("symbols", lab.file("a.toy", "def a\n"), 0, 0, "")
    await lab.until(lambda: not any(_alive(pid) for pid in lab.pids))
    return str(caught.value)


@pytest.mark.parametrize("when", ["initialize", "textDocument/documentSymbol"])
def test_nonsense_ends_the_server(lab: Any, when: str) -> None:
    lab.manners["babbles_on"] = when
    assert "cannot be understood" in lab.run(lambda code: fails_and_is_gone(lab, code))


def test_a_message_that_cannot_be_taken_ends_the_server(lab: Any) -> None:
    lab.manners["digs deep"] = True
    assert "cannot be understood" in lab.run(lambda code: fails_and_is_gone(lab, code))


def test_a_server_that_never_gets_ready(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "INITIALIZING", 0.5)
    lab.manners["ignores"] = ["initialize"]
    assert "did not get ready" in lab.run(lambda code: fails_and_is_gone(lab, code))
    assert len(lab.pids) <= 1, "waited for it twice"


def test_a_question_nobody_waits_for_is_called_off(lab: Any) -> None:
    lab.manners["ignores"] = ["textDocument/hover"]
    path = lab.file("a.toy", "def a\n")

    async def talk(code: LanguageServers) -> str:
        asking = asyncio.create_task(code.look("hover", path, 0, 0, "a"))
        await lab.until(lambda: lab.said("textDocument/hover"))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await lab.until(lambda: lab.said("$/cancelRequest"))
        return await code.look("symbols", path, 0, 0, "")

    assert "function a" in lab.run(talk)
    (hover,), (cancelled,) = lab.said("textDocument/hover"), lab.said("$/cancelRequest")
    assert cancelled["params"]["id"] == hover["id"]


def test_servers_end_with_the_session_as_the_protocol_wants_it(lab: Any) -> None:
    lab.look("symbols", lab.file("a.toy", "def a\n"))
    assert [one.get("method") for one in lab.heard[-2:]] == ["shutdown", "exit"]
    assert not _alive(lab.pids[0])


def test_a_server_that_will_not_go_is_made_to(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ENDING", 0.1)
    monkeypatch.setattr(client, "FAREWELL", 0.1)
    lab.manners |= {"stubborn": True, "ignores": ["shutdown"]}
    lab.look("symbols", lab.file("a.toy", "def a\n"))
    assert not _alive(lab.pids[0])


@pytest.mark.parametrize(
    ("trusted", "by_user", "outside"),
    [(False, False, True), (True, False, False), (False, True, False)],
)
def test_a_server_does_not_stand_in_a_folder_that_nobody_trusts(
    lab: Any, trusted: bool, by_user: bool, outside: bool
) -> None:
    argv = (sys.executable, "-I", str(FAKE), str(lab.notes))
    found = Found("toy", "toy", Server(argv), by_user)

    async def started() -> None:
        fleet = Fleet(lab.host, trusted=trusted)
        await fleet.client(found, str(lab.work))
        await fleet.aclose()

    asyncio.run(started())
    assert lab.heard[0]["cwd"] == ("/" if outside else str(lab.work))


def test_a_server_is_shown_the_packages_of_the_project(lab: Any) -> None:
    lab.manners["asks first"] = True
    packages = lab.work / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    argv = (sys.executable, "-I", str(FAKE), str(lab.notes), json.dumps(lab.manners))
    server = Server(argv, section="toy", options={"a": 1}, packages_as="own.extra")

    async def started() -> None:
        fleet = Fleet(lab.host, trusted=False)
        await fleet.client(Found("toy", "toy", server), str(lab.work))
        await fleet.aclose()

    asyncio.run(started())
    wanted = {"a": 1, "own": {"extra": [str(packages)]}}
    (hello,) = lab.said("initialize")
    assert hello["params"]["initializationOptions"] == wanted
    (answer,) = [one for one in lab.heard if one.get("id") == "s0"]
    assert answer["result"] == [wanted, None]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
