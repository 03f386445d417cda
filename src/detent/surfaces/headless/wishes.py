"""Command line → options."""

import os
from math import isfinite
from typing import Any

from msgspec.structs import replace

from detent.sdk.options import Options
from detent.surfaces.arguments import Arguments
from detent.types.codec import decode_object
from detent.types.errors import BadInput


def options_from(arguments: Arguments) -> Options:
    tools = arguments.list_of("--tools")
    return Options(
        model=arguments.value("--model"),
        fallback_models=_split(arguments.list_of("--fallback-model")),
        cwd=arguments.value("--cwd"),
        add_dirs=arguments.list_of("--add-dir"),
        tools=None if not tools or tools == ("default",) else _split(tools),
        plugin_dirs=arguments.list_of("--plugin-dir"),
        permission_mode=_mode(arguments),
        allowed_tools=_rules(arguments.list_of("--allowedTools")),
        disallowed_tools=_rules(arguments.list_of("--disallowedTools")),
        trust=arguments.on("--trust"),
        system_prompt=_text_or_file(arguments, "--system-prompt"),
        append_system_prompt=_text_or_file(arguments, "--append-system-prompt") or "",
        max_turns=_whole(arguments, "--max-turns"),
        max_tokens=_whole(arguments, "--max-tokens"),
        max_tool_calls=_whole(arguments, "--max-tool-calls"),
        max_seconds=_number(arguments, "--max-time"),
        max_budget_usd=_number(arguments, "--max-budget-usd"),
        max_output_tokens=_output_limit(),
        session_id=_uuid(arguments.value("--session-id")),
        settings=_settings(arguments.value("--settings")),
        setting_sources=_sources(arguments),
        **_session(arguments),
    )


def with_trace(options: Options, write: Any) -> Options:
    """`--debug`: each stage of the turn as it begins."""
    import time

    begun = time.monotonic()

    def trace(stage: str, what: str) -> None:
        write(f"[{(time.monotonic() - begun) * 1000:9.1f} ms] {stage} {what}".rstrip())

    return replace(options, trace=trace)


def _session(arguments: Arguments) -> dict[str, Any]:
    """`--resume` without an id means the newest, as `--continue` does."""
    wanted = arguments.values.get("--resume")
    if arguments.on("--fork-session") and wanted is None and not arguments.on("--continue"):
        raise BadInput("--fork-session goes with --continue or --resume")
    return {
        "resume": wanted or "",
        "continue_newest": arguments.on("--continue") or wanted == "",
        "fork": arguments.on("--fork-session"),
        "persist": not arguments.on("--no-session"),
    }


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
    value = _number(arguments, name)
    if value is not None and value != int(value):
        raise BadInput(f"{name} takes a whole number, not {arguments.value(name)!r}")
    return int(value) if value else None


def _number(arguments: Arguments, name: str) -> float | None:
    text = arguments.value(name)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise BadInput(f"{name} takes a number, not {text!r}") from None
    if not isfinite(value):
        raise BadInput(f"{name} takes a number, not {text!r}")
    if value < 0:
        raise BadInput(f"{name} must not be negative")
    return value or None


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


def _settings(given: str) -> dict[str, Any] | None:
    if not given:
        return None
    if given.lstrip().startswith("{"):
        return decode_object(given, "--settings")
    try:
        with open(given, "rb") as file:
            return decode_object(file.read(), given)
    except OSError as error:
        raise BadInput(f"--settings: cannot read {given}: {error.strerror}") from None


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
