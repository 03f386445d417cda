"""Who gives the key of a choice, when no variable holds it; and which variables hold keys."""

import os
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from detent.app.places import detent_home
from detent.http.transport import parse_target
from detent.models.catalog import Catalog
from detent.models.credentials import Credentials, Secret, is_key
from detent.models.providers import Choice
from detent.types.errors import BadInput

TTL = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"
CLOUD_LOGINS = {
    "bedrock": {
        "AWS_ACCESS_KEY_ID",  # not secret, but half a login is an error to Amazon's programs
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_SECURITY_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
    },
    "vertex": {"GOOGLE_APPLICATION_CREDENTIALS"},
}


def credentials_for(choice: Choice, environ: Mapping[str, str]) -> Credentials | None:
    """None: the choice's own headers are all there is. A variable beats what must be asked for."""
    if choice.wire == "bedrock":
        from detent.models.cloud import bedrock

        return bedrock.credentials(environ)
    if choice.about.cloud:
        from detent.models.cloud import vertex

        return vertex.credentials()
    if choice.secret:
        return None
    if choice.about.oauth:
        return _oauth(choice, environ)
    if command := choice.about.key_helper:
        from detent.host.processes import run_process
        from detent.models.key_command import key_from_command

        # Gateways of the one read either header; a provider of the user's own gets its own.
        own = choice.about.key_header or "authorization"
        headers = ("x-api-key", "authorization") if choice.provider == "anthropic" else (own,)
        return key_from_command(
            command, environ, run_process, headers=headers, lasts=_lasts(environ)
        )
    return None


def _lasts(environ: Mapping[str, str]) -> float:
    from detent.models.key_command import LASTS

    text = environ.get(TTL, "")
    if not text:
        return LASTS
    if not text.isdecimal():
        raise BadInput(f"{TTL} must be a number of milliseconds, not {text!r}")
    return int(text) / 1000


class _OAuth(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The `oauth` of a provider in the settings; secrets are named by their variable."""

    token_url: str
    client_id: str = ""
    client_secret_env: str = ""
    refresh_token_env: str = ""
    scope: str = ""


def _oauth(choice: Choice, environ: Mapping[str, str]) -> Credentials:
    from detent.app.tokens import TokenFile
    from detent.http.transport import Transport
    from detent.models.oauth import Grant, oauth

    try:
        wanted = msgspec.convert(choice.about.oauth, _OAuth)
    except msgspec.ValidationError as error:
        raise BadInput(f"providers.{choice.provider}.oauth: {error}") from None
    given = environ.get(wanted.refresh_token_env, "")
    path = os.path.join(detent_home(environ), "tokens", f"{choice.provider}.json")
    grant = Grant(
        token_url=wanted.token_url,
        client_id=wanted.client_id,
        client_secret=Secret(environ.get(wanted.client_secret_env, "")),
        refresh_token=Secret(given),
        scope=wanted.scope,
    )
    return oauth(grant, Transport(environ), TokenFile(path, given))


def lacks_key(choice: Choice) -> bool:
    """It has a variable for a key, and neither that nor anything else says who we are.

    A server on this machine is not asked whether it wants one.
    """
    about = choice.about
    if choice.secret or about.cloud or about.oauth or about.key_helper:
        return False
    if not (about.key_from or about.token_from):
        return False
    return not parse_target(choice.endpoint.base_url).origin.is_here


def with_stored_key(wanted: str, environ: Mapping[str, str], known: Catalog) -> Mapping[str, str]:
    """The environment, with keys from the system's keyring for what it lacks.

    `wanted` is one name of a model; `PROVIDER/` asks for that provider's key alone. Only called
    when nothing else gave a key: asking a keyring may open a window.
    """
    prefix = wanted.partition("/")[0]
    names = [prefix] if prefix in known.providers else list(known.providers)
    found = {}
    for name in names:
        facts = known.providers[name]
        variables = (*facts.key_from, *facts.token_from)
        is_set = any(environ.get(variable) for variable in variables)
        if variables and not is_set and (key := stored_key(name)):
            found[variables[0]] = key
    return {**environ, **found} if found else environ


def stored_key(provider: str) -> str:
    """From the keyring's service `detent`; nothing when there is no keyring (`detent[keyring]`)."""
    from importlib import import_module

    try:
        key = import_module("keyring").get_password("detent", provider) or ""
    except Exception:  # not installed, locked, no backend: each backend has errors of its own
        return ""
    return key.strip() if is_key(key.strip()) else ""


def key_variables(known: Catalog, *in_use: str) -> frozenset[str]:
    """The variables that hold keys to models, those of the user's own providers included.

    Those of a cloud are keys to models only where one of the providers `in_use` is that cloud's:
    otherwise they belong to the user's ordinary tools.
    """
    names: set[str] = set()
    for facts in known.providers.values():
        names |= {*facts.key_from, *facts.token_from}
        secrets = ("clientSecretEnv", "refreshTokenEnv")
        names |= {facts.oauth[name] for name in secrets if name in facts.oauth}
    for name in in_use:
        names |= CLOUD_LOGINS.get(name, set())
    return frozenset(names)
