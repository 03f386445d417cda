"""What a kit is fitted with by the settings: limits of a turn, and what tools may know."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detent.app.grounds import Grounds
from detent.app.journal import Journal
from detent.app.shaping import starts_calls_early
from detent.context.bounds import MOST_CHARACTERS, MOST_WANTED
from detent.context.tokens import of_system, of_tools
from detent.gate.paths import SECRET_GLOBS
from detent.gate.terms import Workspace
from detent.loop.kit import Kit
from detent.loop.limits import MOST_FORCED_CONTINUATIONS, Limits

if TYPE_CHECKING:
    from detent.app.durability import Power


def base_of(kit: Kit) -> int:
    """Tokens that every request begins with: the prompt and the tools."""
    family = kit.conversation.family
    return of_system(kit.system, family) + of_tools(kit.toolbox.specs(), family)


def _output_wanted(environ: Mapping[str, str]) -> int:
    """Characters of a command's output that the user wants the model to see; 0 is not said."""
    text = environ.get("BASH_MAX_OUTPUT_LENGTH", "")
    return min(int(text), MOST_WANTED) if text.isdecimal() else 0


def power_of(grounds: Grounds, *journals: Journal) -> "Power | None":
    """Where the user wants a power cut to take nothing back."""
    if (grounds.options.durability or grounds.settings.durability) != "power":
        return None
    from detent.app.durability import Power

    return Power(*(journal.log for journal in journals))


def limits_of(grounds: Grounds) -> Limits:
    options, settings = grounds.options, grounds.settings
    forced, spending = settings.stop_continuations, settings.spending
    return Limits(
        steps=options.max_turns or settings.max_turns or None,
        seconds=options.max_seconds or None,
        output=options.max_output_tokens or None,
        wrap_up=(options.on_budget or (spending.on_budget if spending else "")) == "wrap_up",
        early_calls=starts_calls_early(settings, grounds.environ),
        forced=MOST_FORCED_CONTINUATIONS if forced is None else forced,
        concurrency=options.max_tool_concurrency or settings.max_tool_concurrency or 10,
        characters=max(MOST_CHARACTERS, _output_wanted(grounds.environ)),
        tool_seconds={n: s for n, s in settings.tool_timeouts.items() if n != "Bash"},
    )


def for_tools(grounds: Grounds, workspace: Workspace) -> dict[str, str]:
    """What a tool may know of the settings, as texts."""
    environ = grounds.environ
    names = {
        "BASH_DEFAULT_TIMEOUT_MS": "bash_default_timeout_ms",
        "BASH_MAX_TIMEOUT_MS": "bash_max_timeout_ms",
    }
    given = {ours: environ[theirs] for theirs, ours in names.items() if environ.get(theirs)}
    if wanted := _output_wanted(environ):
        given["bash_max_output_length"] = str(wanted)
    if seconds := grounds.settings.tool_timeouts.get("Bash"):  # it keeps its own, and its output
        limit = str(max(1, round(seconds * 1000)))
        given |= {"bash_default_timeout_ms": limit, "bash_max_timeout_ms": limit}
    places = _writable(grounds, workspace.roots)
    given["sandbox_writable"] = "\n".join(places)
    return {**given, "search_excludes": "\n".join(SECRET_GLOBS)}


def _writable(grounds: Grounds, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Where a sandbox lets commands write."""
    wishes = grounds.settings.sandbox
    if wishes is None:
        return roots
    from detent.app.settings.sandbox import writable_places

    return writable_places(wishes, roots, grounds.cwd, grounds.own)
