"""What only the user's own files decide, whether the project is trusted or not: where requests and
keys go, which hosts are reached, which programs start without a question."""

from typing import Any

from detent.app.settings.record import Settings, Source
from detent.app.settings.values import table, text, texts
from detent.models.catalog import ModelFacts, ProviderFacts
from detent.types.errors import BadInput

Notices = tuple[str, ...]


def endpoints(
    old: Settings, source: Source
) -> tuple[dict[str, ProviderFacts], dict[str, ModelFacts], str, Notices]:
    values, name = source.values, source.path
    given, helper = table(values, "providers", name), text(values, "apiKeyHelper", name)
    if source.is_project and (given or helper):
        note = _ignored(name, providers=given, apiKeyHelper=helper)
        return old.providers, old.models, old.key_helper, (note,)
    if not given:
        return old.providers, old.models, helper or old.key_helper, ()
    from detent.app.providers import providers_from

    providers, models = providers_from(given, name)
    merged = {**old.providers, **providers}, {**old.models, **models}
    return *merged, helper or old.key_helper, ()


def language_servers(
    old: Settings, source: Source
) -> tuple[dict[str, tuple[str, ...]] | None, Notices]:
    given, name = source.values.get("lsp", {}), source.path
    if source.is_project:
        note = (f"{name}: its lsp is ignored; only you can set it",) if given != {} else ()
        return old.lsp, note
    if given is False:
        return None, ()
    if not isinstance(given, dict):
        raise BadInput(f"{name}: lsp must be an object, or false")
    for language, command in given.items():
        is_list = isinstance(command, list) and all(isinstance(word, str) for word in command)
        if command is not False and not (is_list and command):
            raise BadInput(f"{name}: lsp: {language} needs a command as a list, or false")
    commands = {language: tuple(command or ()) for language, command in given.items()}
    return ({**(old.lsp or {}), **commands} if given else old.lsp), ()


def web(old: Settings, source: Source) -> tuple[dict[str, Any], tuple[str, ...], Notices]:
    """Who learns what is searched for, and which hosts inside are reached."""
    values, name = source.values, source.path
    search, fetch = table(values, "webSearch", name), table(values, "webFetch", name)
    if not search and not fetch:
        return old.web_search, old.may_reach, ()
    if source.is_project:
        note = _ignored(name, webSearch=search, webFetch=fetch)
        return old.web_search, old.may_reach, (note,)
    from detent.app.searching import checked_hosts, checked_search

    hosts = (*old.may_reach, *checked_hosts(fetch, name))
    return checked_search(search, name) or old.web_search, hosts, ()


def auto_mode(old: Settings, source: Source) -> tuple[str, tuple[str, ...], Notices]:
    """Who decides in place of the user."""
    given, name = table(source.values, "autoMode", source.path), f"{source.path}: autoMode"
    if source.is_project and given:
        note = f"{source.path}: its autoMode is ignored; only you can set it"
        return old.auto_model, old.auto_guidance, (note,)
    guidance = (*old.auto_guidance, *texts(given, "guidance", name))
    return text(given, "model", name) or old.auto_model, guidance, ()


def _ignored(name: str, **given: Any) -> str:
    """Names what is set of it."""
    what = [key for key, value in given.items() if value]
    verb, them = ("are", "them") if len(what) > 1 else ("is", "it")
    return f"{name}: its {' and '.join(what)} {verb} ignored; only you can set {them}"


def passed_variables(old: Settings, source: Source) -> tuple[str, ...]:
    if source.is_project:
        return old.pass_env
    return (*old.pass_env, *texts(source.values, "passEnv", source.path))


def trusted_folders(old: Settings, source: Source) -> tuple[str, ...]:
    if source.is_project or source.name not in ("user", "managed"):
        return old.trusted_folders
    return (*old.trusted_folders, *texts(source.values, "trustedFolders", source.path))
