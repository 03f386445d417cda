"""What is made of past calls: rules that would do, and what other rules would change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from detent.app.permissions.calls import Proposer
from detent.app.permissions.past import PastCall, _calls
from detent.app.permissions.policies import decided
from detent.app.permissions.replaying import replay
from detent.app.permissions.suggesting import Suggestion, suggest
from detent.gate.rules import parse_rule
from detent.gate.terms import Policy, RuleSet, Workspace
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Runs
from detent.types.events import CallEnded, CallStarted, Entry, Opened, Replied
from detent.types.outcomes import Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

CWD = "/home/dev/app"


def policy(*allow: str, deny: Sequence[str] = (), cwd: str = CWD, mode: Any = "default") -> Policy:
    def rules(texts: Sequence[str]) -> Any:
        return tuple(parse_rule(text, canonical_name) for text in texts)

    workspace = Workspace(cwd, (cwd,), "/home/dev")
    return Policy(RuleSet(allow=rules(allow), deny=rules(deny)), mode, workspace)


def ran(command: str, by: str = "user") -> PastCall:
    return PastCall("s", "Bash", {"command": command}, (), CWD, True, by)


def refused(command: str, by: str = "user") -> PastCall:
    return PastCall("s", "Bash", {"command": command}, (), CWD, False, by)


def used(tool: str, **given: Any) -> PastCall:
    return PastCall("s", tool, given, (), CWD, True, "person")


def rules(found: Suggestion) -> dict[str, int]:
    return {each.rule: each.calls for each in found.rules}


def test_one_call_gets_the_narrowest_rule() -> None:
    assert rules(suggest([ran("npm run build")], policy())) == {"Bash(npm run build)": 1}


def test_several_calls_share_a_rule() -> None:
    calls = [ran("npm run build"), ran("npm run lint"), ran("npm run lint"), ran("npm run x -- y")]
    assert rules(suggest(calls, policy())) == {"Bash(npm run:*)": 3}


def test_a_rule_for_a_whole_program_only_where_that_is_narrow() -> None:
    assert rules(suggest([ran("pytest -q"), ran("pytest -x a")], policy())) == {"Bash(pytest:*)": 2}
    for program in ("python", "bash", "git", "sudo", "env", "rm", "docker", "npx"):
        found = suggest([ran(f"{program} -a x"), ran(f"{program} -b y")], policy())
        assert f"Bash({program}:*)" not in rules(found), program


@pytest.mark.parametrize("by", ["user", "rule Bash(x)", "hook", "nobody to ask"])
def test_what_was_refused_is_not_admitted(by: str) -> None:
    calls = [ran("npm run build"), ran("npm run lint"), refused("npm run deploy", by)]
    found = suggest(calls, policy())
    assert rules(found) == {"Bash(npm run build)": 1, "Bash(npm run lint)": 1}
    assert (found.approved, found.covered, found.refused) == (2, 2, 1)


def test_two_rules_may_not_admit_together_what_each_alone_does_not() -> None:
    calls = [ran("aa one"), ran("bb two"), refused("aa one && bb two")]
    found = suggest(calls, policy())
    assert found.covered == 1 and len(found.uncovered) == 1


def test_a_no_beats_a_yes_but_nobody_there_is_no_no() -> None:
    assert rules(suggest([ran("aa b"), refused("aa b")], policy())) == {}
    found = suggest([ran("aa b"), refused("aa b", "nobody to ask")], policy())
    assert (rules(found), found.refused) == ({"Bash(aa b)": 1}, 0)


@pytest.mark.parametrize("by", ["auto-approver", "mode default", "rule Bash", "hook", "classifier"])
def test_only_what_people_have_approved_counts(by: str) -> None:
    assert suggest([ran("aa b", by)], policy()) == Suggestion((), 0, 0, 0, ())


def test_what_is_permitted_anyway_needs_no_rule() -> None:
    assert suggest([ran("ls"), ran("make x")], policy("Bash(make:*)")).approved == 0


def test_the_parts_of_a_command_are_covered_each() -> None:
    found = suggest([ran("npm test && ls && npm run x"), ran("npm test")], policy())
    assert rules(found) == {"Bash(npm test)": 2, "Bash(npm run x)": 1}
    quoted = suggest([ran("npm test && git commit -m 'a; b'")], policy())
    assert rules(quoted) == {"Bash(npm test)": 1, "Bash(git commit:*)": 1}
    assert quoted.covered == 1


def test_what_no_rule_can_say_is_told() -> None:
    found = suggest([ran("x $Y"), ran("aa b"), ran("rm -rf /")], policy())
    assert rules(found) == {"Bash(aa b)": 1}
    assert found.uncovered == ("Bash(x $Y)", "Bash(rm -rf /)")


def test_a_mode_does_not_stand_in_for_a_rule() -> None:
    found = suggest([ran("aa b")], policy(mode="bypassPermissions"))
    assert rules(found) == {"Bash(aa b)": 1}


def test_other_tools() -> None:
    calls = [
        used("Edit", file_path=f"{CWD}/src/a.py", old_string="a", new_string="b"),
        used("Write", file_path=f"{CWD}/src/b.py", content=""),
        used("Read", file_path="/etc/hosts"),
        used("Read", file_path="/home/dev/notes/a.md"),
        used("WebFetch", url="https://a.test/x", prompt="p"),
        used("WebFetch", url="https://a.test/y", prompt="p"),
        used("mcp__files__read", path="a"),
    ]
    assert rules(suggest(calls, policy())) == {
        "Edit(/src/**)": 2,
        "WebFetch(domain:a.test)": 2,
        "Read(//etc/hosts)": 1,
        "Read(~/notes/a.md)": 1,
        "mcp__files__read": 1,
    }


PROGRAMS = some.sampled_from(["aa", "bb", "npm", "git", "make"])
WORDS = some.sampled_from(["x", "y", "-f", "run", "test"])
SIMPLE = some.builds(lambda p, w: " ".join([p, *w]), PROGRAMS, some.lists(WORDS, max_size=3))
COMMANDS = some.builds(" && ".join, some.lists(SIMPLE, min_size=1, max_size=3))


@settings(max_examples=60, deadline=None)
@given(some.lists(COMMANDS, max_size=8), some.lists(COMMANDS, max_size=5))
def test_nothing_refused_is_ever_admitted(approved: list[str], denied: list[str]) -> None:
    found = suggest([*map(ran, approved), *map(refused, denied)], policy())
    wider = policy(*rules(found))
    proposer = Proposer()
    for command in denied:
        verdict = decided(wider, proposer.propose("Bash", {"command": command}, CWD)).verdict
        assert not isinstance(verdict, Allow), command
    assert found.covered + len(found.uncovered) == found.approved
    for command in set(approved) - set(denied):
        verdict = decided(wider, proposer.propose("Bash", {"command": command}, CWD)).verdict
        assert isinstance(verdict, Allow) == (f"Bash({command})" not in found.uncovered)


def test_replay_compares_today_with_the_new_policy_not_with_the_past() -> None:
    calls = [ran("make a"), ran("make b", "rule Bash(make:*)"), refused("docker push x")]
    found = replay(calls, policy("Bash(make b)"), policy(deny=["Bash(docker:*)"]))
    assert (found.calls, found.changed, found.stricter, found.looser) == (3, 2, 2, 0)
    first, second = found.changes
    assert (first.was, first.now, first.would_be) == (
        "allowed by rule Bash(make:*)",
        "allow",
        "ask",
    )
    assert (second.was, second.would_be, second.rule) == (
        "refused by user",
        "deny",
        "Bash(docker:*)",
    )


def test_replay_looks_from_where_the_call_stood() -> None:
    calls = [PastCall("s", "Bash", {"command": "cat ../a"}, (), f"{CWD}/sub", True, "mode default")]
    new = policy(deny=[f"Read(/{CWD}/a)"])
    assert replay(calls, policy(), new).changed == 1
    assert replay([calls[0]], policy(), policy()).changed == 0


def test_replay_of_what_a_tool_no_longer_takes() -> None:
    found = replay([PastCall("s", "Bash", {"script": "x"}, (), CWD, True, "")], policy(), policy())
    assert (found.calls, found.unread, found.changed) == (1, 1, 0)


def test_a_foreign_tool_is_judged_by_what_it_declared() -> None:
    call = PastCall("s", "Mine", {}, (Runs("docker push x"),), CWD, True, "user")
    (change,) = replay([call], policy(), policy(deny=["Bash(docker push:*)"])).changes
    assert (change.now, change.would_be) == ("ask", "deny")


def test_past_calls_are_read_from_the_log() -> None:
    calls = tuple(Call(f"c{n}", "Bash", f'{{"command": "x{n}"}}') for n in range(4))
    log: list[Entry] = [
        Opened(session="s", cwd="/a", version="1"),
        CallEnded(call_id="c2", name="Bash", outcome=Refused("no", "user")),  # ended early
        Replied(turn=1, step=1, model="m", content=calls, stop="tool_use", usage=Usage()),
        CallStarted(
            call_id="c0", name="Bash", arguments='{"command": "changed"}',
            effects=(Runs("changed"),), verdict=Allow("user"),
        ),
        CallEnded(call_id="c0", name="Bash", outcome=done("ok"), cwd="/a/sub"),
        CallEnded(call_id="c1", name="Bash", outcome=Refused("no", "user")),
        CallEnded(call_id="c9", name="Bash", outcome=Refused("no", "user")),
    ]  # fmt: skip
    assert list(_calls(log, "s")) == [
        PastCall("s", "Bash", {"command": "x2"}, (), "/a", False, "user"),
        PastCall("s", "Bash", {"command": "changed"}, (Runs("changed"),), "/a", True, "user"),
        PastCall("s", "Bash", {"command": "x1"}, (), "/a/sub", False, "user"),
    ]
