"""The command line: every trap that programs of the ecosystem set (ecosystem.md 1.2)."""

from __future__ import annotations

from typing import Any

import pytest

from detent.surfaces.cli.flags import FLAGS, NOT_YET, OWN, parse
from detent.surfaces.cli.help import HEADINGS, SUBCOMMANDS, TAKEN, help_text
from detent.surfaces.wishes import USUAL_THINKING, options_from
from detent.types.errors import BadInput

UUID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


def test_both_forms_of_every_flag_with_a_value() -> None:
    for flag in FLAGS:
        value = flag.choices[0] if flag.choices else "x"
        for name in (flag.name, *flag.aliases):
            if flag.kind in ("value", "optional"):
                assert parse([name, value]).value(flag.name) == value
                assert parse([f"{name}={value}"]).value(flag.name) == value
            elif flag.kind == "list":
                assert parse([name, value]).list_of(flag.name) == (value,)
                assert parse([f"{name}={value}"]).list_of(flag.name) == (value,)
            else:
                assert parse([name]).on(flag.name)


def test_empty_positionals_are_ignored() -> None:
    arguments = parse(["--replay-user-messages", "", "-p", "", "hi", ""])
    assert arguments.words == ("hi",)
    assert arguments.on("--replay-user-messages")


@pytest.mark.parametrize("value", ["- a bullet", "--model", "-p", "--", "", "a=b", "--x=y"])
def test_a_value_may_begin_with_a_dash_or_be_empty(value: str) -> None:
    arguments = parse(["--append-system-prompt", value, "-p", "hi"])
    assert arguments.value("--append-system-prompt") == value
    assert arguments.on("--print") and arguments.words == ("hi",)
    assert parse([f"--append-system-prompt={value}"]).value("--append-system-prompt") == value


@pytest.mark.parametrize(
    ("argv", "rules", "words"),
    [
        (["--allowedTools", "A", "B", "-p", "hi"], ("A", "B"), ("hi",)),
        (["--allowedTools", "Bash(npm test:*)", "Read", "do it"], ("Bash(npm test:*)", "Read"),
         ("do it",)),
        (["--allowedTools", "A,B(x, y),C", "hi"], ("A,B(x, y),C",), ("hi",)),
        (["--allowed-tools", "mcp__a__b", "mcp__c", "hi"], ("mcp__a__b", "mcp__c"), ("hi",)),
        (["--allowedTools=A", "B"], ("A",), ("B",)),
        (["--allowedTools", "A", "--allowedTools", "B"], ("A", "B"), ()),
        (["--allowedTools", "A", "lower case prompt"], ("A",), ("lower case prompt",)),
    ],
)  # fmt: skip
def test_lists_are_open_ended_but_leave_the_prompt(
    argv: list[str], rules: tuple[str, ...], words: tuple[str, ...]
) -> None:
    arguments = parse(argv)
    assert arguments.list_of("--allowedTools") == rules
    assert arguments.words == words


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ("A,B", ("A", "B")),
        ("A B", ("A", "B")),
        ("A, B(x, y) ,C", ("A", "B(x, y)", "C")),
        ("Bash(git log:*),Bash(echo (a, b))", ("Bash(git log:*)", "Bash(echo (a, b))")),
        ("", ()),
    ],
)
def test_commas_and_blanks_in_parentheses_do_not_split(given: str, rules: tuple[str, ...]) -> None:
    assert options_from(parse(["--allowedTools", given])).allowed_tools == rules
    assert options_from(parse(["--disallowedTools", given])).disallowed_tools == rules


@pytest.mark.parametrize(
    ("argv", "value", "words"),
    [
        (["--resume"], "", ()),
        (["-r"], "", ()),
        (["--resume", UUID], UUID, ()),
        (["--resume=" + UUID], UUID, ()),
        (["-r", UUID, "go on"], UUID, ("go on",)),
        (["-r", "go on"], "", ("go on",)),
        (["--resume", "-p", "go"], "", ("go",)),
    ],
)
def test_an_optional_value(argv: list[str], value: str, words: tuple[str, ...]) -> None:
    arguments = parse(argv)
    assert arguments.values["--resume"] == value
    assert arguments.words == words


def test_resume_is_not_continue() -> None:
    options = options_from(parse(["--resume", "-p", "go"]))
    assert not options.continue_newest and not options.resume, "a person is asked which"
    options = options_from(parse(["-r", UUID]))
    assert options.resume == UUID and not options.continue_newest


def test_debug_takes_its_filter_only_with_an_equals_sign() -> None:
    assert parse(["--debug", "api"]).words == ("api",)
    assert parse(["--debug=api"]).on("--debug")


@pytest.mark.parametrize("name", ["--trust", "--dangerously-skip-permissions", "--fork-session"])
def test_a_switch_that_is_told_false_stays_off(name: str) -> None:
    assert not parse([f"{name}=false"]).on(name)
    assert parse([f"{name}=true"]).on(name)
    assert not parse([name, f"{name}=false"]).on(name)
    assert parse([name, name]).on(name)
    with pytest.raises(BadInput, match=f"{name} takes no value"):
        parse([f"{name}=maybe"])


@pytest.mark.parametrize(
    ("token", "hint"),
    [
        ("--mode", "unknown flag --mode"),
        ("--mod", "did you mean --model"),
        ("--out", "unknown flag --out"),
        ("--permission", "unknown flag --permission"),
        ("--nonsense", "detent --help"),
        ("-x", "unknown flag -x"),
        ("--max-turn=3", "did you mean --max-turns"),
    ],
)
def test_no_abbreviation_is_guessed(token: str, hint: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse([token, "x"])
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", NOT_YET)
def test_what_is_not_part_of_this_version_is_refused_not_ignored(name: str) -> None:
    for argv in ([name, "x"], [f"{name}=x"]):
        with pytest.raises(BadInput, match=f"{name}: .* is not part of this version"):
            parse(argv)


def test_known_flags_of_clients_are_accepted_silently() -> None:
    argv = [
        "--output-format", "stream-json", "--verbose", "--input-format", "stream-json",
        "--system-prompt", "", "--permission-prompt-tool", "stdio", "--effort", "high",
        "--thinking", "adaptive", "--max-thinking-tokens", "1000", "--betas", "a,b",
        "--allow-dangerously-skip-permissions", "--session-mirror", "--strict-mcp-config",
        "--include-hook-events", "--task-budget", "5", "--thinking-display", "omitted",
    ]  # fmt: skip
    arguments = parse(argv)
    assert arguments.words == ()
    assert arguments.value("--permission-prompt-tool") == "stdio"
    assert options_from(arguments).system_prompt == ""


def test_two_dashes_end_the_flags() -> None:
    assert parse(["-p", "--", "--model", "-x"]).words == ("--model", "-x")


def test_a_single_dash_is_a_word() -> None:
    assert parse(["-p", "-"]).words == ("-",)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--model"], "--model needs a value"),
        (["--output-format", "xml"], "takes text, json, stream-json"),
        (["--on-ask=maybe"], "takes deny, fail, stdio"),
        (["--effort", "x"], "--effort takes low, medium, high, xhigh, max; not 'x'"),
        (["--thinking=x"], "--thinking takes adaptive, enabled, disabled; not 'x'"),
        (["a\udc80"], "not UTF-8"),
    ],
)
def test_what_is_wrong_is_said(argv: list[str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(argv)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("argv", "field", "value"),
    [
        (["--tools", ""], "tools", ()),
        (["--tools", "default"], "tools", None),
        (["--tools", "Read,Bash"], "tools", ("Read", "Bash")),
        ([], "tools", None),
        (["--setting-sources="], "setting_sources", ()),
        (["--setting-sources=user,local"], "setting_sources", ("user", "local")),
        ([], "setting_sources", ("user", "project", "local")),
        (["--max-turns", "3"], "max_turns", 3),
        (["--max-turns", "0"], "max_turns", None),
        (["--max-budget-usd=0.5"], "max_budget_usd", 0.5),
        (["--add-dir", "a", "--add-dir=b"], "add_dirs", ("a", "b")),
        (["--fallback-model", "a,b"], "fallback_models", ("a", "b")),
        (["--dangerously-skip-permissions"], "permission_mode", "bypassPermissions"),
        (["--permission-mode", "plan"], "permission_mode", "plan"),
        (["--no-session"], "persist", False),
        (["--no-session-persistence"], "persist", False),
        (["-c"], "continue_newest", True),
        (["--trust"], "trust", True),
        ([], "trust", False),
        (["--settings", '{"model": "x"}'], "settings", {"model": "x"}),
        (["--json-schema", '{"type": "array"}'], "json_schema", {"type": "array"}),
        ([], "json_schema", None),
        (["--effort", "xhigh"], "effort", "xhigh"),
        ([], "effort", ""),
        ([], "thinking_budget", None),
        (["--thinking", "adaptive"], "thinking_budget", None),
        (["--thinking", "disabled"], "thinking_budget", 0),
        (["--thinking", "disabled", "--max-thinking-tokens", "9"], "thinking_budget", 0),
        (["--thinking", "enabled"], "thinking_budget", USUAL_THINKING),
        (["--thinking", "enabled", "--max-thinking-tokens", "9"], "thinking_budget", 9),
        (["--max-thinking-tokens", "2048"], "thinking_budget", 2048),
        (["--max-thinking-tokens", "0"], "thinking_budget", 0),
        (["--betas", "a,b"], "betas", ("a", "b")),
        ([], "betas", ()),
        (
            ["--server-tool", '{"type": "web_search"}', "--server-tool={}"],
            "server_tools",
            [{"type": "web_search"}, {}],
        ),
        (["--session-id", UUID.upper()], "session_id", UUID),
        ([], "system_prompt", None),
    ],
)
def test_flags_become_options(argv: list[str], field: str, value: Any) -> None:
    assert getattr(options_from(parse(argv)), field) == value


@pytest.mark.parametrize(
    ("name", "text", "argv", "field", "value"),
    [
        ("MAX_THINKING_TOKENS", "4096", [], "thinking_budget", 4096),
        ("MAX_THINKING_TOKENS", "0", [], "thinking_budget", 0),
        ("MAX_THINKING_TOKENS", "plenty", [], "thinking_budget", None),
        ("MAX_THINKING_TOKENS", "9", ["--max-thinking-tokens", "8"], "thinking_budget", 8),
        ("MAX_THINKING_TOKENS", "9", ["--thinking", "adaptive"], "thinking_budget", None),
        ("CLAUDE_CODE_EFFORT_LEVEL", "high", [], "effort", "high"),
        ("CLAUDE_CODE_EFFORT_LEVEL", "heroic", [], "effort", ""),
        ("CLAUDE_CODE_EFFORT_LEVEL", "high", ["--effort", "low"], "effort", "low"),
    ],
)
def test_the_environment_counts_where_the_command_line_is_silent(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, argv: list[str], field: str, value: Any
) -> None:
    monkeypatch.setenv(name, text)
    assert getattr(options_from(parse(argv)), field) == value


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--max-turns", "many"], "--max-turns takes a number"),
        (["--max-turns", "1.5"], "whole number"),
        (["--max-turns", "-1"], "must not be negative"),
        (["--max-budget-usd", "nan"], "takes a number"),
        (["--session-id", "../../x"], "takes a UUID"),
        (["--settings", "{"], "--settings: line 1"),
        (["--json-schema", "{" + '"a":{' * 50_000], "--json-schema: nested too deeply"),
        (["--json-schema", "a\0b"], "--json-schema: cannot read"),
        (["--max-thinking-tokens", "1.5"], "whole number"),
        (["--server-tool", "[]"], "--server-tool: expected a JSON object"),
        (["--setting-sources", "all"], "takes user, project, local"),
        (["--system-prompt-file", "/no/such"], "cannot read /no/such"),
    ],
)
def test_wrong_values_are_said(argv: list[str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        options_from(parse(argv))
    assert message in str(caught.value)


def test_a_prompt_file_is_read(tmp_path: Any) -> None:
    path = tmp_path / "prompt.md"
    path.write_text("be brief")
    assert options_from(parse([f"--system-prompt-file={path}"])).system_prompt == "be brief"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not UTF-8"):
        options_from(parse(["--append-system-prompt-file", str(path)]))


@pytest.mark.parametrize("argv", [["--resume", "", "go"], ["-r", ""], ["--resume="]])
def test_an_empty_value_is_not_a_value_left_out(argv: list[str]) -> None:
    with pytest.raises(BadInput, match="empty"):
        parse(argv)


@pytest.mark.parametrize("name", ["--json-schema", "--settings"])
def test_an_empty_object_or_file_is_none(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} was given an empty value"):
        options_from(parse([name, ""]))


def test_help_tells_of_every_flag_where_it_counts() -> None:
    everywhere = {name for taken in TAKEN.values() for name in taken}
    for flag in FLAGS:
        assert (flag.name in _offered(help_text())) == (bool(flag.help) and not flag.only)
        assert not flag.only or flag.name in everywhere
    for name in SUBCOMMANDS:
        assert _offered(help_text(name).partition("Flags:")[2]) == set(TAKEN.get(name, ()))


def test_help_fits_a_terminal_and_has_all_its_headings() -> None:
    text = help_text()
    assert (
        max(len(line) for name in ("", *SUBCOMMANDS) for line in help_text(name).split("\n")) <= 100
    )
    assert all(f"\n{heading}:\n" in text for heading in HEADINGS.values())


def _offered(text: str) -> set[str]:
    """Names at the beginning of a line of a flag list."""
    names = (word.strip(",") for line in text.split("\n") for word in line.split("   ")[0].split())
    known = {flag.name for flag in (*FLAGS, *(flag for own in OWN.values() for flag in own))}
    return {name for name in names if name in known}
