"""Settings files: user, project, local, flag; ours and Claude Code's side by side.

Strict JSON. A fault is named with file and line, and never widens anything. What a project's own
files may decide is limited until the user trusts the folder.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from detent.gate.terms import parse_mode
from detent.models.catalog import ModelFacts, ProviderFacts
from detent.tools.registry import canonical_name
from detent.types.codec import decode_object
from detent.types.errors import BadInput

FOR_THE_USER = (
    "idleTimeout",
    "requestTimeout",
    "retryDelays",
    "retryLongestWait",
    "retryJitter",
    "maxToolConcurrency",
    "toolTimeouts",
    "toolGateOrder",
)
"""Settings by which a project could make the user wait or pay."""

Word = TypeVar("Word", bound=str)
REPLAYS: tuple[Literal["never", "tool_turns", "always"], ...] = ("never", "tool_turns", "always")
CACHE_TTLS: tuple[Literal["5m", "1h"], ...] = ("5m", "1h")
GATE_ORDERS: tuple[Literal["hooks_first", "permission_first"], ...] = (
    "hooks_first",
    "permission_first",
)
TOOL_SEARCHES: tuple[Literal["auto", "always", "never"], ...] = ("auto", "always", "never")
PROFILES: tuple[Literal["small", "full"], ...] = ("small", "full")


class Source(Struct, frozen=True):
    name: str
    path: str
    values: dict[str, Any]
    is_project: bool


class Settings(Struct, frozen=True):
    """The merged view: scalars of the strongest source, lists of all."""

    model: str = ""
    fallback_models: tuple[str, ...] = ()
    mode: str = ""
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    idle_timeout: float | None = None
    request_timeout: float | None = None
    retry_delays: tuple[float, ...] | None = None
    retry_longest_wait: float | None = None
    max_turns: int | None = None
    early_calls: bool = True
    reactive_compact: bool = True
    max_tool_concurrency: int | None = None
    tool_timeouts: dict[str, float] = {}
    gate_order: Literal["hooks_first", "permission_first"] = "hooks_first"
    tool_search: Literal["auto", "always", "never"] = "auto"
    """Whether tools from elsewhere are shown only when searched for."""
    lsp: dict[str, tuple[str, ...]] | None = {}
    """Commands of language servers by language or file ending; None: no server at all."""
    effort: str = ""
    thinking_budget: int | None = None
    replay_thinking: Literal["", "never", "tool_turns", "always"] = ""
    cache_ttl: Literal["5m", "1h"] = "5m"
    retry_jitter: float | None = None
    profile: str = ""
    key_helper: str = ""
    pass_env: tuple[str, ...] = ()
    """Variables with keys that child processes get all the same."""
    providers: dict[str, ProviderFacts] = {}
    models: dict[str, ModelFacts] = {}
    web_search: dict[str, Any] = {}
    may_reach: tuple[str, ...] = ()
    """Hosts of the web tools that need not be public."""
    notices: tuple[str, ...] = ()


def places(cwd: str, home: str, user_home: str) -> list[tuple[str, str, bool]]:
    """Weakest first: (name, path, is project). Ours comes after theirs, so that ours wins."""
    return [
        ("user", os.path.join(user_home, ".claude", "settings.json"), False),
        ("user", os.path.join(home, "settings.json"), False),
        ("project", os.path.join(cwd, ".claude", "settings.json"), True),
        ("project", os.path.join(cwd, ".detent", "settings.json"), True),
        ("local", os.path.join(cwd, ".claude", "settings.local.json"), True),
        ("local", os.path.join(cwd, ".detent", "settings.local.json"), True),
    ]


def load_sources(
    cwd: str, home: str, user_home: str, wanted: Sequence[str], extra: Mapping[str, Any] | None
) -> list[Source]:
    sources = []
    for name, path, is_project in places(cwd, home, user_home):
        if name not in wanted:
            continue
        try:
            with open(path, "rb") as file:
                data = file.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
        if data.strip():
            values = _in_our_spelling(decode_object(data, path))
            sources.append(Source(name, path, values, is_project))
    if extra:
        sources.append(Source("flag", "--settings", _in_our_spelling(extra), False))
    return sources


def _in_our_spelling(values: Mapping[str, Any]) -> dict[str, Any]:
    """`max_tool_concurrency` is `maxToolConcurrency`; where both stand, the latter counts."""
    spelled: dict[str, Any] = {}
    for key, value in values.items():
        first, *rest = key.split("_")
        ours = first + "".join(map(str.capitalize, rest)) if first else key
        if ours == key or ours not in values:
            spelled[ours] = value
    return spelled


def merge(sources: Sequence[Source], *, trusted: bool) -> Settings:
    merged = Settings()
    for source in sources:
        if source.is_project and not trusted:
            source, note = _as_a_stranger(source, merged)
            merged = replace(merged, notices=(*merged.notices, *note))
        merged = _merged(merged, source, trusted=trusted)
    return merged


def _as_a_stranger(source: Source, old: Settings) -> tuple[Source, tuple[str, ...]]:
    """What a project without trust may say of models: nothing that decides who reads along."""
    values = dict(source.values)
    dropped = [key for key in FOR_THE_USER if values.pop(key, None) is not None]
    for key in ("model", "fallbackModel"):
        names = values.get(key, [])
        names = [names] if isinstance(names, str) else names
        if isinstance(names, list) and not all(_is_modest(name) for name in names):
            dropped.append(key)
            del values[key]
    turns = values.get("maxTurns")
    if old.max_turns and isinstance(turns, int) and turns > old.max_turns:
        dropped.append("maxTurns")
        del values["maxTurns"]
    if not dropped:
        return source, ()
    note = f"{source.path}: {', '.join(dropped)} ignored until you trust it (--trust)"
    return replace(source, values=values), (note,)


def _is_modest(name: Any) -> bool:
    """An alias or a plain name of the usual maker: no other provider, script or server."""
    plain = str(name).removesuffix("[1m]")
    return plain.isalpha() or (plain.startswith("claude") and "/" not in plain)


def _merged(old: Settings, source: Source, *, trusted: bool) -> Settings:
    values, name = source.values, source.path
    permissions = _table(values, "permissions", name)
    may_widen = trusted or not source.is_project
    allow = _rules(permissions, "allow", name)
    directories = _texts(permissions, "additionalDirectories", name)
    mode, notices = _mode(permissions, name), old.notices
    if not may_widen and (allow or directories or mode):
        note = f"{name}: its allow rules, folders and mode are ignored until you trust it (--trust)"
        notices, allow, directories, mode = (*notices, note), (), (), ""
    if source.is_project and mode == "bypassPermissions":
        # Trust is for a project's rules; switching them all off is for the user alone.
        note = f"{name}: mode bypassPermissions is ignored; only you can set it"
        notices, mode = (*notices, note), ""
    model = _text(values, "model", name)
    if source.is_project and model.startswith("scripted:"):
        note = f"{name}: a scripted model is ignored; only you can choose one"
        notices, model = (*notices, note), ""
    providers, models, helper, notices = _endpoints(old, source, notices)
    web_search, may_reach, notices = _web(old, source, notices)
    lsp, notices = _language_servers(old, source, notices)
    return Settings(
        model=model or old.model,
        fallback_models=_fallbacks(values, name) or old.fallback_models,
        mode=mode or old.mode,
        allow=(*old.allow, *allow),
        ask=(*old.ask, *_rules(permissions, "ask", name)),
        deny=(*old.deny, *_rules(permissions, "deny", name)),
        directories=(*old.directories, *directories),
        idle_timeout=_number(values, "idleTimeout", name, old.idle_timeout),
        request_timeout=_number(values, "requestTimeout", name, old.request_timeout),
        retry_delays=_delays(values, name, old.retry_delays),
        retry_longest_wait=_number(values, "retryLongestWait", name, old.retry_longest_wait),
        max_turns=_whole(values, "maxTurns", name, old.max_turns),
        early_calls=_switch(values, "streamingToolExecution", name, old.early_calls),
        reactive_compact=_switch(values, "reactiveCompact", name, old.reactive_compact),
        max_tool_concurrency=_whole(values, "maxToolConcurrency", name, old.max_tool_concurrency),
        tool_timeouts={**old.tool_timeouts, **_timeouts(values, name)},
        gate_order=_one_of(values, "toolGateOrder", GATE_ORDERS, name) or old.gate_order,
        tool_search=_one_of(values, "toolSearch", TOOL_SEARCHES, name) or old.tool_search,
        lsp=lsp,
        effort=_text(values, "effortLevel", name) or old.effort,
        thinking_budget=_whole(values, "maxThinkingTokens", name, old.thinking_budget),
        replay_thinking=_one_of(values, "replayThinking", REPLAYS, name) or old.replay_thinking,
        cache_ttl=_one_of(values, "promptCacheTtl", CACHE_TTLS, name) or old.cache_ttl,
        retry_jitter=_number(values, "retryJitter", name, old.retry_jitter),
        profile=_one_of(values, "profile", PROFILES, name) or old.profile,
        key_helper=helper,
        pass_env=old.pass_env if source.is_project else (*old.pass_env, *_names(values, name)),
        providers=providers,
        models=models,
        web_search=web_search,
        may_reach=may_reach,
        notices=notices,
    )


def _endpoints(
    old: Settings, source: Source, notices: tuple[str, ...]
) -> tuple[dict[str, ProviderFacts], dict[str, ModelFacts], str, tuple[str, ...]]:
    """Where requests and keys go is for the user alone: trust in a project does not cover it."""
    values, name = source.values, source.path
    given, helper = _table(values, "providers", name), _text(values, "apiKeyHelper", name)
    if source.is_project and (given or helper):
        note = f"{name}: its providers and apiKeyHelper are ignored; only you can set them"
        return old.providers, old.models, old.key_helper, (*notices, note)
    if not given:
        return old.providers, old.models, helper or old.key_helper, notices
    from detent.app.providers import providers_from

    providers, models = providers_from(given, name)
    merged = {**old.providers, **providers}, {**old.models, **models}
    return *merged, helper or old.key_helper, notices


def _language_servers(
    old: Settings, source: Source, notices: tuple[str, ...]
) -> tuple[dict[str, tuple[str, ...]] | None, tuple[str, ...]]:
    """Programs that start without a question are for the user alone, as endpoints are."""
    given, name = source.values.get("lsp", {}), source.path
    if source.is_project:
        note = (f"{name}: its lsp is ignored; only you can set it",) if given != {} else ()
        return old.lsp, (*notices, *note)
    if given is False:
        return None, notices
    if not isinstance(given, dict):
        raise BadInput(f"{name}: lsp must be an object, or false")
    for language, command in given.items():
        is_list = isinstance(command, list) and all(isinstance(word, str) for word in command)
        if command is not False and not (is_list and command):
            raise BadInput(f"{name}: lsp: {language} needs a command as a list, or false")
    commands = {language: tuple(command or ()) for language, command in given.items()}
    return ({**(old.lsp or {}), **commands} if given else old.lsp), notices


def _web(
    old: Settings, source: Source, notices: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Who learns what is searched for, and which hosts inside are reached: for the user alone."""
    values, name = source.values, source.path
    search, fetch = _table(values, "webSearch", name), _table(values, "webFetch", name)
    if not search and not fetch:
        return old.web_search, old.may_reach, notices
    if source.is_project:
        note = f"{name}: its webSearch and webFetch are ignored; only you can set them"
        return old.web_search, old.may_reach, (*notices, note)
    from detent.app.searching import checked_hosts, checked_search

    hosts = (*old.may_reach, *checked_hosts(fetch, name))
    return checked_search(search, name) or old.web_search, hosts, notices


def _names(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = values.get("passEnv", [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name}: passEnv must be a list of names")
    return tuple(value)


def _one_of(
    values: Mapping[str, Any], key: str, allowed: tuple[Word, ...], name: str
) -> Word | Literal[""]:
    value = _text(values, key, name)
    for word in allowed:
        if value == word:
            return word
    if not value:
        return ""
    raise BadInput(f"{name}: {key} is one of {', '.join(allowed)}, not {value!r}")


def _table(values: Mapping[str, Any], key: str, name: str) -> Mapping[str, Any]:
    value = values.get(key, {})
    if not isinstance(value, dict):
        raise BadInput(f"{name}: {key} must be an object")
    return value


def _text(values: Mapping[str, Any], key: str, name: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise BadInput(f"{name}: {key} must be a string")
    return value


def _fallbacks(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = values.get("fallbackModel", [])
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise BadInput(f"{name}: fallbackModel must be a string or a list of strings")
    return tuple(names)


def _mode(permissions: Mapping[str, Any], name: str) -> str:
    """`auto` without a classifier is `default`: the stricter reading of what others wrote."""
    mode = _text(permissions, "defaultMode", name)
    if mode == "auto":
        return "default"
    try:
        return parse_mode(mode) if mode else ""
    except BadInput as error:
        raise BadInput(f"{name}: permissions.defaultMode: {error}") from None


def _rules(permissions: Mapping[str, Any], key: str, name: str) -> tuple[str, ...]:
    texts = _texts(permissions, key, name)
    if texts:
        from detent.gate.rules import parse_rule
    for text in texts:
        try:
            parse_rule(text, lambda tool: tool)
        except BadInput as error:
            raise BadInput(f"{name}: permissions.{key}: {error}") from None
    return texts


def _texts(values: Mapping[str, Any], key: str, name: str) -> tuple[str, ...]:
    value = values.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name}: permissions.{key} must be a list of strings")
    return tuple(value)


def _number(values: Mapping[str, Any], key: str, name: str, default: float | None) -> float | None:
    value = values.get(key, default)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise BadInput(f"{name}: {key} must be a number")
    if value is not None and value < 0:
        raise BadInput(f"{name}: {key} must not be negative")
    return value


def _timeouts(values: Mapping[str, Any], name: str) -> dict[str, float]:
    """Seconds by the name of a tool, an alias included."""
    table = _table(values, "toolTimeouts", name)
    for tool in table:
        if not _number(table, tool, f"{name}: toolTimeouts", None):
            raise BadInput(f"{name}: toolTimeouts: {tool} needs seconds above zero")
    return {canonical_name(tool): float(seconds) for tool, seconds in table.items()}


def _switch(values: Mapping[str, Any], key: str, name: str, default: bool) -> bool:
    value = values.get(key, default)
    if not isinstance(value, bool):
        raise BadInput(f"{name}: {key} must be true or false")
    return value


def _delays(
    values: Mapping[str, Any], name: str, default: tuple[float, ...] | None
) -> tuple[float, ...] | None:
    if "retryDelays" not in values:
        return default
    delays = values["retryDelays"]
    is_list = isinstance(delays, list)
    if not is_list or any(isinstance(d, bool) or not isinstance(d, int | float) for d in delays):
        raise BadInput(f"{name}: retryDelays must be a list of seconds")
    if any(not 0 <= delay <= 3600 for delay in delays):
        raise BadInput(f"{name}: retryDelays must lie between 0 and 3600 seconds")
    return tuple(map(float, delays))


def _whole(values: Mapping[str, Any], key: str, name: str, default: int | None) -> int | None:
    value = _number(values, key, name, default)
    return None if value is None else int(value)
