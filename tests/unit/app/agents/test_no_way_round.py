"""What a subagent must not get by a way round: an agent that was to be asked about, what other
sessions have said, more turns, a gentler mode, the same hook twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crewbench import CrewModel, crew_session, delegating, in_loop, results_of
from detent.app.agents.files.isolation import hidden_from
from detent.app.agents.messages import letter
from detent.ports import Answer, Question
from detent.testing.script import Call, Reply
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import CallStarted
from detent.types.outcomes import text_of

GO = "Go."
WORKER = {"worker": {"description": "works", "prompt": "Work."}}


class Yes:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question.proposal.tool)
        return Answer(True, by="user")


def asking_for_workers(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/settings.json").write_text('{"permissions": {"ask": ["Agent(worker)"]}}')


def kinds_started(session: Any) -> list[str]:
    return [entry.kind for entry in session.entries if isinstance(entry, AgentStarted)]


@in_loop
async def test_a_call_that_started_nobody_is_no_group_to_take_up(tmp_path: Path) -> None:
    """A person who was asked about reading was not asked about agents."""
    asking_for_workers(tmp_path)
    smuggled = {"file_path": "a.txt", "prompt": "Work.", "subagent_type": "worker"}
    model = CrewModel(
        {
            GO: [
                Reply((Call("Read", smuggled, id="c1"),)),
                Reply((Call("delegate_agent", {"resume_group_id": "c1"}, id="c2"),)),
                "Done.",
            ],
            "*": ["Worked."],
        }
    )
    person = Yes()
    async with crew_session(tmp_path, model, agents=WORKER, approver=person) as session:
        (tmp_path / "project/a.txt").write_text("a")
        summary = await session.run_turn(GO)
        assert next(e.name for e in session.entries if isinstance(e, CallStarted)) == "Read"
        assert (kinds_started(session), person.asked) == ([], [])
    assert "there is no group c1 to go on with" in text_of(summary.tool_results[1].outcome)


@in_loop
async def test_a_message_starts_nobody_whom_the_user_wants_to_be_asked_about(
    tmp_path: Path,
) -> None:
    asking_for_workers(tmp_path)
    begun = delegating("Count.", subagent_type="worker", name="w")
    message = Reply((Call("SendMessage", {"to": "w", "message": "More."}, id="c9"),))
    model = CrewModel({GO: [begun, message, "Done."], "*": ["One."]})
    person = Yes()
    async with crew_session(tmp_path, model, agents=WORKER, approver=person) as session:
        await session.run_turn(GO)
        assert (kinds_started(session), person.asked) == (["worker"], ["Agent"])
        assert "Let it go on with Agent: `resume`" in results_of(model.requests[-1])
        agent = next(e.agent for e in session.entries if isinstance(e, AgentStarted))
        again = delegating("More.", subagent_type="worker", resume=agent)
        model._lines["Again."] = [again, "Done."]
        await session.run_turn("Again.")
        assert (kinds_started(session), person.asked) == (["worker"] * 2, ["Agent"] * 2)


@in_loop
async def test_what_one_may_not_start_nobody_starts_for_it(tmp_path: Path) -> None:
    agents = {
        "lead": {"description": "leads", "prompt": "Lead.", "tools": ["Agent(hand)", "Read"]},
        "hand": {"description": "does", "prompt": "Do."},
        **WORKER,
    }
    model = CrewModel(
        {
            GO: [delegating("Lead on.", subagent_type="lead"), "Done."],
            "Lead on.": [delegating("Do it.", subagent_type="hand"), "Led."],
            "Do it.": [delegating("Work.", subagent_type="worker"), "Did."],
            "*": ["Worked."],
        }
    )
    async with crew_session(tmp_path, model, agents=agents) as session:
        await session.run_turn(GO)
    told = "\n".join(map(results_of, model.requests))
    assert "lead may not start worker, only: hand." in told and "Worked." not in told


def copied_home(log: Path, home: Path) -> None:
    """The session of another folder, among those of this home."""
    folder = home / log.parent.parent.name / log.parent.name
    folder.mkdir(parents=True)
    (folder / log.name).write_bytes(log.read_bytes())


@pytest.mark.parametrize("wanted", ["{id}", "../{other}/{id}", "{start}"])
@in_loop
async def test_what_was_said_in_another_folder_is_not_read(tmp_path: Path, wanted: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with crew_session(elsewhere, CrewModel({"*": ["The key is 1234."]})) as session:
        await session.run_turn("Secret.")
        log = Path(session.path)
    copied_home(log, tmp_path / "home")
    resume = wanted.format(id=log.stem, other=log.parent.name, start=log.stem[:-2])
    model = CrewModel({GO: [delegating("Tell me.", resume=resume), "Done."], "*": ["Told."]})
    async with crew_session(tmp_path, model) as session:
        await session.run_turn(GO)
        assert kinds_started(session) == []
    assert "to go on from" in results_of(model.requests[-1])


@in_loop
async def test_nobody_gives_it_more_turns_than_there_are(tmp_path: Path) -> None:
    again = Reply((Call("Glob", {"pattern": "*"}),))
    agents = {"worker": {**WORKER["worker"], "maxTurns": 2}}
    call = delegating("Work on.", subagent_type="worker", max_turns=9)
    model = CrewModel({GO: [call, "Done."], "Work on.": [again]})
    async with crew_session(tmp_path, model, agents=agents, max_turns=5) as session:
        await session.run_turn(GO)
        (ended,) = (e for e in session.entries if isinstance(e, AgentEnded))
    assert (ended.reason, ended.steps) == ("max_turns", 2)


@in_loop
async def test_language_servers_do_not_read_for_it_what_it_may_not(tmp_path: Path) -> None:
    """Their answers show lines of other files: whose eyes they have counts."""
    agents = {"worker": {**WORKER["worker"], "disallowedTools": ["Read(/private/**)"]}}
    shops: list[Any] = []
    model = CrewModel(
        {
            GO: [delegating("Look.", subagent_type="worker"), delegating("Other."), "Done."],
            "Look.": [lambda request: shops.append(the_child(session)) or "Seen."],
            "Other.": [lambda request: shops.append(the_child(session)) or "Seen."],
        }
    )
    async with crew_session(tmp_path, model, agents=agents) as session:
        await session.run_turn(GO)
        root = session._engine.shop.code
        less, same = shops
        project = tmp_path / "project"
        assert less.code is not root and same.code is root
        assert not less._reads_freely(str(project / "private/k"), str(project))
        assert less._reads_freely(str(project / "k"), str(project))


@pytest.mark.parametrize("rule", ["Read(/private/**)", "Grep(/private/**)", "LS(/private/**)"])
@in_loop
async def test_a_copy_holds_nothing_that_any_rule_for_reading_denies(
    tmp_path: Path, rule: str
) -> None:
    async with crew_session(tmp_path, CrewModel({}), disallowed_tools=(rule,)) as session:
        is_hidden = hidden_from(session._engine)
        assert is_hidden is not None
        hidden = {
            name for name in ("private/k", "k") if is_hidden(str(tmp_path / "project" / name))
        }
    assert hidden == {"private/k"}


def the_child(session: Any) -> Any:
    (running,) = session._engine.staff.crew.at_work.values()
    return running.work.engine.shop


@in_loop
async def test_a_hook_of_an_agents_file_hears_of_a_call_once(tmp_path: Path) -> None:
    """Also where an agent of the same kind works for it."""
    heard = tmp_path / "heard"
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"echo x >> {heard}"}]}]}
    agents = {"worker": {**WORKER["worker"], "hooks": hooks}}
    look = Reply((Call("Glob", {"pattern": "*"}),))
    model = CrewModel(
        {
            GO: [delegating("One.", subagent_type="worker"), "Done."],
            "One.": [delegating("Two.", subagent_type="worker"), "Seen."],
            "Two.": [look, "Seen."],
        }
    )
    async with crew_session(tmp_path, model, agents=agents) as session:
        await session.run_turn(GO)
    assert heard.read_text().count("x") == 2  # the call of Agent, and that of Glob


def test_a_message_is_not_the_users() -> None:
    assert letter("the agent w", "Push it.").startswith(
        "[Message of the agent w, not of the user:]\n"
    )
