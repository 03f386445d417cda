"""Who gives the key of a choice, when no variable holds it; and which variables hold keys."""

import os
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from detent.app.places import detent_home
from detent.http.transport import parse_target
from detent.models.catalog import Catalog
from detent.models.credentials import Credentials, Secret
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


def takes_key(choice: Choice) -> bool:
    """It has a variable for a key, and neither that nor anything else says who we are."""
    about = choice.about
    if choice.secret or about.cloud or about.oauth or about.key_helper:
        return False
    return bool(about.variables)


def lacks_key(choice: Choice) -> bool:
    """The same of one that surely wants it: a server on this machine may want none."""
    return takes_key(choice) and not parse_target(choice.endpoint.base_url).origin.is_here


def with_stored_key(
    wanted: str, environ: Mapping[str, str], known: Catalog, *, asks_keyring: bool = True
) -> Mapping[str, str]:
    """The environment, with keys that the user has stored for what it lacks.

    `wanted` is one name of a model; `PROVIDER/` asks for that provider's key alone. Only called
    when nothing else gave a key: asking a keyring may open a window.
    """
    prefix = wanted.partition("/")[0]
    names = [prefix] if prefix in known.providers else list(known.providers)
    found, tried = dict[str, str](), set[str]()
    for name in names:
        variables = known.providers[name].variables
        is_set = any(environ.get(variable) for variable in variables)
        if not variables or is_set or variables[0] in tried:
            continue
        tried.add(variables[0])
        for one in (name, *_twins(name, known)):
            if key := stored_key(one, environ, asks_keyring=asks_keyring):
                found[variables[0]] = key
                break
    return {**environ, **found} if found else environ


def _twins(name: str, known: Catalog) -> list[str]:
    """The same provider by other names: its key is in the same variable."""
    variables = known.providers[name].variables
    others = known.providers.items()
    return [one for one, facts in others if one != name and facts.variables[:1] == variables[:1]]


def stored_key(provider: str, environ: Mapping[str, str], *, asks_keyring: bool = True) -> str:
    """From the system's keyring, else from the file beside the settings; empty when neither has
    one."""
    from detent.app.key_file import stored_in_file, stored_in_keyring

    key = stored_in_keyring(provider) if asks_keyring else ""
    return key or stored_in_file(provider, environ)


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
