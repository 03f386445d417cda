"""Command line → options."""

import os
from typing import Any

from msgspec.structs import replace

from detent.sdk.options import Options
from detent.surfaces.arguments import Arguments
from detent.types.codec import decode_object
from detent.types.errors import BadInput
from detent.types.events import Event

EFFORTS = ("low", "medium", "high", "xhigh", "max")
USUAL_THINKING = 16_000
"""Tokens, when thinking is wanted and nobody says how much."""
USUAL_AGENT_DEPTH = 5
"""Levels of subagents, unless the settings say otherwise."""
BUDGETS = frozenset({
    "--max-tokens", "--max-input-tokens", "--max-output-tokens", "--max-reasoning-tokens",
    "--max-budget-usd", "--max-session-turns", "--max-tool-calls", "--max-delegated-tasks",
    "--max-model-calls", "--max-session-time", "--strict-budget", "--on-budget", "--task-budget",
})  # fmt: skip


def options_from(arguments: Arguments) -> Options:
    tools = arguments.list_of("--tools")
    return Options(
        model=arguments.value("--model"),
        fallback_models=_split(arguments.list_of("--fallback-model")),
        effort=_effort(arguments),
        thinking_budget=_thinking(arguments),
        betas=_split((arguments.value("--betas"),)),
        server_tools=[
            decode_object(t, "--server-tool") for t in arguments.list_of("--server-tool")
        ],
        json_schema=_object_or_file(arguments, "--json-schema"),
        cwd=arguments.value("--cwd"),
        add_dirs=arguments.list_of("--add-dir"),
        tools=None if not tools or tools == ("default",) else _split(tools),
        plugin_dirs=arguments.list_of("--plugin-dir"),
        agents=_object_or_file(arguments, "--agents") or {},
        agent=_agent(arguments),
        permission_mode=_mode(arguments),
        allowed_tools=_rules(arguments.list_of("--allowedTools")),
        disallowed_tools=_rules(arguments.list_of("--disallowedTools")),
        sandbox=arguments.value("--sandbox"),
        trust=arguments.on("--trust"),
        system_prompt=_text_or_file(arguments, "--system-prompt"),
        append_system_prompt=_text_or_file(arguments, "--append-system-prompt") or "",
        max_turns=_whole(arguments, "--max-turns"),
        max_seconds=arguments.number("--max-time") or None,
        max_output_tokens=_output_limit(),
        usual_agent_depth=USUAL_AGENT_DEPTH,
        waits_for_agents=True,
        session_id=_uuid(arguments.value("--session-id")),
        settings=_settings(arguments),
        setting_sources=_sources(arguments),
        record=arguments.value("--record"),
        **_session(arguments),
        **_budgets(arguments),
    )


def with_trace(options: Options, write: Any) -> Options:
    """`--debug`: each stage of the turn as it begins, and why things went as they did."""
    import time

    from detent.surfaces.wording.diagnostics import explanation

    begun = time.monotonic()

    def trace(stage: str, what: str) -> None:
        write(f"[{(time.monotonic() - begun) * 1000:9.1f} ms] {stage} {what}".rstrip())

    def explain(event: Event) -> None:
        if why := explanation(event):
            trace("·", why)

    return replace(options, trace=trace, observers=(*options.observers, explain))


def _session(arguments: Arguments) -> dict[str, Any]:
    """What `--resume` means is found out when all else is known to be right."""
    wanted = arguments.values.get("--resume")
    if arguments.on("--fork-session") and wanted is None and not arguments.on("--continue"):
        raise BadInput("--fork-session goes with --continue or --resume")
    at, drops = (arguments.values.get(f"--resume-{what}") for what in ("session-at", "drops-turn"))
    if (at or drops) and wanted is None and not arguments.on("--continue"):
        raise BadInput("--resume-session-at and --resume-drops-turn go with --resume")
    if drops is not None and not at:
        raise BadInput("--resume-drops-turn goes with --resume-session-at")
    return {
        "resume_at": at or "",
        "drops_turn": drops,
        "resume": wanted or "",
        "continue_newest": arguments.on("--continue"),
        "name": arguments.value("--name"),
        "fork": arguments.on("--fork-session"),
        "persist": not arguments.on("--no-session"),
        "keep_background": arguments.on("--keep-background") or None,
        "allow_unsaved": arguments.on("--allow-unsaved"),
    }


def _budgets(arguments: Arguments) -> dict[str, Any]:
    """Most runs have none, and need not know how they are read."""
    if not BUDGETS & (arguments.values.keys() | arguments.switches):
        return {}
    from detent.surfaces.budgets import budget_options

    return budget_options(arguments)


def _agent(arguments: Arguments) -> str:
    name = arguments.values.get("--agent")
    if name is not None and not name.strip():
        raise BadInput("--agent was given an empty value")
    return name or ""


def _mode(arguments: Arguments) -> str:
    if arguments.on("--dangerously-skip-permissions"):
        return "bypassPermissions"
    return arguments.value("--permission-mode")


def _rules(given: tuple[str, ...]) -> tuple[str, ...]:
    """Separated by commas or blanks; parentheses protect both."""
    found: list[str] = []
    for text in given:
        depth, current = 0, ""
        for char in text:
            depth += (char == "(") - (char == ")")
            if char in ", \t\n" and depth <= 0:
                found.append(current)
                current = ""
            else:
                current += char
        found.append(current)
    return tuple(rule for rule in found if rule.strip())


def _split(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for text in given for name in text.replace(",", " ").split())


def _whole(arguments: Arguments, name: str) -> int | None:
    """0 is no limit."""
    return int(arguments.number(name, whole=True) or 0) or None


def _effort(arguments: Arguments) -> str:
    """The environment's word counts where the command line says nothing, if it is one of ours."""
    wanted = os.environ.get("CLAUDE_CODE_EFFORT_LEVEL", "")
    return arguments.value("--effort") or (wanted if wanted in EFFORTS else "")


def _thinking(arguments: Arguments) -> int | None:
    """Tokens for thinking: 0 is none at all, None leaves it to the settings and the model."""
    how = arguments.value("--thinking")
    if how == "disabled":
        return 0
    if arguments.value("--max-thinking-tokens"):
        return _whole(arguments, "--max-thinking-tokens") or 0
    if how:
        return USUAL_THINKING if how == "enabled" else None
    text = os.environ.get("MAX_THINKING_TOKENS", "")
    return int(text) if text.isdigit() else None


def _output_limit() -> int | None:
    text = os.environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "")
    return int(text) if text.isdigit() and int(text) else None


def _text_or_file(arguments: Arguments, name: str) -> str | None:
    path = arguments.value(f"{name}-file")
    if not path:
        return arguments.values.get(name)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise BadInput(f"{name}-file: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{name}-file: {path} is not UTF-8 text") from None


def _object_or_file(arguments: Arguments, name: str) -> dict[str, Any] | None:
    given = arguments.values.get(name)
    if given is None:
        return None
    if not given.strip():
        raise BadInput(f"{name} was given an empty value")
    if given.lstrip().startswith(("{", "[")):
        return decode_object(given, name)
    try:
        with open(given, "rb") as file:
            return decode_object(file.read(), given)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{name}: cannot read {given}: {why}") from None


def _settings(arguments: Arguments) -> dict[str, Any] | str | None:
    """A file is read where its rules' lines can be told."""
    given = arguments.value("--settings")
    if given.strip() and not given.lstrip().startswith("{"):
        return given
    return _object_or_file(arguments, "--settings")


def _sources(arguments: Arguments) -> tuple[str, ...]:
    if "--setting-sources" not in arguments.values:
        return ("user", "project", "local")
    names = _split((arguments.value("--setting-sources"),))
    for name in names:
        if name not in ("user", "project", "local"):
            raise BadInput(f"--setting-sources takes user, project, local; not {name!r}")
    return names


def _uuid(text: str) -> str:
    """The id becomes a file name, so only a UUID will do."""
    if not text:
        return ""
    parts = text.lower().split("-")
    is_hex = all(char in "0123456789abcdef" for part in parts for char in part)
    if [len(part) for part in parts] != [8, 4, 4, 4, 12] or not is_hex:
        raise BadInput(f"--session-id takes a UUID, not {text!r}")
    return text.lower()
