"""Commands about the session itself: status, files of it, its work, and starting over."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from commandbench import Bench, calls, say

from detent.sdk.session import Session
from detent.sdk.sessions import sessions_of
from detent.testing import reply
from detent.types.errors import BadInput

SECRET = "the berth of the heron"


def read(*path: str) -> str:
    return Path(*path).read_text()


# Status


def test_status_at_a_glance(bench: Bench) -> None:
    bench.file(".git/HEAD", "ref: refs/heads/quay\n")
    memory = bench.file("CLAUDE.md", "Say please.\n")

    async def body(session: Session) -> None:
        new = await say(session, "status")
        assert "Log       nothing is written yet" in new and "0 tokens, 0 model calls" in new
        await session.run_turn("x")
        await say(session, "rename heron")
        await say(session, "budget tokens 1000")
        rows = dict(re.split(r"\s+", line, maxsplit=1) for line in
                    (await say(session, "status")).splitlines())  # fmt: skip
        assert rows["Session"] == f"{session.id} (heron)" and rows["Model"] == "scripted"
        assert rows["Folder"] == f"{bench.work}, branch quay, not trusted"
        assert rows["Memory"].startswith(f"{memory} (")
        assert (rows["Sandbox"], rows["Mode"]) == ("off", "bypassPermissions")
        assert rows["Budget"] == "485 of 1,000 tokens left"
        assert rows["Cost"] == "unknown, 515 tokens, 1 model call"
        assert re.fullmatch(r"\d+%: [\d,]+ of 200,000 tokens", rows["Context"])
        assert rows["Log"] == session.path

    bench.run(body, reply("done", input=500, output=15))


def test_a_commit_that_no_branch_has(bench: Bench) -> None:
    bench.file(".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n")
    assert "branch 01234567," in bench.answers("status")


def test_a_sandbox_that_was_not_tried_yet(bench: Bench) -> None:
    text = bench.answers("status", sandbox="auto")
    assert "Sandbox   auto (chosen with the first command)" in text


# Work


def test_todos_as_they_stand(bench: Bench) -> None:
    todos = [
        {"content": "moor", "status": "completed"},
        {"content": "row\x1b[2J", "status": "in_progress"},
        {"content": "rest", "status": "pending"},
    ]

    async def body(session: Session) -> None:
        assert await say(session, "todos") == "The list is empty."
        await session.run_turn("x")
        text = await say(session, "todos")
        assert text.splitlines() == ["[x] moor", "[>] row[2J", "[ ] rest", "1 of 3 done."]
        await session.rewind(1, "chat")
        assert await say(session, "todos") == "The list is empty."

    bench.run(body, calls("TodoWrite", todos=todos), "done")


def test_what_runs_in_the_background(bench: Bench) -> None:
    fifo = bench.work / "fifo"
    job = calls("Bash", command=f"mkfifo {fifo}; echo begun; cat {fifo}", run_in_background=True)
    wait = calls("TaskOutput", task_id="job_1", block=False)
    task = calls("TaskCreate", subject="Moor the boat", description="At the quay.")

    async def body(session: Session) -> None:
        assert "Nothing runs" in await say(session, "tasks")
        await session.run_turn("x")
        listed = await say(session, "tasks")
        assert re.search(r"Commands:\n  job_1  running for \d+ s  mkfifo ", listed)
        assert "Tasks that agents share:\n  1  pending  Moor the boat" in listed
        with pytest.raises(BadInput, match="is called job_9; there is job_1"):
            await say(session, "tasks output job_9")
        assert (await say(session, "tasks stop job_1")).startswith("job_1 is stopped: ended after")
        assert "job_1 has ended already" in await say(session, "tasks stop job_1")
        assert (await say(session, "tasks output job_1")).startswith("job_1  ended after")

    bench.run(body, job, wait, task, "done")


def test_what_a_job_has_printed_last(bench: Bench) -> None:
    job = calls("Bash", command="seq 100; printf '\\033[2J'", run_in_background=True)
    wait = calls("TaskOutput", task_id="job_1", block=True)

    async def body(session: Session) -> None:
        await session.run_turn("x")
        lines = (await say(session, "tasks output job_1")).splitlines()
        assert lines[0].startswith("job_1  ended after") and ", exit code 0" in lines[0]
        assert lines[1] == "…" and lines[-2:] == ["100", "[2J"] and len(lines) == 42

    bench.run(body, job, wait, "done")


def test_agents_and_what_they_said(bench: Bench) -> None:
    agent = calls("Agent", subagent_type="Explore", prompt="look", description="look around")

    async def body(session: Session) -> None:
        await session.run_turn("x")
        (one,) = session.subagents
        assert f"Agents:\n  {one.agent}  completed  Explore look around" in await say(
            session, "tasks"
        )
        said = await say(session, f"tasks output {one.agent}")
        assert said == f"{one.agent} (completed):\nseen it"
        assert "has ended already: completed" in await say(session, f"tasks stop {one.agent}")

    bench.run(body, agent, "seen it", "done")


# Files of the session


def test_export_by_the_ending_and_over_nothing(bench: Bench) -> None:
    async def body(session: Session) -> None:
        with pytest.raises(BadInput, match="nothing to export"):
            await say(session, "export")
        await session.run_turn(SECRET)
        name = f"session-{session.id[:8]}.md"
        assert (await say(session, "export")).startswith(f"{bench.work / name}: ")
        assert SECRET in (bench.work / name).read_text()
        assert stat.S_IMODE((bench.work / name).stat().st_mode) == 0o600
        await say(session, "export a.html")
        assert (bench.work / "a.html").read_text().startswith("<!")
        with pytest.raises(BadInput, match="exists already"):
            await say(session, "export a.html")
        with pytest.raises(BadInput, match="cannot be written"):
            await say(session, "export no/such/folder.md")

    bench.run(body, "done")


def test_search_and_resume_find_it(bench: Bench) -> None:
    async def body(session: Session) -> None:
        await session.run_turn(SECRET)
        found = await say(session, "search heron")
        assert session.id[:8] in found and "»heron«" in found
        assert await say(session, "search walrus") == "Nothing was found."
        assert session.id[:8] in await say(session, "resume")
        assert str(bench.work) in await say(session, "resume all")

    assert bench.answers("resume") == "No sessions here yet."
    bench.run(body, "done")


def test_replay_verifies_the_session_from_its_log(bench: Bench) -> None:
    async def body(session: Session) -> str:
        await session.run_turn("x")
        return await say(session, "replay")

    told = bench.run(body, bench.writes("a", "x"), "done")
    assert told.endswith("Nothing differs.") and "1 turn" in told


def test_fork_from_here_and_from_a_step(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(bench.user))

    async def body(session: Session) -> None:
        await session.run_turn("one")
        await session.run_turn("two")
        here = await say(session, "fork")
        new = re.search(r"detent -r ([\w-]+)$", here)
        assert new is not None and "this one after step 4" in here and "cd " not in here
        cards = {one.id: one for one in sessions_of(str(bench.work), environ=bench.environ)}
        assert cards[new[1]].parent == session.id and cards[new[1]].turns == 2
        earlier = await say(session, "fork 1")
        folder = re.search(r"cd (\S+) && detent -r", earlier)
        assert folder is not None and folder[1] != str(bench.work)
        assert read(folder[1], "a") == "first"
        assert (bench.work / "a").read_text() == "second"
        with pytest.raises(BadInput, match="there is no step 9"):
            await say(session, "fork 9")

    bench.run(body, bench.writes("a", "first"), "ok", bench.writes("a", "second"), "ok")


def test_rename(bench: Bench) -> None:
    async def body(session: Session) -> None:
        await session.run_turn("x")
        told = await say(session, "rename the  heron")
        assert told == 'The session is called the heron now; detent -r "the heron" goes on with it.'
        assert session.name == "the heron"

    bench.run(body, "done")
    with pytest.raises(BadInput, match="there is no session to name"):
        bench.answers("rename heron")


# Starting over


def test_clear_empties_the_chat_and_can_be_taken_back(bench: Bench) -> None:
    async def body(session: Session) -> None:
        assert "nothing to clear" in await say(session, "clear")
        await session.run_turn(SECRET)
        told = await say(session, "clear")
        assert told.startswith("The chat is empty: ") and not session.points()
        assert (bench.work / "a").exists(), "files stay"
        await say(session, "redo")
        assert [point.text for point in session.points()] == [SECRET]
        await say(session, "clear")
        await session.run_turn("who are you?")
        assert [point.text for point in session.points()] == ["who are you?"]

    bench.run(body, bench.writes("a", "x"), "ok", "done")


# The project


def test_init_writes_an_agents_file_and_replaces_none(bench: Bench) -> None:
    bench.file("Makefile", "test:\n\tpytest\n")
    assert bench.answers("init").startswith(f"Written: {bench.work / 'AGENTS.md'}\n")
    assert "make test" in (bench.work / "AGENTS.md").read_text()
    bench.file("AGENTS.md", "Say please.\n")
    told = bench.answers("init")
    assert "is there already. It does not say:" in told and "make test" in told
    assert (bench.work / "AGENTS.md").read_text() == "Say please.\n"


def test_doctor_says_what_it_found(bench: Bench) -> None:
    text = bench.answers("doctor")
    assert f"Folder: {bench.work} (not trusted)" in text and "no model is configured" in text


# A fault


def test_a_report_has_nothing_of_what_was_said(bench: Bench) -> None:
    (bench.home / "settings.json").write_text('{"model": "s3cret-model", "maxTurns": 7}')

    async def body(session: Session) -> None:
        await session.run_turn(SECRET)
        told = await say(session, "bug it hangs")
        path = re.search(r"Written: (\S+\.md)\n", told)
        assert path is not None and path[1].startswith(str(bench.home / "reports"))
        assert "Nothing was sent anywhere" in told
        report = read(path[1])
        assert "it hangs" in report and session.id in report and "detent " in report
        assert "~/home/settings.json: maxTurns, model" in report
        assert "a call of Read failed" in report
        for hidden in (SECRET, "s3cret", str(bench.user)):
            assert hidden not in report
        folder = bench.home / "reports"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}

    bench.run(body, calls("Read", file_path=f"no such {SECRET}"), SECRET)


def test_the_log_is_added_only_where_that_is_wanted(bench: Bench) -> None:
    async def body(session: Session) -> None:
        with pytest.raises(BadInput, match="no log to add"):
            await say(session, "bug --with-log")
        await session.run_turn(SECRET)
        told = await say(session, "bug --with-log it hangs")
        await say(session, "bug again")
        files = sorted((bench.home / "reports").iterdir())
        assert [one.suffix for one in files].count(".md") == 2, "two in a second are two"
        (log,) = [one for one in files if one.suffix == ".jsonl"]
        assert SECRET in log.read_text() and str(log) in told

    bench.run(body, "done")
