"""The command line as data, and a parser that takes what the ecosystem's programs send.

Not argparse: values may begin with a dash, lists are open-ended, some values are optional, empty
positionals come from editors, and abbreviations must not be guessed. Its import would also cost a
tenth of our whole start-up.
"""

import os
from typing import Literal

from msgspec import Struct

from detent.surfaces.arguments import Arguments
from detent.types.errors import BadInput

Kind = Literal["switch", "value", "list", "optional"]


class Flag(Struct, frozen=True):
    name: str
    kind: Kind
    help: str = ""
    """Empty: accepted because clients send it, not offered to people."""
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    metavar: str = ""
    only: bool = False
    """For a subcommand alone: its own help tells of it."""


FLAGS = (
    Flag("--print", "switch", "Headless: one turn, print, exit.", ("-p",)),
    Flag("--model", "value", "PROVIDER/NAME, an alias, or scripted:FILE.", metavar="MODEL"),
    Flag("--fallback-model", "list", "Used when the model is overloaded.", metavar="MODEL"),
    Flag(
        "--effort",
        "value",
        "low, medium, high, xhigh or max.",
        choices=("low", "medium", "high", "xhigh", "max"),
        metavar="LEVEL",
    ),
    Flag(
        "--thinking",
        "value",
        "adaptive, enabled or disabled.",
        choices=("adaptive", "enabled", "disabled"),
        metavar="HOW",
    ),
    Flag("--max-thinking-tokens", "value", "Most tokens of thinking; 0 is none.", metavar="N"),
    Flag("--server-tool", "list", "A tool the provider runs itself.", metavar="JSON"),
    Flag("--cwd", "value", "Work in this folder.", metavar="DIR"),
    Flag("--add-dir", "list", "A further folder of the workspace.", metavar="DIR"),
    Flag(
        "--output-format",
        "value",
        "text, json or stream-json.",
        choices=("text", "json", "stream-json"),
        metavar="FORMAT",
    ),
    Flag(
        "--input-format",
        "value",
        "text or stream-json (implies headless).",
        choices=("text", "stream-json"),
        metavar="FORMAT",
    ),
    Flag("--include-partial-messages", "switch", "stream-json: every delta as a frame."),
    Flag(
        "--json-schema", "value", "The answer must be data of this schema.", metavar="SCHEMA|FILE"
    ),
    Flag("--verbose", "switch", "Say on stderr what is being done."),
    Flag(
        "--permission-mode",
        "value",
        "default, acceptEdits, plan, auto, dontAsk or bypassPermissions.",
        metavar="MODE",
    ),
    Flag(
        "--allowedTools",
        "list",
        "Rules that allow: Read, 'Bash(npm test:*)'.",
        ("--allowed-tools",),
        metavar="RULE",
    ),
    Flag("--disallowedTools", "list", "Rules that deny.", ("--disallowed-tools",), metavar="RULE"),
    Flag("--tools", "list", "Offer only these tools; '' for none.", metavar="TOOL"),
    Flag(
        "--on-ask",
        "value",
        "A question: deny (default), fail, or stdio (stdin then answers).",
        choices=("deny", "fail", "stdio"),
        metavar="WHAT",
    ),
    Flag("--dangerously-skip-permissions", "switch", "The same as mode bypassPermissions."),
    Flag(
        "--sandbox",
        "value",
        "What holds commands: auto (default), bwrap, landlock or off.",
        choices=("auto", "bwrap", "landlock", "off"),
        metavar="HOW",
    ),
    Flag("--trust", "switch", "Trust this project's settings, for this run."),
    Flag("--max-turns", "value", "Model requests; 0 is no limit.", metavar="N"),
    Flag("--max-time", "value", "Seconds.", metavar="SECONDS"),
    Flag("--max-budget-usd", "value", "Dollars.", metavar="USD"),
    Flag(
        "--max-tokens", "value", "Tokens, read and written.", ("--max-total-tokens",), metavar="N"
    ),
    Flag("--max-input-tokens", "value", "Tokens read.", metavar="N"),
    Flag("--max-output-tokens", "value", "Tokens written.", metavar="N"),
    Flag("--max-reasoning-tokens", "value", "Tokens of thinking.", metavar="N"),
    Flag("--max-model-calls", "value", "Model requests.", metavar="N"),
    Flag("--max-tool-calls", "value", "Tool calls.", metavar="N"),
    Flag("--max-delegated-tasks", "value", "Tasks given to subagents.", metavar="N"),
    Flag("--max-session-turns", "value", "Turns.", metavar="N"),
    Flag("--max-session-time", "value", "Seconds of work.", metavar="SECONDS"),
    Flag("--strict-budget", "switch", "Send nothing that might pass a limit."),
    Flag(
        "--on-budget",
        "value",
        "At a limit: halt (default), or wrap_up with one last answer.",
        choices=("halt", "wrap_up"),
        metavar="WHAT",
    ),
    Flag("--task-budget", "value", "Tokens the model is told it has; no limit.", metavar="N"),
    Flag("--system-prompt", "value", "Replaces the built-in prompt.", metavar="TEXT"),
    Flag("--system-prompt-file", "value", "The same from a file.", metavar="FILE"),
    Flag("--append-system-prompt", "value", "Added behind the prompt.", metavar="TEXT"),
    Flag("--append-system-prompt-file", "value", "The same from a file.", metavar="FILE"),
    Flag("--settings", "value", "Settings as JSON or a file.", metavar="JSON|FILE"),
    Flag("--setting-sources", "value", "Which of user,project,local to read.", metavar="LIST"),
    Flag("--agents", "value", "Agents by name, as JSON or a file.", metavar="JSON|FILE"),
    Flag("--agent", "value", "Run as this agent (detent agents).", metavar="NAME"),
    Flag("--plugin-dir", "list", "A plugin whose tools are offered.", metavar="DIR"),
    Flag("--continue", "switch", "Go on with the newest session of this folder.", ("-c",)),
    Flag(
        "--resume",
        "optional",
        "This session; without a value, asks. --resume='two words'",
        ("-r",),
        metavar="[ID|NAME|TEXT]",
    ),
    Flag("--fork-session", "switch", "With --continue or --resume: on a copy."),
    Flag("--session-id", "value", "Id of the new session (a UUID).", metavar="UUID"),
    Flag("--keep-background", "switch", "Background jobs outlive the run."),
    Flag("--name", "value", "What to call the session.", ("-n",), metavar="NAME"),
    Flag("--no-session", "switch", "Save nothing.", ("--no-session-persistence",)),
    Flag("--allow-unsaved", "switch", "Let calls have effects when the session cannot be saved."),
    Flag("--sessions", "list", "Only these past sessions.", metavar="ID", only=True),
    Flag("--home", "value", "With test: stands for /home/dev.", metavar="DIR", only=True),
    Flag("--json", "switch", "JSON, for programs.", only=True),
    Flag("--at", "value", "The request for the Nth answer instead.", metavar="N", only=True),
    Flag("--all", "switch", "Every block, not only the largest.", only=True),
    Flag("--summary", "switch", "The text that stands for what is left out.", only=True),
    Flag("--prompt", "switch", "The system prompt as it is sent.", only=True),
    Flag("--last", "switch", "Only what was shortened last.", only=True),
    Flag("--scripted", "switch", "Follow a script, use no model.", only=True),
    Flag("--yes", "switch", "Agree to what is shown.", only=True),
    Flag("--list", "switch", "The folders that are trusted.", only=True),
    Flag("--remove", "switch", "Take it back.", only=True),
    Flag("--theme", "value", "Colours of the session; /theme lists them.", metavar="NAME"),
    Flag("--screen-reader", "switch", "Linear output, no animation."),
    Flag("--vim", "switch", "Edit the prompt with the keys of vi."),
    Flag("--record", "value", "Keep what goes over the wire to models there.", metavar="DIR"),
    Flag("--debug", "switch", "Trace the stages of the turn on stderr."),
    Flag("--version", "switch", "Print the version.", ("-v",)),
    Flag("--help", "switch", "Print this help.", ("-h",)),
    # What SDK clients and editors pass; taken, some used, none shown to people.
    Flag("--permission-prompt-tool", "value"),
    Flag("--replay-user-messages", "switch"),
    Flag("--allow-dangerously-skip-permissions", "switch"),
    Flag("--include-hook-events", "switch"),
    Flag("--forward-subagent-text", "switch"),
    Flag("--exclude-dynamic-system-prompt-sections", "switch"),
    Flag("--disable-slash-commands", "switch"),
    Flag("--session-mirror", "switch"),
    Flag("--strict-mcp-config", "switch"),
    Flag("--betas", "value"),
    Flag("--thinking-display", "value"),
    Flag("--resume-session-at", "value"),
    Flag("--resume-drops-turn", "value"),
)
NOT_YET = {
    "--mcp-config": "MCP servers",
    "--offline": "the offline guard",
}
"""Flags of the contract whose capability is not in this version: refused, never ignored."""

_SESSION = Flag("--session", "value", "This one, not the newest of this folder.", metavar="SESSION")
_DRY_RUN = Flag("--dry-run", "switch", "Show what would happen, and do nothing.")
OWN = {
    "undo": (
        Flag("--list", "switch", "The steps, and what each has changed."),
        Flag("--turn", "switch", "Everything since the last prompt."),
        Flag("--interrupted", "switch", "Also what a call that a crash cut off may have done."),
        Flag("--merge", "switch", "Keep your own changes in a file, undo the others."),
        _DRY_RUN,
        _SESSION,
    ),
    "redo": (_DRY_RUN, _SESSION),
    "init": (Flag("--yes", "switch", "Replace the AGENTS.md that is there."), _DRY_RUN),
    "replay": (
        Flag("--verify", "switch", "Exit code 1: something differs; 5: not all can be checked."),
        Flag("--speed", "value", "Play it here, N times as fast; max: at once.", metavar="N"),
    ),
    "sessions": (
        Flag("--all", "switch", "With list and delete: of all folders."),
        Flag("--limit", "value", "With list and search: so many at most.", metavar="N"),
        Flag("--older-than", "value", "With delete: not used for 12h, 30d, 8w …", metavar="AGE"),
        Flag("--remove", "switch", "With name: take it away."),
        Flag("--format", "value", "With export: md, html, json or snapshot.", metavar="FORM"),
        Flag("--output", "value", "With export: into this file.", metavar="FILE"),
        Flag("--dry-run", "switch", "With delete and import: only show what would happen."),
    ),
    "fork": (
        Flag("--at", "value", "After this step; seq:N: after that entry.", metavar="STEP"),
        Flag("--prompt", "value", "Go on with this at once, as detent -p does.", metavar="TEXT"),
        Flag("--into", "value", "Where the files go: a new folder.", metavar="DIR"),
        Flag("--in-place", "switch", "Put the files back in the folder of the session."),
    ),
}
"""Flags of one subcommand that are none elsewhere, or mean something else there."""

_BY_NAME = {name: flag for flag in FLAGS for name in (flag.name, *flag.aliases)}
_BY_NAME["--max-cost"] = _BY_NAME["--max-budget-usd"]  # what people try first


def parse(argv: list[str]) -> Arguments:
    values: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    switches: set[str] = set()
    words: list[str] = []
    rest = [_text(argument) for argument in argv]
    while rest:
        token = rest.pop(0)
        if token == "--":
            words += rest
            break
        if not _is_flag(token):
            words.append(token)
            continue
        is_subcommand = words and "--print" not in switches
        flag, given = _recognise(token, words[0] if is_subcommand else "")
        match flag.kind:
            case "switch":
                _turn(flag, switches, values, is_on=_is_on(flag, given))
            case "value":
                values[flag.name] = _checked(flag, _required(flag, given, rest))
            case "list":
                taken = _listed(flag, given, rest)
                lists[flag.name] = (*lists.get(flag.name, ()), *taken)
            case "optional":
                values[flag.name] = _optional(flag, given, rest)
    kept = tuple(word for word in words if word)
    return Arguments(values, lists, frozenset(switches), kept)


def _turn(flag: Flag, on: set[str], values: dict[str, str], *, is_on: bool) -> None:
    """That one was switched off is no more than that it is not on, unless somebody asks."""
    (on.add if is_on else on.discard)(flag.name)
    values.pop(flag.name, None)
    if not is_on:
        values[flag.name] = "false"


def _is_flag(token: str) -> bool:
    """A dash with a blank behind the name is a sentence that begins with a dash."""
    return token.startswith("-") and token != "-" and " " not in token.partition("=")[0]


def _text(argument: str) -> str:
    """The system hands over any bytes; what is no text can neither be saved nor sent."""
    if not argument.isascii():
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise BadInput(f"an argument is not UTF-8 text: {argument!a}") from None
    return argument


def _recognise(token: str, subcommand: str) -> tuple[Flag, str | None]:
    name, equals, value = token.partition("=")
    own = (flag for flag in OWN.get(subcommand, ()) if flag.name == name)
    flag = next(own, None) or _BY_NAME.get(name)
    if flag is not None:
        return flag, value if equals else None
    if name in NOT_YET:
        raise BadInput(f"{name}: {NOT_YET[name]} is not part of this version")
    from difflib import get_close_matches

    close = get_close_matches(name, _BY_NAME, 1, 0.7)
    hint = f"; did you mean {close[0]}?" if close else "; see detent --help"
    raise BadInput(f"unknown flag {name}{hint}")


def _is_on(flag: Flag, given: str | None) -> bool:
    """`--trust=false` must not trust. Only --debug may carry more: a filter."""
    if given not in (None, "", "true", "false") and flag.name != "--debug":
        raise BadInput(f"{flag.name} takes no value; not {given!r}")
    return given != "false"


def _required(flag: Flag, given: str | None, rest: list[str]) -> str:
    """The next word is the value, whatever it begins with."""
    if given is not None:
        return given
    if not rest:
        raise BadInput(f"{flag.name} needs a value")
    return rest.pop(0)


def _checked(flag: Flag, value: str) -> str:
    if flag.choices and value not in flag.choices:
        raise BadInput(f"{flag.name} takes {', '.join(flag.choices)}; not {value!r}")
    return value


def _optional(flag: Flag, given: str | None, rest: list[str]) -> str:
    """An empty value is no value left out: a variable was not set, and another thing was meant."""
    if given == "" or (given is None and rest and not rest[0]):
        raise BadInput(f"{flag.name} was given an empty value")
    if given is not None:
        return given
    if rest and rest[0] and not rest[0].startswith("-") and " " not in rest[0]:
        return rest.pop(0)
    return ""


def _listed(flag: Flag, given: str | None, rest: list[str]) -> tuple[str, ...]:
    """One value, and further ones as long as they cannot be the prompt."""
    first = _required(flag, given, rest)
    found = [first]
    while given is None and rest and _continues_list(flag, rest[0]):
        found.append(rest.pop(0))
    return tuple(found)


def _continues_list(flag: Flag, word: str) -> bool:
    if flag.name == "--add-dir":
        return " " not in word and os.path.isdir(word)
    if flag.name == "--sessions":
        return not word.startswith("-")
    if flag.name not in ("--allowedTools", "--disallowedTools", "--tools"):
        return False
    name = word.partition("(")[0]
    is_rule = name.isidentifier() and (name[:1].isupper() or name.startswith("mcp__"))
    return is_rule and (word == name or word.endswith(")"))
