"""Which tools a session has: built-in ones, the caller's own, plugins', and the one for a form."""

from collections.abc import Collection, Sequence
from typing import Any

from detent.app.approvers import is_person
from detent.app.grounds import Grounds
from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.gate.terms import RuleSet
from detent.ports import Tool, Toolbox
from detent.tools.registry import Registry, canonical_name, catalogue
from detent.types.errors import BadInput
from detent.types.events import Entry
from detent.types.messages import ToolSpec

FOR_A_PERSON = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
"""Without somebody to answer they have no sense."""
OF_BASH = ("TaskOutput", "TaskStop")
"""What they are for only Bash begins."""
OF_DELEGATION = frozenset({
    "Agent", "delegate_agent", "SendMessage", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList",
})  # fmt: skip
SMALL_WINDOW = 16_000
"""Tokens."""
SEARCH_VARIABLES = ("BRAVE_API_KEY", "TAVILY_API_KEY", "SEARXNG_URL")
"""Any of them says who searches the web."""


def tools_of(grounds: Grounds, rules: RuleSet) -> Toolbox:
    return grounds.options.toolbox or _toolbox(grounds, rules)


def unavailable(grounds: Grounds, rules: RuleSet, toolbox: Toolbox) -> list[str]:
    """Why tools are missing that the user has named, or has tried to set up."""
    options, settings = grounds.options, grounds.settings
    wanted = {canonical_name(name) for name in options.tools or ()}
    if settings.web_search and options.tools is None:
        wanted.add("WebSearch")
    missing = wanted - {spec.name for spec in toolbox.specs()}
    reasons = {name: _reason(name, grounds) for name in sorted(missing - _denied(rules))}
    return [f"{name} is not offered: {reason}" for name, reason in reasons.items() if reason]


def _reason(name: str, grounds: Grounds) -> str:
    if name == "WebSearch":
        from detent.app.searching import why_nobody_searches

        return why_nobody_searches(grounds.settings, grounds.environ)
    return {
        **dict.fromkeys(FOR_A_PERSON, "nobody is there to answer"),
        **dict.fromkeys(OF_BASH, "it needs Bash"),
        "ToolSearch": "no tools are held back",
        "LSP": "the setting lsp switches language servers off",
    }.get(name, "")


def _denied(rules: RuleSet) -> set[str]:
    return {rule.tool for rule in rules.deny if not rule.what}


def _toolbox(grounds: Grounds, rules: RuleSet) -> Toolbox:
    """A tool that is denied as a whole, or has nothing to do, is not offered to the model."""
    options, given = grounds.options, _given(grounds)
    extra: list[Tool] = [*options.custom_tools]
    if options.plugin_dirs:
        from detent.app.extensions.plugin_tools import plugin_tools

        extra += plugin_tools(options.plugin_dirs)
    denied = _denied(rules)
    extra = [tool for tool in extra if tool.spec.name not in denied]
    idle = {"ToolSearch", *(() if is_person(options.approver) else FOR_A_PERSON)}
    idle |= {"WebSearch"} - given.keys()
    if grounds.settings.lsp is None:
        idle.add("LSP")
    try:
        names = {spec.name for spec in Registry(options.tools, extra).specs()}
        if "Bash" not in names - denied:
            idle.update(OF_BASH)
        idle -= {tool.spec.name for tool in extra}
        return Registry(sorted(names - denied - idle), extra, given)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _given(grounds: Grounds) -> dict[str, tuple[Any, ...]]:
    """What tools need to know of the settings before they are used."""
    return {**_of_shell(grounds), **_of_search(grounds)}


def _of_shell(grounds: Grounds) -> dict[str, tuple[Any, ...]]:
    """What may run outside the sandbox, where there is one."""
    wishes = grounds.settings.sandbox
    if wishes is None or (grounds.options.sandbox or wishes.backend) == "off":
        return {}
    return {"Bash": (wishes.allow_unsandboxed, wishes.excluded_commands)}


def _of_search(grounds: Grounds) -> dict[str, tuple[Any, ...]]:
    settings, environ = grounds.settings, grounds.environ
    if not settings.web_search and not any(environ.get(name) for name in SEARCH_VARIABLES):
        return {}
    from detent.app.searching import engine_of

    engine = engine_of(settings, environ)
    return {"WebSearch": (engine,)} if engine else {}


class Some:
    """A toolbox without some of its tools."""

    def __init__(self, toolbox: Toolbox, without: Collection[str]) -> None:
        self._toolbox, self._without = toolbox, without

    def specs(self) -> Sequence[ToolSpec]:
        return [spec for spec in self._toolbox.specs() if spec.name not in self._without]

    def find(self, name: str) -> Tool | None:
        tool = self._toolbox.find(name)
        return None if tool is None or tool.spec.name in self._without else tool


def fitting(toolbox: Toolbox, options: Options, window: int) -> Toolbox:
    """Of a small window the tools to give work to others would take too much."""
    if options.toolbox is not None or options.tools is not None or not 0 < window < SMALL_WINDOW:
        return toolbox
    return Some(toolbox, OF_DELEGATION)


def held_back(
    toolbox: Toolbox, form: str, settings: Settings, window: int, entries: Sequence[Entry]
) -> Toolbox:
    """Where tools from elsewhere take much of the window they are shown only when searched for."""
    if settings.tool_search == "never":
        return toolbox
    foreign = [s for s in toolbox.specs() if s.name not in catalogue() and s.name != form]
    if not foreign:
        return toolbox
    from detent.tools.deferred import Deferred, found_in, is_much

    if settings.tool_search == "auto" and not is_much(foreign, window):
        return toolbox
    return Deferred(toolbox, [spec.name for spec in foreign], found_in(entries))


def with_form(options: Options, toolbox: Toolbox) -> tuple[Toolbox, str]:
    """With a schema one tool more: the one that takes the final answer, and its name."""
    if options.json_schema is None:
        return toolbox, ""
    from detent.tools.structured_output import Beside, StructuredOutput

    tool = StructuredOutput(options.json_schema)
    return Beside(toolbox, tool), tool.spec.name
