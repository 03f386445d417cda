"""The tree of a saved session: from its logs, also damaged ones, of one that runs or was killed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.agents import tree as tree_module
from detent.sdk.agents_tree import AgentNode, AgentTree, agents_tree
from detent.session.log import FileLog
from detent.session.reading import read_log
from detent.types.agents import AgentEnded, AgentStarted, GroupEnded, Lineage
from detent.types.budget import Spent
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened
from detent.types.usage import Usage
from sessionbench import OVER, Shelf, answer, prompt, started

TEN = Spent(usage=Usage(10), requests=1)


def begun(agent: str, **given: Any) -> AgentStarted:
    return AgentStarted(agent=agent, kind="explore", call_id="c", **given)


def ended(agent: str, state: Any = "completed", **given: Any) -> AgentEnded:
    fields = {"reason": "end_turn", "steps": 2, "calls": 3, "spent": TEN, "ms": 50, **given}
    return AgentEnded(agent=agent, state=state, **fields)


class Grove:
    """A session with the logs of its agents beside it."""

    def __init__(self, folder: Path) -> None:
        self.shelf = Shelf(folder / "home")
        self.path = ""
        self.cwd = str(folder)

    def session(self, *entries: Entry, parent: str = "") -> Path:
        self.path = self.shelf.add("s1", *entries, cwd=self.cwd, parent=parent)
        return Path(self.path)

    def agent(self, id: str, *entries: Entry, at: float = 2_000.0) -> Path:
        path = f"{self.path.removesuffix('.jsonl')}/agents/{id}.jsonl"
        log = FileLog(path, lambda: at, home=self.shelf.home)
        lineage = Lineage(agent=id, kind="explore", root="s1")
        for entry in (Opened(session=id, cwd="/p", version="0", lineage=lineage), *entries):
            log.append(entry)
        assert not log.trouble
        log.close()
        return Path(path)

    def tree(self, wanted: str = "") -> AgentTree:
        environ = {"DETENT_HOME": self.shelf.home, "HOME": self.shelf.home}
        return agents_tree(wanted, cwd=self.cwd, environ=environ)


@pytest.fixture
def grove(tmp_path: Path) -> Grove:
    return Grove(tmp_path)


def shape(nodes: tuple[AgentNode, ...]) -> dict[str, Any]:
    return {node.record.agent: shape(node.agents) for node in nodes}


def only(tree: AgentTree) -> AgentNode:
    (node,) = tree.agents
    return node


def test_three_levels_from_three_logs(grove: Grove) -> None:
    group = GroupEnded(group="g", call_id="c", completed=1)
    grove.session(prompt("go"), begun("a"), begun("b"), ended("a"), ended("b"), answer("x"))
    grove.agent("a", begun("a1"), ended("a1"), group)
    grove.agent("a1", begun("a11"), ended("a11", "failed"))
    grove.agent("a11", prompt("deep"), OVER)
    grove.agent("b", prompt("nothing below"), OVER)
    tree = grove.tree()
    assert shape(tree.agents) == {"a": {"a1": {"a11": {}}}, "b": {}}
    assert [one.completed for one in tree.agents[0].groups] == [1]
    assert tree.agents[0].agents[0].agents[0].record.state == "failed"
    assert not any(node.trouble for node in tree.agents)
    assert tree.agents[0].record.session_path.endswith("/s1/agents/a.jsonl")
    assert (tree.session.id, tree.session.title, tree.steps) == ("s1", "go", 1)
    assert tree.spent.usage.total == 15 + 2 * 10, "its own, and what its agents spent"


def test_one_without_an_end_in_a_session_that_is_over_was_interrupted(grove: Grove) -> None:
    grove.session(prompt("go"), begun("a"))
    grove.agent("a", answer("half"), started("ls"), begun("a1"), at=1_007.5)
    grove.agent("a1")
    node = only(grove.tree())
    assert node.record.state == node.agents[0].record.state == "interrupted"
    assert (node.record.turns, node.record.tool_calls, node.record.ms) == (1, 1, 7_500)
    assert node.record.spent.usage.total == 15, "as far as its own log tells"


def test_what_it_knew_before_it_began_is_not_its_own(grove: Grove) -> None:
    grove.session(prompt("go"), begun("a"))
    path = grove.agent("a", answer("its parent's"), at=500.0)
    log = FileLog(str(path), lambda: 3_000.0, home=grove.shelf.home)
    log.lock()
    log.take_up(read_log(str(path)))
    log.append(answer("its own"))
    log.close()
    assert only(grove.tree()).record.turns == 1


def test_in_a_session_in_use_it_runs(grove: Grove) -> None:
    path = grove.session(prompt("go"), begun("a"), begun("b"), ended("b", "interrupted"))
    with grove.agent("a", begun("a1")).open("ab") as file:
        file.write(b'{"crc":')
    grove.agent("b", begun("b1"))
    log = FileLog(str(path), lambda: 0.0, home=grove.shelf.home)
    log.lock()
    try:
        tree = grove.tree()
    finally:
        log.close()
    running, gone = tree.agents
    assert tree.session.state == "running"
    assert running.record.state == running.agents[0].record.state == "running"
    assert not running.trouble, "it is just writing"
    assert not running.agents[0].trouble, "it has only just begun"
    assert gone.agents[0].record.state == "interrupted", "nobody is above it"


def test_logs_that_are_gone_or_damaged_are_said(grove: Grove) -> None:
    ends = [ended(id) for id in "abc"] + [ended("d", "skipped", reason="c")]
    grove.session(*map(begun, "abcd"), *ends)
    damaged = grove.agent("b", prompt("x"), begun("b1"), OVER)
    lines = damaged.read_bytes().splitlines(keepends=True)
    damaged.write_bytes(lines[0] + b"\0" * 40 + b"\n" + b"".join(lines[2:]))
    grove.agent("c").chmod(0)
    gone, broken, closed, skipped = grove.tree().agents
    assert gone.trouble == "its log is not there any more"
    assert broken.trouble == "1 line of its log cannot be read"
    assert shape(broken.agents) == {"b1": {}}, "what can be read is shown"
    assert os.geteuid() == 0 or closed.trouble == "its log cannot be read: Permission denied"
    assert (skipped.trouble, skipped.record.state) == ("", "skipped")


def test_of_a_fork_the_logs_are_elsewhere(grove: Grove) -> None:
    grove.session(begun("a"), ended("a"), parent="s0")
    assert only(grove.tree()).trouble == "its log is not here, but with s0"


def test_long_texts_of_agents_are_found(grove: Grove) -> None:
    """They lie in the home folder, not beside the log."""
    grove.session(begun("a"), ended("a"))
    grove.agent("a", prompt("x" * 200_000), begun("a1"), ended("a1"))
    grove.agent("a1")
    node = only(grove.tree())
    assert (node.trouble, shape(node.agents)) == ("", {"a1": {}})


def test_a_log_that_was_made_up_does_no_harm(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    grove.session(begun("a"), begun("../../s1"), begun("x\0"), ended("a"))
    grove.agent("a", begun("a"), begun("b"))
    grove.agent("b", begun("a"))
    circle, away, odd = grove.tree().agents
    assert odd.trouble == away.trouble
    assert shape((circle,)) == {"a": {"b": {}}}
    assert away.trouble == "its log cannot be read: that is no name of one"
    monkeypatch.setattr(tree_module, "DEEPEST", 1)
    assert only_below(grove.tree().agents[0]).trouble == "whoever worked for it is not looked at"


def only_below(node: AgentNode) -> AgentNode:
    (below,) = node.agents
    return below


def test_which_session_is_meant(grove: Grove) -> None:
    with pytest.raises(BadInput, match="no sessions here yet"):
        grove.tree()
    grove.session(prompt("go"), OVER)
    assert grove.tree("s1").agents == ()
    with pytest.raises(BadInput):
        grove.tree("no such session")
