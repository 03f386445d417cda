"""TaskCreate, TaskGet, TaskUpdate, TaskList: how models spell them, and what they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.agents.tasks import SharedTasks
from detent.ports import BadArguments, Desk, Host
from detent.session.log import MemoryLog
from detent.types.agents import AgentRecord, TaskChanged
from detent.types.events import Entry
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench


class Crew:
    def __init__(self, *records: AgentRecord) -> None:
        self.records = records

    def all(self) -> tuple[AgentRecord, ...]:
        return self.records


class TaskBench(Bench):
    agent = ""

    def __init__(self, host: Host, cwd: str) -> None:
        super().__init__(host, cwd)
        self.log = MemoryLog(lambda: 0.0)

    def record(self, entry: Entry) -> None:
        self.log.append(entry)

    def desk(self) -> Desk:
        return replace(super().desk(), agent=self.agent)

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        outcome = self.call(name, **arguments)
        assert isinstance(outcome, Done), text_of(outcome)
        assert outcome.data is not None
        return outcome.data

    def failure(self, name: str, **arguments: Any) -> str:
        outcome = self.call(name, **arguments)
        assert isinstance(outcome, Failed)
        return outcome.text


@pytest.fixture
def bench(memory: Callable[..., Bench]) -> TaskBench:
    plain = memory()
    made = TaskBench(plain.host, plain.cwd)
    made.shop.tasks = SharedTasks(lambda: made.log.entries, made.record)
    made.shop.agents = Crew()  # type: ignore[assignment]
    return made


def test_from_creation_to_completion(bench: TaskBench) -> None:
    made = bench.data("TaskCreate", subject="Parse", description="All of it", activeForm="Parsing")
    assert made["task"] == {
        "id": "1", "subject": "Parse", "description": "All of it", "activeForm": "Parsing",
        "status": "pending", "owner": None, "blocks": [], "blockedBy": [], "ready": True,
        "metadata": {},
    }  # fmt: skip
    assert bench.text("TaskCreate", subject="Print", blockedBy=["1"]) == (
        "Task 2 created; it waits for 1."
    )
    bench.agent = "alice"
    assert bench.text("TaskUpdate", taskId="next") == "1 [in_progress, alice] Parse\nAll of it"
    assert bench.text("TaskUpdate", taskId="1", status="completed") == (
        "1 [completed, alice] Parse\nReady now: 2."
    )
    freed = bench.data("TaskUpdate", taskId="2", status="completed")
    assert freed["updatedFields"] == ["status"] and freed["ready"] == []
    assert freed["success"] is True and freed["taskId"] == "2"
    by = [entry.by for entry in bench.log.entries if isinstance(entry, TaskChanged)]
    assert by == ["", "", "alice", "alice", "alice"]


def test_a_task_is_shown_with_all_that_is_known(bench: TaskBench) -> None:
    bench.call("TaskCreate", subject="a", description="long", metadata={"k": 1})
    bench.call("TaskCreate", subject="b", blockedBy=["1"])
    assert bench.text("TaskGet", taskId="1") == (
        '1 [pending, ready] a\nlong\nOthers wait for it: 2.\n{"k":1}'
    )
    data = bench.data("TaskGet", taskId="2")["task"]
    assert (data["blockedBy"], data["ready"]) == (["1"], False)
    assert bench.data("TaskGet", taskId="1")["task"]["blocks"] == ["2"]


def test_the_list_with_agents_and_with_owners_that_are_gone(bench: TaskBench) -> None:
    assert bench.text("TaskList") == "There are no tasks."
    for subject in "abcd":
        bench.call("TaskCreate", subject=subject)
    bench.call("TaskUpdate", taskId="2", addBlockedBy=["1", "3"])
    for task, owner in (("1", "scout"), ("3", "a2")):
        bench.agent = owner
        bench.call("TaskUpdate", taskId=task, status="in_progress")
    bench.call("TaskUpdate", taskId="4", status="deleted")
    bench.shop.agents = Crew(  # type: ignore[assignment]
        AgentRecord(agent="a1", kind="explore", name="scout", description="Look around"),
        AgentRecord(agent="a2", kind="plan", state="stopped", turns=1, ms=500),
    )
    assert bench.text("TaskList").splitlines() == [
        "1 [in_progress, scout] a",
        "2 [pending, waits for 1, 3] b",
        "3 [in_progress, a2, which is stopped] c",
        "",
        "Your subagents:",
        "scout [explore, running]: Look around",
        "a2 [plan, stopped] (1 step, 0 tool calls, 0 tokens, 0.5 s)",
    ]
    data = bench.data("TaskList")
    assert [task["id"] for task in data["tasks"]] == ["1", "2", "3"]
    assert data["agents"][0] == {
        "agentId": "a1", "name": "scout", "agentType": "explore", "status": "running",
        "description": "Look around",
    }  # fmt: skip


@pytest.mark.parametrize(
    "spelling",
    [
        {"taskId": "2", "addBlockedBy": ["1"]},
        {"taskId": 2, "addBlockedBy": [1]},
        {"task_id": "#2", "add_blocked_by": "#1"},
        {"id": " 2", "addBlockedBy": 1, "status": None, "owner": None},
    ],
)
def test_ids_are_taken_as_models_write_them(bench: TaskBench, spelling: dict[str, Any]) -> None:
    bench.call("TaskCreate", subject="a")
    bench.call("TaskCreate", subject="b")
    data = bench.data("TaskUpdate", **spelling)
    assert data["task"]["blockedBy"] == ["1"] and data["updatedFields"] == ["addBlockedBy"]


def test_metadata_and_giving_back(bench: TaskBench) -> None:
    bench.call("TaskCreate", subject="a", metadata={"x": 1, "y": 2})
    bench.call("TaskUpdate", taskId="1", status="in_progress")
    data = bench.data("TaskUpdate", taskId="1", owner="", status="pending", metadata={"x": None})
    assert (data["task"]["owner"], data["task"]["metadata"]) == (None, {"y": 2})


def test_what_is_refused_is_said_with_the_tools_name(bench: TaskBench) -> None:
    assert bench.failure("TaskCreate", subject="a", blockedBy=["5"]) == (
        "TaskCreate: there is no task 5; there are none."
    )
    assert bench.failure("TaskGet", taskId="5").startswith("TaskGet: there is no task 5")
    assert bench.failure("TaskUpdate", taskId="next") == "TaskUpdate: no task is left to do."
    bench.call("TaskCreate", subject="a")
    bench.call("TaskUpdate", taskId="1", status="deleted")
    assert bench.failure("TaskGet", taskId="1").startswith("TaskGet: there is no task 1;")


def test_wrong_arguments_are_explained(bench: TaskBench) -> None:
    for name, arguments in (
        ("TaskCreate", {"subject": ""}),
        ("TaskUpdate", {"taskId": "1", "status": "done"}),
        ("TaskUpdate", {"taskId": True}),
        ("TaskGet", {}),
    ):
        with pytest.raises(BadArguments):
            bench.call(name, **arguments)


def test_none_of_them_needs_permission(bench: TaskBench) -> None:
    for name, arguments in (
        ("TaskCreate", '{"subject": "a"}'), ("TaskGet", '{"taskId": "1"}'),
        ("TaskUpdate", '{"taskId": "1"}'), ("TaskList", "{}"),
    ):  # fmt: skip
        tool = bench.registry.find(name)
        assert tool is not None
        assert tool.effects(tool.parse(arguments), "/p") == ()
