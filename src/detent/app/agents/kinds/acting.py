"""A session that itself runs as an agent: `--agent NAME`, or the setting `agent`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.agents.kinds.finding import kinds_of
from detent.app.agents.kinds.record import AgentKind
from detent.app.agents.permitting import held_to
from detent.app.gating import HOLDING
from detent.app.grounds import Grounds
from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.gate.rules import parse_rule
from detent.gate.terms import Origin
from detent.tools.registry import canonical_name, catalogue
from detent.types.errors import BadInput

if TYPE_CHECKING:
    from detent.gate.hooks.entry import HookEntry


def as_agent(grounds: Grounds) -> Grounds:
    """The grounds as the agent wants them; what an option says counts more. Raises BadInput where
    there is no such agent, or agents that were given cannot be read."""
    kinds = kinds_of(grounds)
    wanted = grounds.options.agent or grounds.settings.agent
    if not wanted:
        return grounds
    kind = kinds.find(wanted)
    if kind is None:
        said = "--agent" if grounds.options.agent else "the setting agent"
        raise BadInput(f"{said}: there is no agent {wanted!r}; there are {kinds.names()}")
    barred = [f"Agent({one.name})" for one in kinds.all() if not kind.may_begin(one)]
    return _as(kind, grounds, barred)


def _as(kind: AgentKind, grounds: Grounds, barred: list[str]) -> Grounds:
    options, notices = grounds.options, list[str]()
    settings = _held(kind, grounds, barred)
    own, own_tools = options.system_prompt, options.tools
    options = replace(
        options,
        system_prompt=(kind.prompt or None) if own is None else own,
        model=options.model or _model(kind, grounds, notices),
        effort=options.effort or kind.effort,
        tools=_tools(kind, options, notices),
        max_turns=_turns(kind, options, settings),
    )
    settings = replace(settings, notices=(*settings.notices, *notices))
    return replace(
        grounds,
        options=options,
        settings=settings,
        first_words=kind.initial_prompt,
        limits=held_to(kind if own_tools is None else replace(kind, only=()), grounds.cwd),
    )


def _tools(kind: AgentKind, options: Options, notices: list[str]) -> tuple[str, ...] | None:
    if options.tools is not None:
        return tuple(options.tools)
    if kind.tools is None:
        return None
    known = catalogue().keys()
    unknown = [tool for tool in kind.tools if tool not in known and tool not in _extra(options)]
    if unknown:
        where = kind.path or kind.name
        notices.append(f"{where}: there is no tool {', '.join(unknown)} here")
    return tuple(tool for tool in kind.tools if tool in known)


def _extra(options: Options) -> Iterator[str]:
    """Tools that are there beside the built-in ones."""
    yield from (tool.spec.name for tool in options.custom_tools)
    if options.plugin_dirs:
        from detent.app.extensions.plugin_tools import plugin_tools

        yield from (tool.spec.name for tool in plugin_tools(options.plugin_dirs))


def _held(kind: AgentKind, grounds: Grounds, barred: list[str]) -> Settings:
    """What the agent may not do, its hooks, and its mode. A project's or a plugin's may hold back
    more than the user does, never less."""
    options, settings = grounds.options, grounds.settings
    denied = [*kind.disallowed_tools, *barred]
    if kind.tools is not None and options.tools is None:
        denied += [name for name in _extra(options) if name not in kind.tools]
    origin = Origin("flag", folder=grounds.cwd)
    rules = (replace(parse_rule(text, canonical_name), origin=origin) for text in denied)
    is_free = kind.source not in ("project", "plugin")
    mode = kind.mode if is_free or kind.mode in HOLDING else ""
    return replace(
        settings,
        deny=(*settings.deny, *rules),
        mode=mode or settings.mode,
        hooks=(*settings.hooks, *hooks_of(kind, settings)),
    )


def hooks_of(kind: AgentKind, settings: Settings) -> "tuple[HookEntry, ...]":
    """Those that it declares, where hooks of its level run."""
    if not kind.hooks or kind.source in settings.without_hooks:
        return ()
    from detent.app.settings.hooks import declared_hooks

    return declared_hooks({"hooks": kind.hooks}, kind.path)


def _model(kind: AgentKind, grounds: Grounds, notices: list[str]) -> str:
    """Files go from machine to machine: a model that cannot be had is no reason to stop. A name
    whose beginning is no provider is sent as it is."""
    if not kind.model:
        return ""
    from detent.app.models import known_models, why_not

    settings, (provider, slash, _) = grounds.settings, kind.model.partition("/")
    is_plain = bool(slash) and provider not in known_models(settings).providers
    if is_plain or not (fault := why_not(kind.model, settings, grounds.environ)):
        return kind.model
    where = kind.path or kind.name
    notices.append(f"{where}: its model {kind.model} cannot be had ({fault}); going on without")
    return ""


def _turns(kind: AgentKind, options: Options, settings: Settings) -> int | None:
    """The settings' bound stays one."""
    if options.max_turns is not None or not kind.max_turns:
        return options.max_turns
    return min(kind.max_turns, settings.max_turns or kind.max_turns)
