"""`detent permissions …`: what the gate would say, asked from outside. No model is needed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Frame, Ran, Runner

CORPORA = Path(__file__).parents[1] / "corpora"
STDIO = ("--on-ask", "stdio")
SETTINGS = """{
  "permissions": {
    "allow": ["Bash(pytest:*)"],
    "deny": [
      "Bash(docker push:*)"
    ],
    "ask": ["Bash(git push:*)"]
  }
}
"""


def settings(runner: Runner, text: str = SETTINGS) -> Path:
    path = runner.work / ".detent" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def explained(runner: Runner, wanted: str, *flags: str) -> Frame:
    ran = runner.run("permissions", "explain", wanted, "--json", *flags)
    assert ran.code == 0, ran
    (found,) = ran.frames
    return found


def case(**changed: Any) -> dict[str, Any]:
    usual = {
        "id": "a", "category": "x", "rules": {"allow": [], "deny": [], "ask": []},
        "mode": "default", "cwd": "/home/dev/app", "tool": "Bash", "command": "ls",
        "must": "allow", "why": "because",
    }  # fmt: skip
    return {**usual, **changed}


def cases_file(runner: Runner, *cases: dict[str, Any]) -> str:
    path = runner.folder / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in cases))
    return str(path)


def decisions(ran: Ran) -> dict[str, str]:
    return {line["id"]: line["decision"] for line in ran.frames[:-1]}


def test_the_deciding_rule_is_told_with_its_place(runner: Runner) -> None:
    path = settings(runner)
    found = explained(runner, "Bash(pytest -q && sudo docker push x)", "--trust")
    assert (found["decision"], found["layer"]) == ("deny", "deny rule")
    assert found["rule"] == {
        "text": "Bash(docker push:*)", "list": "deny", "scope": "project",
        "path": str(path), "line": 5, "matched": True,
    }  # fmt: skip
    assert found["commands"] == [["pytest", "-q"], ["sudo", "docker", "push", "x"]]
    looked_at = [(each["list"], each["text"], each["matched"]) for each in found["considered"]]
    assert looked_at == [
        ("deny", "Bash(docker push:*)", True),
        ("ask", "Bash(git push:*)", False),
        ("allow", "Bash(pytest:*)", True),
    ]


def test_people_read_the_same(runner: Runner) -> None:
    path = settings(runner)
    ran = runner.run("permissions", "explain", "Bash(git push origin)", "--trust")
    assert ran.code == 0
    assert ran.stdout.startswith(f"ask: ask rule Bash(git push:*)  ({path}:7, project)\n")
    assert "Commands:\n  git push origin\n" in ran.stdout
    assert f"  deny   does not match  Bash(docker push:*)  ({path}:5, project)\n" in ran.stdout
    assert "No further rule would permit it.\n" in ran.stdout


@pytest.mark.parametrize(
    ("wanted", "flags", "decision", "layer"),
    [
        ("Bash(pytest)", ("--trust",), "allow", "allow rule"),
        ("Bash(ls)", (), "allow", "mode default"),
        ("Bash(rm -rf /)", ("--permission-mode", "bypassPermissions"), "ask", "critical removal"),
        ("Edit(.git/config)", ("--permission-mode", "acceptEdits"), "ask", "protected path"),
        ("Edit(a.txt)", ("--permission-mode", "acceptEdits"), "allow", "mode acceptEdits"),
        ("Edit(a.txt)", ("--permission-mode", "plan"), "deny", "mode plan"),
        ('Write({"file_path": "a.txt", "content": "x"})', (), "ask", "mode default"),
        ("Bash(make x)", ("--allowedTools", "Bash(make:*)"), "allow", "allow rule"),
        ("Bash(ls)", ("--disallowedTools", "Bash(ls)"), "deny", "deny rule"),
        ("Bash(x)", ("--settings", '{"permissions":{"allow":["Bash(x)"]}}'), "allow", "allow rule"),
        ("WebFetch(https://a.test/)", (), "ask", "mode default"),
        (
            "WebFetch(https://a.test@b.test/)",
            ("--allowedTools", "WebFetch(domain:a.test)"),
            "ask",
            "mode default",
        ),
        ("WebFetch(http://169.254.169.254/)", ("--allowedTools", "WebFetch"), "deny", "address"),
        ("mcp__files__read({})", ("--allowedTools", "mcp__files"), "allow", "allow rule"),
        ('Bash({"command": {}})', (), "deny", "arguments"),
    ],
)
def test_each_layer_is_named(
    runner: Runner, wanted: str, flags: tuple[str, ...], decision: str, layer: str
) -> None:
    settings(runner)
    found = explained(runner, wanted, *flags)
    assert (found["decision"], found["layer"]) == (decision, layer), found


def test_without_trust_the_project_only_restricts_and_that_is_said(runner: Runner) -> None:
    path = settings(runner)
    found = explained(runner, "Bash(pytest)")
    assert found["decision"] == "ask"
    assert found["permits"][0] == "Bash(pytest)"
    assert any(str(path) in note and "trust" in note for note in found["notices"])
    assert explained(runner, "Bash(docker push x)")["decision"] == "deny"


def test_rules_that_would_permit_it_really_do(runner: Runner) -> None:
    for wanted in ("Bash(npm run build)", "Read(/etc/hosts)", "WebFetch(https://a.test/x)"):
        permits = explained(runner, wanted)["permits"]
        assert permits
        for rule in permits:
            assert explained(runner, wanted, "--allowedTools", rule)["decision"] == "allow", rule
    both = explained(runner, "Bash(npm test && npm run x)")
    assert (both["permits"], both["permits_together"]) == (
        [],
        ["Bash(npm run x)", "Bash(npm test)"],
    )
    allowed = [flag for rule in both["permits_together"] for flag in ("--allowedTools", rule)]
    assert explained(runner, "Bash(npm test && npm run x)", *allowed)["decision"] == "allow"


def test_another_folder_is_asked_about(runner: Runner) -> None:
    other = runner.folder / "other"
    other.mkdir()
    assert explained(runner, "Read(a.txt)", "--cwd", str(other))["cwd"] == str(other)
    inside = f"Read({runner.work}/a.txt)"
    assert explained(runner, inside)["decision"] == "allow"
    assert explained(runner, inside, "--cwd", str(other))["decision"] == "ask"


def test_what_is_hidden_in_a_command_is_shown(runner: Runner) -> None:
    ran = runner.run("permissions", "explain", "Bash(ls \x1b[2K\u202e)")
    assert ran.code == 0
    assert not {"\x1b", "\u202e"} & set(ran.stdout)


def test_cases_give_a_line_each_and_a_score(runner: Runner) -> None:
    name = cases_file(
        runner,
        case(id="right"),
        case(id="noisy", command="make"),
        case(id="unsafe", must="deny"),
        case(id="weak", command="make", must="deny"),
        case(id="blunt", command="make", mode="dontAsk", must="ask"),
        case(id="rule", command="make", rules={"deny": ["Bash(make:*)"]}, must="deny"),
    )
    ran = runner.run("permissions", "test", name, "--json")
    assert ran.code == 1
    *lines, score = ran.frames
    assert lines[0] == {"id": "right", "decision": "allow", "rule": None}
    assert lines[5] == {"id": "rule", "decision": "deny", "rule": "Bash(make:*)"}
    assert score.pop("rates") == {"unsafe": 0.25, "weak": 0.3333, "noisy": 0.5, "blunt": 1.0}
    assert score == {
        "cases": 6, "right": 2, "unsafe": 1, "weak": 1, "weak_in_dontAsk": 0, "noisy": 1, "blunt": 1
    }  # fmt: skip
    told = runner.run("permissions", "test", name).stdout
    assert "unsafe  unsafe  Bash: ls\n    must deny, got allow (mode default); because\n" in told
    assert "right  Bash" not in told
    assert "2 of 6 cases are right\n" in told


def test_nothing_of_the_user_is_mixed_in(runner: Runner) -> None:
    runner.state.mkdir()
    own = {"permissions": {"allow": ["Bash"], "deny": ["Bash(ls)"]}}
    (runner.state / "settings.json").write_text(json.dumps(own))
    name = cases_file(runner, case(id="a"), case(id="b", command="make", must="ask"))
    ran = runner.run("permissions", "test", name)
    assert (ran.code, ran.stdout.splitlines()[0]) == (0, "2 of 2 cases are right"), ran


def test_the_home_folder_is_replaced_everywhere_and_links_are_made_in_it(runner: Runner) -> None:
    home = runner.folder / "elsewhere"
    deny = {"deny": ["Read(//home/dev/secret/**)"]}
    links = {"symlinks": {"docs/l": "/home/dev/secret/k", "own": "docs/x"}}
    name = cases_file(
        runner,
        case(id="by name", command="cat /home/dev/secret/k", rules=deny, must="deny"),
        case(id="by link", command="cat docs/l", rules=deny, fs=links, must="deny"),
        case(id="inside", command="cat own", rules=deny, fs=links),
        case(id="the link is gone", command="cat docs/l", rules=deny),
        case(id="another", command="cat /home/developer/x", rules=deny, must="ask"),
        case(id="a tool", tool="Read", input={"file_path": "/home/dev/app/a"}),
        case(id="at home", command="cat ~/secret/k", rules=deny, must="deny"),
    )
    for flags in ((), ("--home", str(home))):
        ran = runner.run("permissions", "test", name, *flags)
        assert ran.code == 0, ran
    assert list(home.iterdir()) == [], "what was made for a case is taken away"


@pytest.mark.parametrize(
    "links",
    [
        {"../../../outside/l": "/etc"},
        {"way": "{outside}", "way/l": "/etc"},
        {"/etc/detent-test-link": "/"},
    ],
)
def test_no_link_is_made_outside(runner: Runner, links: dict[str, str]) -> None:
    outside = runner.folder / "outside"
    outside.mkdir()
    symlinks = {name: target.format(outside=outside) for name, target in links.items()}
    name = cases_file(runner, case(), case(fs={"symlinks": symlinks}))
    ran = runner.run("permissions", "test", name, "--home", str(runner.folder / "h" / "x"))
    assert ran.code == 1, ran
    assert f"{name}:2: not tried: a link outside" in ran.stdout
    assert list(outside.iterdir()) == []
    assert not os.path.lexists("/etc/detent-test-link")


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (case(mode="x"), "unknown permission mode 'x'"),
        (case(rules={"deny": ["Bash(("]}), "not a permission rule"),
    ],
)
def test_a_case_that_cannot_be_tried_does_not_keep_the_others_from_it(
    runner: Runner, bad: dict[str, Any], fault: str
) -> None:
    ran = runner.run("permissions", "test", cases_file(runner, bad, case()), "--json")
    *lines, score = ran.frames
    assert [line["decision"] for line in lines] == ["deny", "allow"], ran
    assert (ran.code, score["cases"]) == (1, 2)
    assert fault in runner.run("permissions", "test", cases_file(runner, bad)).stdout


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no cases"),
        ("{}\n", ":1: not a case: Object missing required field `id`"),
        (json.dumps(case()) + "\n\nx\n", ":3: not a case: JSON is malformed"),
        (
            json.dumps(case(must="maybe")),
            ":1: not a case: Invalid enum value 'maybe' - at `$.must`",
        ),
        (json.dumps(case(command=None)), ":1: not a case: Bash needs the field `command`"),
        (json.dumps(case(tool="Read")), ":1: not a case: Read needs the field `input`"),
        ('{"permissions": {"allow": []}}', "no permissions.cases"),
        ('{"permissions": {"cases": {"Bash(x)": {}}}}', "Bash(x) is no rule of this file"),
        ('{"permissions": {"cases": {"Bash(x)": {"nomatch": []}}}}', "unknown field `nomatch`"),
    ],
)
def test_bad_files_are_named_with_the_line(runner: Runner, text: str, fault: str) -> None:
    path = runner.folder / "bad"
    path.write_text(text)
    for flags in ((), ("--json",)):
        ran = runner.run("permissions", "test", str(path), *flags)
        assert (ran.code, ran.stdout) == (2, ""), ran
        assert fault in ran.stderr


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ((), "detent permissions takes:"),
        (("explain",), "explain needs one call, in quotes"),
        (("explain", ""), "explain needs one call, in quotes"),
        (("test",), "test needs one FILE"),
        (("frob", "x"), "not 'frob x'"),
        (("explain", "Bash"), "Bash needs an input: write Bash(COMMAND)"),
        (("explain", "(ls)"), "not a call: '(ls)'"),
        (("explain", "Bsh(ls)"), "did you mean Bash?"),
        (("explain", 'Read({"file_path": )'), "the input of Read: line 1"),
        (("explain", "Bash(ls)", "--permission-mode", "x"), "unknown permission mode 'x'"),
        (("test", "/no/such/file"), "cannot read /no/such/file: No such file"),
        (("replay",), "replay needs the new policy"),
        (("replay", "--settings", "{}", "--sessions", "nope"), "there is no session nope"),
    ],
)
def test_bad_words(runner: Runner, words: tuple[str, ...], fault: str) -> None:
    ran = runner.run("permissions", *words)
    assert (ran.code, ran.stdout) == (2, ""), ran
    assert fault in ran.stderr


def test_rules_are_tested_beside_where_they_stand(runner: Runner) -> None:
    cases = {
        "Bash(git push:*)": {"match": ["git push x", "sudo git push"], "noMatch": ["git pushx"]},
        "Bash(pytest:*)": {"match": ["pytest -q"], "noMatch": ["./pytest", "sudo pytest"]},
        "Read(/private/**)": {"match": ["private/a"], "noMatch": ["public/a"]},
    }
    rules: dict[str, Any] = {
        "allow": ["Bash(pytest:*)"], "ask": ["Bash(git push:*)"], "deny": ["Read(/private/**)"]
    }  # fmt: skip
    path = settings(runner, json.dumps({"permissions": {**rules, "cases": cases}}))
    ran = runner.run("permissions", "test", str(path))
    assert (ran.code, ran.stdout) == (0, "8 of 8 cases are right\n"), ran
    cases["Bash(git push:*)"]["noMatch"].append("git push")
    path.write_text(json.dumps({"permissions": {**rules, "cases": cases}}))
    ran = runner.run("permissions", "test", str(path))
    assert ran.code == 1
    assert "ask rule Bash(git push:*) matches, and must not: git push\n" in ran.stdout
    (wrong,) = [
        line
        for line in runner.run("permissions", "test", str(path), "--json").frames
        if line["must"] != line["matches"]
    ]
    assert (wrong["rule"], wrong["input"]) == ("Bash(git push:*)", "git push")
    assert "cases" not in runner.run("permissions", "explain", "Bash(ls)", "--trust").stderr


def test_a_thousand_cases_in_one_go(runner: Runner) -> None:
    every = [
        line for path in sorted(CORPORA.glob("*.jsonl")) for line in path.read_text().splitlines()
    ]
    path = runner.folder / "every.jsonl"
    path.write_text("\n".join(every[::2]))
    ran = runner.run("permissions", "test", str(path), "--json")
    *lines, score = ran.frames
    assert [line["id"] for line in lines] == [json.loads(line)["id"] for line in every[::2]]
    assert score["cases"] == len(lines) > 1000
    assert (score["unsafe"], score["weak_in_dontAsk"]) == (0, 0)


def past(runner: Runner) -> None:
    """A session where a person has said yes three times and no once, and one without anybody."""
    runner.serve(
        reply(
            call("Bash", command="touch a1"),
            call("Bash", command="touch a2"),
            call("Bash", command="mkdir sub && touch sub/a3"),
            call("Bash", command="touch secret"),
            call("Bash", command="ls"),
        ),
        "done",
        reply(call("Bash", command="mkdir other")),
        "done",
    )
    ran = runner.run("-p", "go", *STDIO, stdin="y\ny\ny\nn\n")
    assert ran.stdout == "done\n", ran
    alone = runner.run("-p", "go")
    assert (alone.code, alone.stdout) == (3, "done\n"), alone


def test_replay_tells_what_another_policy_would_change(runner: Runner) -> None:
    past(runner)
    new = {"permissions": {"allow": ["Bash(touch:*)"], "deny": ["Bash(ls)"]}}
    path = runner.folder / "new.json"
    path.write_text(json.dumps(new))
    for given in (str(path), json.dumps(new)):
        ran = runner.run("permissions", "replay", "--settings", given, "--json")
        assert ran.code == 0, ran
        (found,) = ran.frames
        changes = found.pop("changes")
        assert found == {"calls": 6, "changed": 4, "stricter": 1, "looser": 3, "unread": 0}
        assert sorted(
            (c["input"]["command"], c["was"], c["now"], c["would_be"], c["rule"]) for c in changes
        ) == [
            ("ls", "allowed by mode default", "allow", "deny", "Bash(ls)"),
            ("touch a1", "allowed by user", "ask", "allow", "Bash(touch:*)"),
            ("touch a2", "allowed by user", "ask", "allow", "Bash(touch:*)"),
            ("touch secret", "refused by user", "ask", "allow", "Bash(touch:*)"),
        ]
    ran = runner.run("permissions", "replay", "--settings", str(path))
    assert "Bash: ls\n    was allowed by mode default; now allow, would be deny by Bash(ls)\n" in (
        ran.stdout
    )
    assert ran.stdout.endswith(
        "4 of 6 past calls would be decided otherwise: 1 stricter, 3 looser\n"
    )


def test_replay_of_one_session(runner: Runner) -> None:
    past(runner)
    new = '{"permissions": {"allow": ["Bash(mkdir:*)"]}}'
    ids = [log.stem for log in runner.logs]
    counts = []
    for wanted in (ids[:1], ids[1:], ids):
        ran = runner.run(
            "permissions", "replay", "--settings", new, "--json", "--sessions", *wanted
        )
        counts.append(ran.frames[0]["calls"])
    assert sorted(counts) == [1, 5, 6]


def test_suggest_covers_what_was_approved_and_nothing_that_was_refused(runner: Runner) -> None:
    past(runner)
    ran = runner.run("permissions", "suggest", "--json")
    (found,) = ran.frames
    rules = found["settings"]["permissions"]["allow"]
    assert (found["approved"], found["covered"], found["uncovered"]) == (3, 3, [])
    assert "Bash(touch:*)" not in rules and not any(
        rule.startswith("Bash(mkdir:*") for rule in rules
    )
    path = runner.folder / "suggested.json"
    path.write_text(json.dumps(found["settings"]))
    for command, decision in [
        ("touch a1", "allow"),
        ("touch a2", "allow"),
        ("mkdir sub && touch sub/a3", "allow"),
        ("touch secret", "ask"),
        ("mkdir other", "ask"),
    ]:
        got = explained(runner, f"Bash({command})", "--settings", str(path))
        assert got["decision"] == decision, command
    people = runner.run("permissions", "suggest").stdout
    assert json.loads(people[: people.index("\n}\n") + 3]) == found["settings"]
    assert "3 of 3 approved calls are covered; 2 refused\n" in people


def test_suggest_without_a_past(runner: Runner) -> None:
    (found,) = runner.run("permissions", "suggest", "--json").frames
    assert found["settings"] == {"permissions": {"allow": []}}


def test_the_same_change_is_told_once(runner: Runner) -> None:
    same = reply(call("Bash", command="touch made"))
    runner.serve(same, "done", same, "done")
    for _ in range(2):
        assert runner.run("-p", "go", *STDIO, stdin="y\n").code == 0
    ran = runner.run("permissions", "replay", "--disallowedTools", "Bash")
    assert ran.stdout.count("touch made") == 1 and "touch made (2 times)\n" in ran.stdout
    assert "2 of 2 past calls" in ran.stdout


@pytest.mark.parametrize(
    "name",
    ["context", "demo", "doctor", "memory", "models", "permissions", "sessions", "trust",
     "uncompact"],
)  # fmt: skip
def test_help_of_a_subcommand(runner: Runner, name: str) -> None:
    ran = runner.run(name, "--help")
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"detent {name}") and "--output-format" not in ran.stdout
    assert runner.run("help", name).stdout == ran.stdout
    assert "--output-format" in runner.run("-p", name, "--help").stdout
