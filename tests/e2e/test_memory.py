"""Memory files, by what the model's server receives."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from detent.testing import Request, call, fault, reply

from .conftest import ALL_WIRES, Runner

ON_START = [
    "mine, for all projects",
    "mine again",
    "THE ROOT SPEAKS",
    "imported once",
    "imported by the import",
    "from the folder of settings",
    "our own",
    "for my eyes only",
    "first rule",
    "second rule",
    "the working folder, by AGENTS",
]
LATER = ["about deep", "only for python"]
NEVER = ["a comment for people", "in a fence", "in a span", "above the repository", "the secret"]


def plant(runner: Runner) -> Path:
    """A tree with nested, imported, cyclic, commented and path-scoped files; gives its folder to
    work in."""
    project = runner.work / "project"
    files = {
        "CLAUDE.md": "above the repository",
        "outside.md": "the secret",
        "project/CLAUDE.md": (
            "THE ROOT SPEAKS\nSee @docs/a.md, and @../outside.md.\n<!-- a comment for people\n"
            "@docs/comment.md -->\n```\n@docs/fence.md\n```\nNot `@docs/span.md`, not me@x.org\n"
        ),
        "project/docs/a.md": "imported once\n@b.md\n",
        "project/docs/b.md": "imported by the import\n@a.md @../CLAUDE.md\n",
        "project/docs/comment.md": "a comment for people",
        "project/docs/fence.md": "in a fence",
        "project/docs/span.md": "in a span",
        "project/AGENTS.md": "not read beside CLAUDE.md: in a span",
        "project/.claude/CLAUDE.md": "from the folder of settings",
        "project/.detent/DETENT.md": "our own",
        "project/CLAUDE.local.md": "for my eyes only",
        "project/.claude/rules/1.md": "first rule",
        "project/.claude/rules/2/a.md": "second rule",
        "project/.claude/rules/3.md": "---\npaths:\n  - '**/*.py'\n---\nonly for python",
        "project/sub/AGENTS.md": "the working folder, by AGENTS",
        "project/sub/deep/CLAUDE.md": "about deep",
        "project/sub/deep/code.py": "print('hi')\n",
    }
    for name, text in files.items():
        path = runner.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project / ".git").mkdir()
    for folder, text in ((runner.home / ".claude", ON_START[0]), (runner.state, ON_START[1])):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ("CLAUDE.md" if folder.name == ".claude" else "DETENT.md")).write_text(text)
    return project / "sub"


def said(request: Request) -> str:
    return "\n".join(request.user_texts)


def assert_in_order(text: str, wanted: list[str]) -> None:
    places = [text.find(words) for words in wanted]
    assert -1 not in places, dict(zip(wanted, places, strict=True))
    assert places == sorted(places)
    assert all(text.count(words) == 1 for words in wanted)


@ALL_WIRES
def test_the_right_texts_in_the_right_order(runner: Runner) -> None:
    runner.serve("hello")
    ran = runner.prompt("THE PROMPT", cwd=plant(runner))
    assert ran.code == 0, ran
    assert_in_order(said(runner.requests[0]), [*ON_START, "THE PROMPT"])
    for words in (*NEVER, *LATER):
        assert words not in said(runner.requests[0])
    assert "outside.md" in ran.stderr and "not trusted" in ran.stderr


def test_trust_lets_a_project_import_from_elsewhere(runner: Runner) -> None:
    runner.serve("hello")
    runner.prompt("go", "--trust", cwd=plant(runner))
    assert "the secret" in said(runner.requests[0])


def test_what_is_found_while_working_is_attached(runner: Runner) -> None:
    folder = plant(runner)
    runner.serve(reply(call("Read", file_path="deep/code.py")), "done", "and again")
    first = runner.prompt("go", cwd=folder)
    assert first.code == 0, first
    before, after = map(said, runner.requests[:2])
    assert all(words not in before for words in LATER)
    assert_in_order(after, [*ON_START, "go", "only for python", "about deep"])
    assert runner.requests[1].tool_results, "they come behind the result"

    again = runner.prompt("more", "--resume", first.result["session_id"], cwd=folder)
    assert again.code == 0, again
    resumed = said(runner.requests[2])
    assert all(resumed.count(words) == 1 for words in (*ON_START, *LATER))
    one, other = runner.requests[1].messages, runner.requests[2].messages
    assert _plain(one[:-1]) == _plain(other[: len(one) - 1]), "a resumed request begins alike"


def _plain(messages: list[dict[str, object]]) -> str:
    """Without the cache marks, which move."""
    text = json.dumps(messages)
    for mark in (', "cache_control": {"type": "ephemeral"}',):
        text = text.replace(mark, "")
    return text


def test_a_changed_file_is_told_again(runner: Runner) -> None:
    folder = plant(runner)
    runner.serve("one", "two", "three")
    session = runner.prompt("go", cwd=folder).result["session_id"]
    (folder / "AGENTS.md").write_text("other words by now")
    os.unlink(folder.parent / "CLAUDE.local.md")
    runner.prompt("more", "--resume", session, cwd=folder)
    runner.prompt("and more", "--resume", session, cwd=folder)
    second, third = map(said, runner.requests[1:])
    assert second.count("other words by now") == 1 and "has changed" in second
    assert second.count("counts no longer") == 1
    assert third.count("other words by now") == 1 and third.count("counts no longer") == 1


TOO_LONG = '{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}'


def test_after_a_compaction_memory_is_there_again(runner: Runner) -> None:
    folder = plant(runner)
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"line {number}\n" * 2_000)
    runner.serve(
        reply(call("Read", file_path="deep/code.py")),
        *(reply(call("Read", file_path=f"{number}.txt")) for number in range(6)),
        "one",
        fault(400, body=TOO_LONG),
        "two",
    )
    settings = json.dumps({"compaction": {"summariser": "local", "order": ["auto"]}})
    session = runner.prompt("go", "--settings", settings, cwd=folder).result["session_id"]
    more = runner.prompt("more", "--settings", settings, "--resume", session, cwd=folder)
    assert more.code == 0, more
    entries = runner.entries(session)
    at = next(n for n, entry in enumerate(entries) if entry["type"] == "compacted")
    told = [entry["path"] for entry in entries[at:] if entry.get("source") == "memory"]
    assert len(told) == len(set(told)) == 11, told
    last = said(runner.requests[-1])
    assert all(last.count(words) == 1 for words in (*ON_START, *LATER)), last


@pytest.mark.parametrize(
    ("flags", "env", "left"),
    [
        (("--setting-sources", "user"), {}, ON_START[:2]),
        (("--settings", '{"memoryFiles": false}'), {}, []),
        ((), {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}, []),
    ],
)
def test_switches(
    runner: Runner, flags: tuple[str, ...], env: dict[str, str], left: list[str]
) -> None:
    runner.serve("hello")
    assert runner.prompt("go", *flags, cwd=plant(runner), env=env).code == 0
    text = said(runner.requests[0])
    assert [words for words in ON_START if words in text] == left


def test_the_table_and_its_json(runner: Runner) -> None:
    folder = plant(runner)
    table = runner.run("memory", cwd=folder)
    assert table.code == 0, table
    rows = table.stdout.splitlines()
    assert any("loaded" in row and row.endswith("project/CLAUDE.md") for row in rows)
    assert any("waits" in row and row.endswith("rules/3.md") for row in rows)
    assert any("refused" in row and row.endswith("outside.md") for row in rows)
    found = json.loads(runner.run("memory", "--json", cwd=folder).stdout)
    by_name = {file["path"].removeprefix(f"{runner.work}/"): file for file in found["files"]}
    assert by_name["project/docs/b.md"]["imported_by"].endswith("docs/a.md")
    assert by_name["project/.claude/rules/3.md"]["paths"] == ["**/*.py"]
    assert all(file["tokens"] for file in found["files"] if file["state"] == "loaded")
    assert runner.run("memory", "what").code == 2


def test_a_pipe_in_place_of_memory_hangs_nothing(runner: Runner) -> None:
    os.mkfifo(runner.work / "CLAUDE.md")
    runner.serve("hello")
    ran = runner.prompt("go")
    assert ran.code == 0 and "CLAUDE.md is not read" in ran.stderr


def test_hooks_are_told_of_memory(runner: Runner) -> None:
    runner.serve("hello")
    (runner.work / "CLAUDE.md").write_text("words")
    seen = runner.work / "seen"
    hook = {"matcher": "session_start", "hooks": [{"type": "command", "command": f"cat > {seen}"}]}
    settings = json.dumps({"hooks": {"InstructionsLoaded": [hook]}})
    ran = runner.prompt("go", "--settings", settings)
    assert ran.code == 0, ran
    event = json.loads(seen.read_text())
    assert event["hook_event_name"] == "InstructionsLoaded"
    assert (event["file_path"], event["memory_type"]) == (str(runner.work / "CLAUDE.md"), "Project")


@pytest.mark.parametrize(
    ("flags", "env", "why"),
    [
        (("--settings", '{"memoryFiles": false}'), {}, 'switched off by "memoryFiles": false'),
        ((), {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}, "by CLAUDE_CODE_DISABLE_CLAUDE_MDS=1"),
        (("--settings", '{"claudeMdExcludes": ["**"]}'), {}, "left out by claudeMdExcludes"),
    ],
)
def test_the_table_says_what_switches_memory_off(
    runner: Runner, flags: tuple[str, ...], env: dict[str, str], why: str
) -> None:
    folder = plant(runner)
    table = runner.run("memory", *flags, cwd=folder, env=env).stdout
    assert "No memory is read: " in table and why in table, table
    assert "would be one" not in table
    runner.serve("so")
    said = runner.prompt("/memory", *flags, cwd=folder, env=env, output="text").stdout
    assert why in said, said


def test_what_is_wrong_with_a_file_is_told_once(runner: Runner) -> None:
    (runner.work / "CLAUDE.md").write_bytes(b"\x00\x01\x02 no text")
    (runner.work / "AGENTS.md").write_text("Be brief. " * 3_000)
    rows = runner.run("memory").stdout
    assert rows.count("CLAUDE.md") == 1 and "Note: " not in rows, rows
    (runner.work / "CLAUDE.md").write_text("Be brief. " * 3_000)
    assert re.search(r"^ +\d,\d{3}  loaded", runner.run("memory").stdout, re.MULTILINE)
