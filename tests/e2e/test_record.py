"""`--record DIR`: every exchange with the model, to be played again where there is no model."""

from __future__ import annotations

import json
from pathlib import Path

from detent.testing import call, fault, read_recordings, reply, serve_recording, think

from .conftest import ALL_WIRES, Runner, house


def against(runner: Runner, url: str) -> dict[str, str]:
    """The environment of a run whose model is at that address."""
    given = runner.env()
    return {name: value.replace(runner.server.url, url) for name, value in given.items()}


@ALL_WIRES
def test_a_recorded_run_is_played_without_its_server(runner: Runner, wire: str) -> None:
    runner.serve(
        reply(think("so") if wire == "anthropic" else "", "Looking.", call("Glob", pattern="*.py")),
        "Nothing there. — ✓",
    )
    tapes = runner.folder / "tapes"
    first = runner.prompt("look", "--record", str(tapes))
    assert first.code == 0, first
    recordings = read_recordings(tapes)
    assert [one.end for one in recordings] == ["whole", "whole"]
    assert [json.loads(one.body) for one in recordings] == [r.json for r in runner.requests]
    with serve_recording(tapes) as played:
        # The address of one of these wires is in a settings file.
        where = json.dumps(house(wire, played.url) if wire == "responses" else {})
        again = runner.prompt("look", "--settings", where, env=against(runner, played.url))
        assert played.problems == []
        assert len(played.requests) == 2
    assert again.code == 0, again
    assert json.loads(again.stdout)["result"] == json.loads(first.stdout)["result"]
    assert len(runner.requests) == 2


def test_retries_and_what_broke_off_are_recorded_and_break_again(runner: Runner) -> None:
    runner.serve(
        fault(529, retry_after="0"),
        reply("half of it", fault=fault(reset_after=300)),
        "whole",
    )
    tapes = runner.folder / "tapes"
    settings = json.dumps({"retry": {"delays": [0, 0, 0]}})
    flags = ("--settings", settings)
    first = runner.prompt("go", "--record", str(tapes), *flags)
    assert first.code == 0, first
    recordings = read_recordings(tapes)
    assert [one.end.partition(":")[0] for one in recordings] == ["whole", "cut", "whole"]
    assert recordings[0].answer[0][1].startswith(b"HTTP/1.1 529 ")
    with serve_recording(tapes) as played:
        again = runner.prompt("go", *flags, env=against(runner, played.url))
        assert len(played.requests) == 3
    assert json.loads(again.stdout)["result"] == json.loads(first.stdout)["result"]


def test_keys_are_not_in_it(runner: Runner) -> None:
    runner.serve("hello")
    tapes = runner.folder / "tapes"
    key = {"ANTHROPIC_API_KEY": "sk-ant-verysecret"}
    assert runner.run("-p", "hi", "--record", str(tapes), env=key).code == 0
    (tape,) = tapes.iterdir()
    assert "x-api-key: hidden" in tape.read_text()
    assert "verysecret" not in tape.read_text()


def test_a_folder_that_cannot_be_is_refused_before_anything_is_asked(runner: Runner) -> None:
    runner.serve("hello")
    file = runner.folder / "file"
    file.write_text("")
    ran = runner.run("-p", "hi", "--record", str(file / "tapes"))
    assert ran.code == 2
    assert "nothing can be recorded in" in ran.stderr
    assert runner.requests == []


def test_a_disk_that_takes_nothing_is_told_and_the_run_goes_on(runner: Runner) -> None:
    """The folder is made unwritable by a limit on file sizes, which holds for everybody."""
    runner.serve("hello")
    tapes = runner.folder / "tapes"
    ran = runner.run(
        "-p", "hi", "--no-session", "--record", str(tapes),
        shell="trap '' XFSZ && ulimit -f 0",
    )  # fmt: skip
    assert ran.code == 0, ran.stderr
    assert ran.stdout == "hello\n"
    assert "exchanges are not being recorded" in ran.stderr


def test_nothing_is_made_without_the_flag(runner: Runner) -> None:
    runner.serve("hello")
    before = set(Path(runner.work).iterdir())
    assert runner.run("-p", "hi").code == 0
    assert set(Path(runner.work).iterdir()) == before
