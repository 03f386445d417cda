"""Agents that write in one folder: in turn, told of one another, and undone with the session."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest

from crewbench import CrewModel, asked_of, crew_session, delegating, in_loop, results_of
from detent.app.agents.files.hands import Hands
from detent.app.agents.files.path_locks import PathLocks
from detent.app.agents.files.sharing import Sharing
from detent.app.checkpoints.keeper import FileKeeper
from detent.app.checkpoints.terms import Terms
from detent.app.desk import KeptFiles
from detent.ports import Proposal
from detent.sdk.session import Session
from detent.session.blobs import Blobs, digest_of
from detent.testing.script import Call, Reply
from detent.types.agents import AgentEnded, AgentStarted, ChildChanged
from detent.types.content import Call as ProposedCall
from detent.types.effects import Effect, Runs, Writes
from detent.types.events import CallEnded
from detent.types.files import Change, FileState
from detent.types.messages import Request

GO = "Go."
FREE = {"permission_mode": "bypassPermissions", "sandbox": "off"}


def act(name: str, **arguments: Any) -> Reply:
    return Reply((Call(name, arguments),))


def changes_told(session: Session) -> list[tuple[str, str]]:
    return [
        (entry.agent, os.path.basename(change.path))
        for entry in session.entries
        if isinstance(entry, ChildChanged)
        for change in entry.changed
    ]


def project(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def repository(tmp_path: Path, **files: str) -> Path:
    folder = project(tmp_path, **files)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", *command], cwd=folder, check=True, timeout=30)
    return folder


@in_loop
async def test_what_a_child_writes_is_undone_with_the_step_that_set_it_to_work(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [act("Write", file_path=str(folder / "own"), content="own"),
                 delegating("Write."), "Done."],
            "Write.": [
                act("Write", file_path=str(folder / "new"), content="new"),
                act("Bash", command="echo two > a; mkdir d; echo x > d/x"),
                "Written.",
            ],
        }
    )  # fmt: skip
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        assert changes_told(session) == [(agent, n) for n in ("new", "a", "d", "x")]
        assert [point.files for point in session.points()] == [5]
        report = await session.undo()
        undone = sorted(file.path.removeprefix(f"{folder}/") for file in report.files)
        assert undone == ["a", "d", "d/x", "new"]
        assert report.steps == (2,), "the step that set it to work, not the one before"
        assert (folder / "a").read_text() == "one\n" and (folder / "own").exists()
        assert not (folder / "new").exists() and not (folder / "d").exists()
        await session.redo()
        assert (folder / "a").read_text() == "two\n" and (folder / "d" / "x").exists()


@in_loop
async def test_of_two_who_change_a_file_the_second_is_told_what_the_first_did(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path, a="one\ntwo\nthree\n")
    late_has_read, early_is_done = asyncio.Event(), asyncio.Event()
    path = str(folder / "a")
    told: list[str] = []

    def noting(line: Reply) -> Any:
        def say(request: Request) -> Reply:
            told.append(results_of(request))
            return line

        return say

    edit = act("Edit", file_path=path, old_string="three", new_string="3")
    model = CrewModel(
        {
            GO: [delegating("Early.", "Late."), "Done."],
            "Early.": [
                act("Read", file_path=path),
                act("Edit", file_path=path, old_string="one", new_string="1"),
                "Early is done.",
            ],
            "Late.": [act("Read", file_path=path), edit, noting(edit), "Late is done."],
        }
    )
    answered = model.stream

    async def in_turn(request: Request, deltas: Any) -> Any:
        """Both read, then the early one edits, and only then the late one."""
        is_late, has_read = "Late." in str(request.messages[0]), "three" in results_of(request)
        if is_late and has_read and not told:
            late_has_read.set()
            await early_is_done.wait()
        elif "Early." in str(request.messages[0]) and has_read:
            await late_has_read.wait()
        reply = await answered(request, deltas)
        if any(getattr(block, "text", "") == "Early is done." for block in reply.content):
            early_is_done.set()
        return reply

    model.stream = in_turn  # type: ignore[method-assign]
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        assert len(changes_told(session)) == 2
        await session.undo()
    assert "general-purpose (Early.) has changed" in told[0]
    assert "-one\n+1" in told[0] and "Try again" in told[0]
    assert (folder / "a").read_text() == "one\ntwo\nthree\n", "both are undone"


@in_loop
async def test_of_two_who_make_the_same_file_the_second_is_told_what_is_in_it(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path)
    told: list[str] = []

    def writes(who: str) -> list[Any]:
        write = act("Write", file_path="new.txt", content=f"by {who}\n")

        def again(request: Request) -> Reply | str:
            told.append(results_of(request))
            return write if "has made" in told[-1] else "Done."

        return [write, again]

    model = CrewModel(
        {GO: [delegating("One.", "Two."), "Done."], "One.": writes("1"), "Two.": writes("2")}
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        assert len(changes_told(session)) == 2
    (refused,) = [text for text in told if "has made" in text]
    first, second = ("1", "2") if "(One.)" in refused else ("2", "1")
    assert f"has made {folder / 'new.txt'}:" in refused and f"+by {first}" in refused
    assert (folder / "new.txt").read_text() == f"by {second}\n", "it knew, and tried again"


@in_loop
async def test_edits_of_one_file_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """Each is told of the others until it has made its own change."""
    count = 5
    folder = project(tmp_path, a="".join(f"line {n}\n" for n in range(count)))
    path = str(folder / "a")
    prompts = [f"Part {n}." for n in range(count)]

    def part(number: int) -> list[Any]:
        edit = act(
            "Edit", file_path=path, old_string=f"line {number}\n", new_string=f"done {number}\n"
        )

        def again(request: Request) -> Reply | str:
            return edit if "has changed" in results_of(request) else "Mine is done."

        return [act("Read", file_path=path), edit, again]

    model = CrewModel(
        {GO: [delegating(*prompts), "Done."], **{p: part(n) for n, p in enumerate(prompts)}}
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        assert (folder / "a").read_text() == "".join(f"done {n}\n" for n in range(count))
        assert [name for _, name in changes_told(session)] == ["a"] * count
        await session.undo()
    assert (folder / "a").read_text() == "".join(f"line {n}\n" for n in range(count))


@in_loop
async def test_in_a_worktree_it_works_apart_and_is_merged(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n", b="two\n")
    seen: list[str] = []

    def looks(request: Request) -> Reply:
        seen.append((folder / "a").read_text())
        return act("Grep", pattern="changed", output_mode="content")

    def done(request: Request) -> str:
        seen.append(results_of(request))
        return "Changed it."

    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [
                act("Bash", command="pwd; echo changed >> a; git commit -qam x 2>&1; echo n > new"),
                looks,
                done,
            ],
        }
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        started = next(e for e in session.entries if isinstance(e, AgentStarted))
        assert started.worktree == str(folder / ".detent-worktrees" / started.agent)
        assert seen[0] == "one\n", "nothing is seen of it outside"
        assert "a:" in seen[1] and "changed" in seen[1], "and its own tools see it"
        assert (folder / "a").read_text() == "one\nchanged\n"
        assert (folder / "new").read_text() == "n\n"
        assert not (folder / ".detent-worktrees").exists()
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        assert ended.answer.startswith("Changed it.\n\n[Merged from its worktree: a (+1 −0), new")
        assert changes_told(session) == [(started.agent, "a"), (started.agent, "new")]
        await session.undo()
        assert (folder / "a").read_text() == "one\n" and not (folder / "new").exists()


@in_loop
async def test_whoever_works_for_one_in_a_worktree_works_there_too(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [delegating("Chief.", isolation="worktree"), "Done."],
            "Chief.": [delegating("Below."), "Chief is done."],
            "Below.": [act("Bash", command="pwd"), write_there, "Below is done."],
        }
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        assert (folder / "new").read_text() == "new"
        chief = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        assert changes_told(session) == [(chief, "new")], "once, and only when it was merged"


def write_there(request: Request) -> Reply:
    return act("Write", file_path=f"{results_of(request).strip()}/new", content="new")


@in_loop
async def test_children_in_worktrees_that_contradict_each_other(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n")
    both = asyncio.Barrier(2)
    model = CrewModel(
        {
            GO: [delegating("Left.", "Right.", isolation="worktree"), "Done."],
            "Left.": [act("Bash", command="echo left > a"), "Left."],
            "Right.": [act("Bash", command="echo right > a"), "Right."],
        }
    )
    answered = model.stream

    async def together(request: Request, deltas: Any) -> Any:
        if not results_of(request) and "Go." not in str(request.messages[0]):
            await both.wait()
        return await answered(request, deltas)

    model.stream = together  # type: ignore[method-assign]
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        ended = [e for e in session.entries if isinstance(e, AgentEnded)]
        (lost,) = [e for e in ended if "Nothing was merged" in e.answer]
        assert f"{folder}/a (it was changed here, too)" in lost.answer
        kept = folder / ".detent-worktrees" / lost.agent / "a"
        assert {kept.read_text(), (folder / "a").read_text()} == {"left\n", "right\n"}


@in_loop
async def test_one_that_is_stopped_keeps_its_worktree(tmp_path: Path) -> None:
    """Nothing of it is merged, and nothing of it is lost."""
    folder = repository(tmp_path, a="one\n")
    asked, never = asyncio.Event(), asyncio.Event()
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [act("Bash", command="echo half > a"), "never said"],
        }
    )
    answered = model.stream

    async def hanging(request: Request, deltas: Any) -> Any:
        if asked_of(request) == "Change." and results_of(request):
            asked.set()
            await never.wait()
        return await answered(request, deltas)

    model.stream = hanging  # type: ignore[method-assign]
    async with crew_session(tmp_path, model, **FREE) as session:
        turn = asyncio.create_task(session.run_turn(GO))
        await asked.wait()
        before = asyncio.get_running_loop().time()
        session.interrupt()
        with suppress(Exception):
            await turn
        assert asyncio.get_running_loop().time() - before < 2
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        assert ended.state == "stopped"
        kept = folder / ".detent-worktrees" / ended.agent
        assert f"its worktree is kept in {kept} (a (+1 −1))" in ended.answer
        assert (kept / "a").read_text() == "half\n" and (folder / "a").read_text() == "one\n"


@in_loop
async def test_in_a_session_that_is_not_saved_worktrees_are_merged_too(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [act("Bash", command="echo two > a"), "Changed it."],
        }
    )
    async with crew_session(tmp_path, model, persist=False, **FREE) as session:
        await session.run_turn(GO)
        assert (folder / "a").read_text() == "two\n"
        assert changes_told(session) == []


@in_loop
async def test_an_undo_is_no_work_of_a_command_that_runs_meanwhile(tmp_path: Path) -> None:
    folder = project(tmp_path, a="one\n")
    holds = "touch begun; until [ -e go ]; do sleep 0.02; done; echo x > late"
    writes = act("Write", file_path=str(folder / "mine"), content="mine")
    model = CrewModel(
        {
            GO: [delegating("Change.", run_in_background=True), writes, "Begun."],
            "Change.": [act("Bash", command=holds), "Done."],
        }
    )

    def told() -> set[str]:
        return {name for _, name in changes_told(session)}

    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        await until((folder / "begun").exists)
        await session.undo(turn=True)
        assert sorted(os.listdir(folder)) == ["a"], "and it is undone what the command did so far"
        (folder / "go").touch()
        await until(lambda: any(isinstance(e, AgentEnded) for e in session.entries))
        assert "late" in told() and "mine" not in told()
        await session.redo()
        assert (folder / "mine").read_text() == "mine"
        await session.undo(turn=True)
        assert sorted(os.listdir(folder)) == ["a"]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.01)


@in_loop
async def test_a_file_whose_name_is_no_text_is_merged_and_told(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [act("Bash", command="printf x > $(printf 'caf\\351')"), "Made it."],
        }
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        assert ended.answer == "Made it.\n\n[Merged from its worktree: caf\ufffd (new, +1 −0).]"
        assert b"caf\xe9" in os.listdir(os.fsencode(folder))


@in_loop
async def test_on_a_full_disk_the_answer_is_told_and_the_worktree_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [act("Bash", command="echo two > a"), "Changed it."],
        }
    )

    def full(prefix: str) -> Any:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    monkeypatch.setattr("detent.app.agents.files.differing.TemporaryDirectory", full)
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        kept = folder / ".detent-worktrees" / ended.agent
        why = f"Nothing was merged: No space left on device. Its worktree is kept in {kept}."
        assert ended.answer == f"Changed it.\n\n[{why}]"
        assert (kept / "a").read_text() == "two\n"


@in_loop
async def test_the_memory_of_the_project_is_told_once(tmp_path: Path) -> None:
    folder = repository(tmp_path, a="one\n", **{"CLAUDE.md": "Mind the gap."})
    (folder / "sub").mkdir()
    (folder / "sub" / "CLAUDE.md").write_text("Mind the step.")
    (folder / "sub" / "file").write_text("text")
    model = CrewModel(
        {
            GO: [delegating("Read.", isolation="worktree"), "Done."],
            "Read.": [act("Bash", command="pwd"), read_there, "Read it."],
        }
    )
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
    asked = [r for r in model.requests if asked_of(r) == "Read."]
    assert str(asked[-1]).count("Mind the gap.") == 1
    assert str(asked[-1]).count("Mind the step.") == 1, "that of a folder in it counts"


def read_there(request: Request) -> Reply:
    return act("Read", file_path=f"{results_of(request).strip()}/sub/file")


@pytest.mark.parametrize(
    ("at_end", "words"),
    [("keep", "its worktree is kept in"), ("discard", "was discarded")],
)
def test_what_else_may_become_of_a_worktree(tmp_path: Path, at_end: str, words: str) -> None:
    folder = repository(tmp_path, a="one\n")
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree", at_end=at_end), "Done."],
            "Change.": [act("Bash", command="echo two > a"), "Changed it."],
        }
    )

    @in_loop
    async def run() -> None:
        async with crew_session(tmp_path, model, **FREE) as session:
            await session.run_turn(GO)
            ended = next(e for e in session.entries if isinstance(e, AgentEnded))
            assert words in ended.answer
            kept = folder / ".detent-worktrees" / ended.agent / "a"
            assert kept.exists() == (at_end == "keep")

    run()
    assert (folder / "a").read_text() == "one\n"


@in_loop
async def test_a_rule_against_a_file_holds_for_its_copy(tmp_path: Path) -> None:
    """Neither is what is denied to be read in the copy, nor what is denied to be written merged."""
    script = "echo x > fixed\necho two > a\n"
    folder = repository(tmp_path, a="one\n", secret="s\n", fixed="f\n", script=script)
    model = CrewModel(
        {
            GO: [delegating("Change.", isolation="worktree"), "Done."],
            "Change.": [act("Bash", command="sh script"), "Changed it."],
        }
    )
    denied = ("Read(secret)", "Edit(/fixed)")
    async with crew_session(tmp_path, model, disallowed_tools=denied, **FREE) as session:
        await session.run_turn(GO)
        ended = next(e for e in session.entries if isinstance(e, AgentEnded))
        assert f"{folder}/fixed (The rule Edit(/fixed) denies it.)" in ended.answer
        copy = folder / ".detent-worktrees" / ended.agent
        assert (copy / "a").read_text() == "two\n" and not (copy / "secret").exists()
    assert (folder / "a").read_text() == "one\n" and (folder / "fixed").read_text() == "f\n"


@in_loop
async def test_without_a_repository_the_call_says_so(tmp_path: Path) -> None:
    project(tmp_path)
    model = CrewModel({GO: [delegating("Change.", isolation="worktree"), "Done."]})
    async with crew_session(tmp_path, model, **FREE) as session:
        await session.run_turn(GO)
        (ended,) = [e for e in session.entries if isinstance(e, CallEnded)]
        assert "no git repository" in str(ended.outcome)


class Kept:
    """The files of a session and of one agent, and what the log says."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.told: list[Any] = []
        self.blobs = Blobs(str(folder / "home"))
        self.session = KeptFiles(self._keeper)
        self.sharing = Sharing(self.session, self.told.append)
        self.agent = self.sharing.of("agent", "worker")

    def _keeper(self) -> FileKeeper:
        found, home = self.session.found, str(self.folder / "home")
        return FileKeeper([str(self.folder)], home, Terms(), self.blobs, lambda text: None, found)

    def proposal(self, call: str, *effects: Effect) -> Proposal:
        return Proposal(ProposedCall(call, "T", "{}"), "T", {}, effects, str(self.folder))

    def names(self, changes: Sequence[Change]) -> list[str]:
        return [os.path.basename(change.path) for change in changes]


@in_loop
async def test_what_a_command_of_the_session_did_is_told_before_what_comes_after_it(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    same_id = "call_1"
    await kept.session.before(kept.proposal(same_id, Runs("make")))
    (kept.folder / "a").write_text("by the command")
    await kept.agent.before(kept.proposal(same_id, Writes("a")))
    (kept.folder / "a").write_text("by the agent")
    (kept.folder / "b").write_text("by the command")
    assert kept.names(await kept.agent.after(same_id)) == ["a"]
    told = [(one.agent, one.call_id, kept.names(one.changed)) for one in kept.told]
    assert told == [("", same_id, ["a"]), ("", same_id, ["b"]), ("agent", same_id, ["a"])]
    first, _, last = kept.told
    assert last.changed[0].before == first.changed[0].after
    assert await kept.session.after(same_id) == (), "all is told"
    kept.session.close()


@in_loop
async def test_a_call_that_is_cancelled_before_it_began_holds_nothing(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.session.before(kept.proposal("one", Writes("a")))
    waiting = asyncio.create_task(kept.agent.before(kept.proposal("two", Writes("a"))))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await kept.session.after("one")
    await asyncio.wait_for(kept.agent.before(kept.proposal("three", Writes("a"))), 5)
    await kept.agent.after("three")
    assert kept.sharing.locks._waiting == {}
    kept.session.close()


@in_loop
async def test_a_call_that_is_cancelled_while_files_are_kept_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, never = Kept(tmp_path), asyncio.Event()

    async def hanging(proposal: Proposal, key: str) -> dict[str, FileState]:
        await never.wait()
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(kept.session, "keep", hanging)
        waiting = asyncio.create_task(kept.agent.before(kept.proposal("one", Writes("a"))))
        await asyncio.sleep(0)
        assert len(kept.sharing.locks._waiting) == 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert kept.sharing.locks._waiting == {}


def test_whose_hand_it_was() -> None:
    async def since(hands: Hands, known: bytes, me: str = "me") -> str:
        told = await hands.since("/f", digest_of(known), b"now\n", me)
        return "" if told is None else told.text

    def change(before: bytes, after: bytes) -> Change:
        states = (FileState("file", 0o644, 1, digest_of(data)) for data in (before, after))
        return Change("/f", *states)

    async def work() -> None:
        hands = Hands(lambda: None)
        hands.note("early", [change(b"1", b"2")])
        hands.note("me", [change(b"2", b"3")])
        hands.note("late", [change(b"3", b"4")])
        assert (await since(hands, b"1")).startswith("early and late have changed /f")
        assert (await since(hands, b"3")).startswith("late has changed /f")
        assert await since(hands, b"4") == "", "nobody of the session since"
        assert await since(hands, b"other") == "", "nobody knows"
        assert "me has" in await since(hands, b"2", "late")
        hands.note("last", [change(b"by the user", b"5")])
        assert (await since(hands, b"4")).startswith("last has changed /f")

    asyncio.run(work())


def in_order(events: Sequence[str], *names: str) -> bool:
    places = [events.index(name) for name in names]
    return places == sorted(places)


def test_a_path_has_one_writer_at_a_time_in_the_order_they_came() -> None:
    async def work() -> None:
        locks, events = PathLocks(), list[str]()

        async def writer(name: str, *paths: str) -> None:
            taken = await locks.take(paths)
            events.append(f"{name} has")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            events.append(f"{name} gives")
            locks.give_back(taken)

        await asyncio.wait_for(
            asyncio.gather(
                writer("a", "x", "y"), writer("b", "y", "x"), writer("c", "z"), writer("d", "x")
            ),
            5,
        )
        assert in_order(events, "a gives", "b has", "b gives", "d has")
        assert in_order(events, "c has", "a gives"), "another path waits for nobody"
        assert locks._waiting == {}

    asyncio.run(work())


def test_who_stops_waiting_holds_nobody_up() -> None:
    async def work() -> None:
        locks = PathLocks()
        taken = await locks.take(["b"])
        waiting = asyncio.create_task(locks.take(["a", "b"]))
        behind = asyncio.create_task(locks.take(["a"]))
        last = asyncio.create_task(locks.take(["b"]))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.wait_for(behind, 5) == ("a",), "what it had is given back"
        given = asyncio.create_task(locks.take(["b"]))
        await asyncio.sleep(0)
        locks.give_back(taken)
        last.cancel()  # in the very moment in which it was its turn
        assert await asyncio.wait_for(given, 5) == ("b",)
        locks.give_back(("a", "b"))
        assert locks._waiting == {}

    asyncio.run(work())
