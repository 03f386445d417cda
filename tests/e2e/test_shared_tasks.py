"""Tasks that a session and its agents share, and the tree of who worked: from the outside."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from detent.testing import Request, call, reply

from .conftest import PATIENCE, Frame, Runner
from .crew import serve


def create(subject: str, *blocked_by: str) -> Any:
    return call("TaskCreate", {"subject": subject, "blockedBy": list(blocked_by)})


def update(task: str, **wish: Any) -> Any:
    return reply(call("TaskUpdate", {"taskId": task, **wish}))


def agent(name: str) -> Any:
    return call("Agent", {"description": f"Work as {name}", "prompt": f"TASK {name}",
                          "name": name})  # fmt: skip


def changes(runner: Runner) -> list[tuple[str, str, str, str]]:
    (log,) = runner.logs
    found = [entry for entry in runner.entries(log.stem) if entry["type"] == "taskchanged"]
    return [
        (one.get("by", ""), one["task"]["id"], one["task"].get("status", "pending"),
         one["task"].get("owner", ""))
        for one in found
    ]  # fmt: skip


def session_of(runner: Runner) -> str:
    (log,) = runner.logs
    return log.stem


def test_parent_and_agents_work_off_one_list(runner: Runner) -> None:
    model = serve(
        runner,
        reply(create("parse")),
        reply(create("print", "1")),
        reply(create("check")),
        reply(agent("ann"), agent("bob")),
        reply(call("TaskList", {})),
        "all done",
        ann=[update("next"), reply(call("TaskGet", {"taskId": "1"})), "one of them is mine"],
        bob=[update("next"), reply(call("TaskGet", {"taskId": "1"})), "the other is mine"],
    )
    ran = runner.prompt("go")
    assert ran.code == 0 and ran.result["result"] == "all done", ran
    made = [("", str(n), "pending", "") for n in (1, 2, 3)]
    assert changes(runner)[:3] == made
    claims = changes(runner)[3:]
    assert {(by, owner) for by, _, _, owner in claims} == {("ann", "ann"), ("bob", "bob")}
    assert sorted(task for _, task, _, _ in claims) == ["1", "3"], "each got another, 2 must wait"
    assert "2 [pending, waits for 1] print" in model.results()[-1]
    assert "ann [general-purpose, completed]: Work as ann" in model.results()[-1]


def test_whoever_comes_second_is_told_and_what_becomes_ready_is_said(runner: Runner) -> None:
    model = serve(
        runner,
        reply(create("parse")),
        reply(create("print", "1")),
        update("1", status="in_progress"),
        reply(agent("ann")),
        update("1", status="completed"),
        "done",
        ann=[update("1", status="in_progress"), update("2", status="completed"), "I could not"],
    )
    assert runner.prompt("go").code == 0
    assert [text.partition(": ")[2] for text in model.results("ann")] == [
        'task 1 is main\'s. Take another: taskId "next".',
        "task 2 waits for 1 (main's).",
    ]
    assert model.results()[-1] == "1 [completed, main] parse\nReady now: 2."


def test_agents_that_nobody_named_are_not_taken_for_one(runner: Runner) -> None:
    alike = [call("Agent", {"description": "Work", "prompt": f"TASK {who}"}) for who in "xy"]
    model = serve(
        runner,
        reply(create("parse")),
        reply(*alike),
        "done",
        x=[update("1", status="in_progress"), "over"],
        y=[update("1", status="in_progress"), "over"],
    )
    assert runner.prompt("go").code == 0
    said = sorted(text.partition(" ")[0] for who in "xy" for text in model.results(who))
    assert said == ["1", "TaskUpdate:"], "one has it, the other is told"
    (_, claim) = changes(runner)
    assert claim[0] == claim[3] != "", "under its id"


def test_whoever_works_for_an_agent_has_the_same_list(runner: Runner) -> None:
    serve(
        runner,
        reply(agent("ann")), update("next"), "done",
        ann=[reply(agent("cat")), "over"],
        cat=[reply(create("found below")), "over"],
    )  # fmt: skip
    assert runner.prompt("go").code == 0
    assert changes(runner) == [("cat", "1", "pending", ""), ("", "1", "in_progress", "main")]


def test_a_resumed_session_and_a_fork_have_their_tasks(runner: Runner) -> None:
    runner.serve(
        reply(create("parse")), reply(create("print", "1")), update("next"), "so far",
        reply(call("TaskList", {})), "still there",
        update("1", status="completed"), "forked",
    )  # fmt: skip
    runner.prompt("go")
    session = session_of(runner)
    runner.prompt("and now?", "--resume", session)
    listed = "1 [in_progress, main] parse\n2 [pending, waits for 1] print"
    assert runner.requests[-1].tool_results[-1].text == listed
    runner.prompt("end it", "--resume", session, "--fork-session")
    ended = "1 [completed, main] parse\nReady now: 2."
    assert runner.requests[-1].tool_results[-1].text == ended


def test_after_kill_9_nothing_of_the_list_is_lost(runner: Runner) -> None:
    stuck, over = threading.Event(), threading.Event()

    def hang(request: Request) -> Any:
        stuck.set()
        over.wait(PATIENCE)
        return "too late"

    model = serve(
        runner,
        reply(create("parse")), reply(agent("ann")), reply(call("TaskList", {})), "I see",
        ann=[update("next"), hang],
    )  # fmt: skip
    live = runner.start("-p", "go")
    try:
        assert stuck.wait(PATIENCE)
        tree = runner.run("agents", "tree")
        assert "└─ ▶ general-purpose  Work as ann (ann) · running · 1 step · 1 call" in tree.stdout
        live.kill()
    finally:
        over.set()
    tree = runner.run("agents", "tree")
    assert "└─ ! general-purpose  Work as ann (ann) · interrupted · 1 step · 1 call" in tree.stdout
    ran = runner.prompt("and now?", "--resume", session_of(runner))
    assert ran.code == 0, ran
    listed = model.results()[-1].splitlines()
    assert listed[0] == "1 [in_progress, ann, which is interrupted] parse"
    assert "ann [general-purpose, interrupted]: Work as ann" in "\n".join(listed)


def test_hooks_have_a_say(runner: Runner) -> None:
    hook = 'echo "$(cat)" >> told; grep -q secret told && { echo not that >&2; exit 2; }; exit 0'
    hooks: Frame = {
        event: [{"hooks": [{"type": "command", "command": hook}]}]
        for event in ("TaskCreated", "TaskCompleted")
    }
    model = serve(
        runner,
        reply(create("parse")), update("1", status="in_progress"), reply(create("secret")),
        update("1", status="completed"), "done",
    )  # fmt: skip
    assert runner.prompt("go", "--settings", json.dumps({"hooks": hooks})).code == 0
    refused = "a hook refuses it: not that"
    assert model.results()[2:] == [f"TaskCreate: {refused}", f"TaskUpdate: {refused}"]
    assert [change[1:3] for change in changes(runner)] == [("1", "pending"), ("1", "in_progress")]
    told = [json.loads(line) for line in (runner.work / "told").read_text().splitlines()]
    assert [(one["hook_event_name"], one["task_id"], one["task_subject"]) for one in told] == [
        ("TaskCreated", "1", "parse"),
        ("TaskCreated", "2", "secret"),
        ("TaskCompleted", "1", "parse"),
    ]


# The tree


def grown(runner: Runner) -> None:
    serve(
        runner,
        reply(agent("ann"), agent("bob")), "done",
        ann=[reply(agent("cat")), "ann is done"], bob=["bob is done"], cat=["cat is done"],
    )  # fmt: skip
    assert runner.prompt("go").code == 0


def test_the_tree_of_the_newest_session(runner: Runner) -> None:
    grown(runner)
    lines = runner.run("agents", "tree").stdout.splitlines()
    assert lines[0].startswith(f"{session_of(runner)[:8]}  go · 2 steps · 2 calls · ")
    heads = [line.partition(" ·")[0] for line in lines[1:]]
    assert sorted(heads) == sorted([
        "├─ ✓ general-purpose  Work as ann (ann)",
        "│  └─ ✓ general-purpose  Work as cat (cat)",
        "└─ ✓ general-purpose  Work as bob (bob)",
    ]) or sorted(heads) == sorted([
        "├─ ✓ general-purpose  Work as bob (bob)",
        "└─ ✓ general-purpose  Work as ann (ann)",
        "   └─ ✓ general-purpose  Work as cat (cat)",
    ]), "whoever began first stands first"  # fmt: skip
    ascii_only = runner.run("agents", "tree", env={"PYTHONIOENCODING": "ascii"})
    assert ascii_only.code == 0 and ascii_only.stdout.isascii()
    assert "`- + general-purpose" in ascii_only.stdout


def test_groups_in_the_tree(runner: Runner) -> None:
    graph = [
        {"name": "look", "children": [{"name": who, "prompt": f"TASK {who}"} for who in "ab"]},
        {"name": "then", "depends_on": ["b"], "children": [{"name": "c", "prompt": "TASK c"}]},
    ]
    serve(
        runner,
        reply(call("delegate_agent", {"groups": graph})), "done",
        a=["fine"], b=[reply("I will not", stop="refusal")],
    )  # fmt: skip
    assert runner.prompt("go").code == 0
    lines = [line.partition(" · ") for line in runner.run("agents", "tree").stdout.splitlines()]
    heads, facts = [head for head, _, _ in lines], [fact for _, _, fact in lines]
    assert heads[1:] == [
        "├─ group look (parallel)",
        "│  ├─ ✓ [0] general-purpose  a",
        "│  └─ ✗ [1] general-purpose  b",
        "│        (The model declined to answer.)",
        "└─ group then (parallel)",
        "   └─ - [2] general-purpose  c",
    ]
    assert facts[1].startswith("1 completed · 1 failed · 1 batch, the largest 2 · ")
    assert facts[3].startswith("failed: refusal · 1 step · 0 calls · ")
    assert facts[5].startswith("0 completed · 1 skipped · 0 batches, the largest 0 · ")
    assert facts[6].startswith("skipped: ") and "`b`" in facts[6]


def test_the_tree_for_programs(runner: Runner) -> None:
    grown(runner)
    session = session_of(runner)
    tree = json.loads(runner.run("agents", "tree", session[:10], "--json").stdout)
    by_name = {node["record"]["name"]: node for node in tree["agents"]}
    ann = by_name["ann"]["record"]
    cat = by_name["ann"]["agents"][0]["record"]
    assert (cat["parent_agent_id"], cat["depth"], cat["answer"]) == (ann["agent"], 2, "cat is done")
    assert (ann["state"], ann["turns"], ann["tool_calls"]) == ("completed", 2, 1)
    assert ann["stop_reason"] == "end_turn"
    assert os.path.exists(ann["session_path"]) and os.path.exists(cat["session_path"])
    assert tree["session"]["id"] == session


def test_logs_that_are_gone_or_damaged_are_said(runner: Runner) -> None:
    grown(runner)
    tree = json.loads(runner.run("agents", "tree", "--json").stdout)
    paths = {one["record"]["name"]: one["record"]["session_path"] for one in tree["agents"]}
    os.unlink(paths["bob"])
    with open(paths["ann"], "ab") as file:
        file.write(b'{"crc":"00000000","type":"torn')
    ran = runner.run("agents", "tree")
    assert ran.code == 0 and "Traceback" not in ran.stdout
    assert "(its log is not there any more)" in ran.stdout
    assert "(1 line of its log cannot be read)" in ran.stdout
    assert "Work as cat" in ran.stdout


def test_what_cannot_be_drawn_is_explained(runner: Runner) -> None:
    nothing = runner.run("agents", "tree")
    assert nothing.code != 0 and "no sessions here yet" in nothing.stderr
    grown(runner)
    unknown = runner.run("agents", "tree", "no-such-session")
    assert unknown.code != 0 and "no-such-session" in unknown.stderr
    assert "takes one SESSION" in runner.run("agents", "tree", "a", "b").stderr
