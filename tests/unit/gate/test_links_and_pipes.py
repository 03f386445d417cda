"""What a question says of names that are not what they seem, and which rule it offers."""

from __future__ import annotations

import os
from pathlib import Path

from detent.gate.gate import Gatekeeper
from detent.gate.terms import Workspace
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Effect, Reads, Writes
from detent.types.verdicts import Ask


def asked(folder: Path, effect: Effect) -> Ask:
    root = os.path.realpath(folder)
    gate = Gatekeeper(Workspace(root, (root,), "/home/u"))
    verdict = gate.judge(Proposal(Call("c", "T", ""), "T", {}, (effect,)))
    assert isinstance(verdict, Ask)
    return verdict


def test_a_link_says_where_it_leads_and_no_rule_is_offered(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.write_text("x")
    (work / "ln").symlink_to(other)
    path = os.path.realpath(work) + "/ln"
    for effect in (Writes(path), Reads(path)):
        question = asked(work, effect)
        assert f"it leads to {os.path.realpath(other)}" in question.reason
        assert question.rules == ()
    assert asked(work, Writes(os.path.realpath(work) + "/plain")).rules == ("Edit(/plain)",)


def test_a_pipe_is_not_called_outside(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reason = asked(tmp_path, Reads(os.path.realpath(tmp_path) + "/pipe")).reason
    assert "a pipe" in reason and "outside" not in reason
