"""Model, effort, mode, permissions, hooks; and what lies here and is not read."""

from __future__ import annotations

import json

import pytest
from commandbench import Bench, say

from detent.sdk.session import Session, parse_mode
from detent.sdk.switching import look_at_switch
from detent.surfaces.commands.mode import MODES
from detent.testing import reply
from detent.types.errors import BadInput
from detent.types.events import Switched

# Model and effort


def test_another_model_and_what_reading_everything_anew_costs(bench: Bench) -> None:
    bench.environ["ANTHROPIC_API_KEY"] = "k"

    async def body(session: Session) -> None:
        assert (await say(session, "model")).startswith("In use: scripted\nBy key:\n  ANTHROPIC_")
        await session.run_turn("x")
        seen = await look_at_switch(session, "anthropic/claude-sonnet-4-5")
        assert session.model == "scripted" and seen.tokens > 1_000
        told = await say(session, "model anthropic/claude-sonnet-4-5")
        assert session.model == seen.model == "claude-sonnet-4-5"
        assert "From the next turn on: claude-sonnet-4-5 (before: scripted)." in told
        assert (
            f"the conversation of {seen.tokens:,} tokens anew, about ${seen.dollars:,.4f}" in told
        )
        assert [e.model for e in session.entries if isinstance(e, Switched)] == [seen.model]
        assert await say(session, "model claude-sonnet-4-5") == (
            "claude-sonnet-4-5 is in use already."
        )

    bench.run(body, reply("done", input=2_000))


def test_an_unknown_price_is_no_price(bench: Bench) -> None:
    bench.environ["ANTHROPIC_API_KEY"] = "k"

    async def body(session: Session) -> str:
        await session.run_turn("x")
        return await say(session, "model anthropic/mystery-1")

    assert "at a price that is not known here" in bench.run(body, "done")


def test_before_anything_was_said_a_switch_costs_nothing(bench: Bench) -> None:
    bench.environ["ANTHROPIC_API_KEY"] = "k"
    told = bench.run(lambda session: say(session, "model anthropic/mystery-1"))
    assert told == "From the next turn on: mystery-1 (before: scripted)."


def test_a_model_that_cannot_be_had(bench: Bench) -> None:
    async def body(session: Session) -> None:
        await session.run_turn("x")
        with pytest.raises(BadInput, match=r"^openai/gpt-5 cannot be had: "):
            await say(session, "model openai/gpt-5")
        assert session.model == "scripted"

    bench.run(body, "done")
    with pytest.raises(BadInput, match="--model x chooses it with the first prompt"):
        bench.answers("model x")


def test_effort(bench: Bench) -> None:
    async def body(session: Session) -> None:
        assert await say(session, "effort") == "Effort: what the provider does by itself."
        assert await say(session, "effort HIGH") == "From the next turn on: high."
        assert await say(session, "effort") == "Effort: high."
        assert session.effort == "high"
        await say(session, "effort default")
        assert session.effort == ""
        with pytest.raises(BadInput, match="one of low, medium, high, xhigh, max, or default"):
            await say(session, "effort huge")

    bench.run(body)
    assert bench.answers("effort low").endswith("It ends with this run.")


# Mode


def test_every_mode_is_listed_with_a_line(bench: Bench) -> None:
    lines = bench.answers("mode", permission_mode="acceptEdits").splitlines()
    assert [line[2:].split()[0] for line in lines] == list(MODES)
    assert [line for line in lines if line.startswith(">")] == [lines[1]]
    with pytest.raises(BadInput, match=", ".join(MODES)):
        parse_mode("no such mode")


def test_a_mode_that_holds_back_is_kept_and_one_that_widens_is_not(bench: Bench) -> None:
    async def talk(session: Session) -> str:
        await session.run_turn("x")
        return session.id

    id = bench.run(talk, "done", permission_mode="")
    told = [
        bench.answers(f"mode {mode}", resume=id, permission_mode="")
        for mode in ("acceptEdits", "plan")
    ]
    assert "It ends with this run" in told[0] and "ends with" not in told[1]

    async def mode(session: Session) -> str:
        return session.mode

    assert bench.keyless(mode, resume=id, permission_mode="") == "plan"


def test_a_mode_that_is_not_to_be_had(bench: Bench) -> None:
    settings = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    with pytest.raises(BadInput, match="not to be had"):
        bench.answers("mode bypassPermissions", settings=settings, permission_mode="default")


# Permissions


def test_rules_with_their_file_and_line(bench: Bench) -> None:
    path = bench.home / "settings.json"
    path.write_text('{"permissions": {\n  "allow": ["Bash(ls:*)"],\n  "deny": ["Read(./x)"]}}')
    lines = bench.answers("permissions", permission_mode="plan").splitlines()
    assert lines[0].startswith("Mode plan: only looks")
    assert lines[1:] == [
        f"  deny   Read(./x)  ({path}:3, user)", f"  allow  Bash(ls:*)  ({path}:2, user)",
    ]  # fmt: skip


def test_what_an_untrusted_folder_allows_is_not_among_them(bench: Bench) -> None:
    bench.file(".claude/settings.json", '{"permissions": {"allow": ["Bash"], "ask": ["WebFetch"]}}')
    text = bench.answers("permissions")
    assert "  ask    WebFetch  (" in text and "  allow" not in text
    assert "permissions.allow ignored until you trust it" in text


def test_why_a_call_is_asked_about_by_the_mode_of_now(bench: Bench) -> None:
    async def body(session: Session) -> None:
        asked = await say(session, "permissions explain Bash(git push)")
        assert asked.startswith("ask: mode default") and "\n  Bash(git push)" in asked
        session.mode = "bypassPermissions"
        assert (await say(session, "permissions explain Bash(git push)")).startswith("allow")
        with pytest.raises(BadInput):
            await say(session, "permissions explain git push")

    bench.run(body, permission_mode="default")


# Hooks


def hooks(event: str, command: str, **more: str) -> dict[str, object]:
    return {"hooks": {event: [{**more, "hooks": [{"type": "command", "command": command}]}]}}


def test_hooks_by_event_and_whether_they_run(bench: Bench) -> None:
    own = bench.home / "settings.json"
    own.write_text(json.dumps(hooks("Stop", "ring")))
    theirs = bench.file(".claude/settings.json", json.dumps(hooks("PreToolUse", "look",
                                                                  matcher="Bash")))  # fmt: skip
    assert bench.answers("hooks").splitlines() == [
        "Stop:", "  + ring", f"      {own} (user)",
        "PreToolUse:", "  - look  [for Bash]",
        f"      {theirs} (project); does not run: the folder is not trusted (detent trust)",
    ]  # fmt: skip
    trusted = bench.answers("hooks", trust=True)
    assert "  + look  [for Bash]" in trusted and "does not run" not in trusted


def test_hooks_that_are_switched_off_or_that_nobody_calls(bench: Bench) -> None:
    values = {**hooks("Stop", "ring"), "disableAllHooks": True}
    (bench.home / "settings.json").write_text(json.dumps(values))
    assert "hooks of this level are switched off" in bench.answers("hooks")
    (bench.home / "settings.json").write_text(json.dumps(hooks("Yawn", "stretch")))
    assert "there is no event Yawn here" in bench.answers("hooks")
    (bench.home / "settings.json").unlink()
    assert bench.answers("hooks") == "No hooks are declared."
    given = bench.answers("hooks", settings=hooks("Stop", "ring\x1b[2J\nStart:"))
    assert "\x1b" not in given and "\nStart:" not in given and "--settings (flag)" in given


# What is not read


def test_servers_are_named_without_their_secrets(bench: Bench) -> None:
    servers = {
        "git": {"command": "uvx", "args": ["server"], "env": {"TOKEN": "s3cret"}},
        "far": {"url": "https://x.test/mcp?key=s3cret", "headers": {"A": "s3cret"}},
        "odd": 3,
    }
    path = bench.file(".mcp.json", json.dumps({"mcpServers": servers}))
    lines = bench.answers("mcp").splitlines()
    assert "MCP is not part of this version" in lines[0]
    assert lines[2::2] == [
        "  git  uvx server", "  far  https://x.test/mcp", "  odd  neither a command nor a url",
    ]  # fmt: skip
    assert lines[3] == f"      {path}" and "s3cret" not in "".join(lines)
    bench.file(".mcp.json", "{")
    assert "Note: " in bench.answers("mcp")


def test_skills_are_named(bench: Bench) -> None:
    head = "---\nname: knots\ndescription: Ties \x1b[31mknots\n---\n"
    path = bench.file(".claude/skills/knots/SKILL.md", head)
    bench.file(".claude/skills/not_one/README.md", "")
    lines = bench.answers("skills").splitlines()
    assert "not part of this version" in lines[0]
    assert lines[2:] == ["  knots  Ties [31mknots", f"      {path} (project)"]
