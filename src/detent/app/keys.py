"""Who gives the key of a choice, when no variable holds it; and which variables hold keys."""

import os
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from detent.app.places import detent_home
from detent.models.catalog import Catalog
from detent.models.credentials import Credentials, Secret, is_key
from detent.models.providers import Choice
from detent.types.errors import BadInput

TTL = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"


def credentials_for(choice: Choice, command: str, environ: Mapping[str, str]) -> Credentials | None:
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
    if command and choice.wire == "anthropic":
        from detent.models.key_command import key_from_command

        headers = ("x-api-key", "authorization")  # gateways read the one or the other
        return key_from_command(command, environ, headers=headers, lasts=_lasts(environ))
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
    from detent.models.oauth import Grant, oauth
    from detent.models.transport import Transport

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
        refresh_token=_latest(path, given),
        scope=wanted.scope,
    )
    return oauth(grant, Transport(environ), _keeping(path, given))


class _Kept(Struct):
    given: str
    token: str


def _latest(path: str, given: str) -> Secret:
    """A token that replaced the user's, as long as the user did not bring a new one."""
    try:
        with open(path, "rb") as file:
            kept = msgspec.json.decode(file.read(), type=_Kept)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Secret(given)
    return Secret(kept.token if given and kept.given == _print_of(given) else given)


def _keeping(path: str, given: str) -> Callable[[Secret], None]:
    def keep(token: Secret) -> None:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fresh = f"{path}.{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(fresh, flags, 0o600), "wb") as file:
            file.write(msgspec.json.encode(_Kept(_print_of(given), token.reveal())))
        os.replace(fresh, path)

    return keep


def _print_of(token: str) -> str:
    from hashlib import sha256

    return sha256(token.encode()).hexdigest()


def with_stored_key(wanted: str, environ: Mapping[str, str], known: Catalog) -> Mapping[str, str]:
    """The environment, with keys from the system's keyring for what it lacks.

    Only called when nothing else gave a key: asking a keyring may open a window.
    """
    prefix = wanted.partition("/")[0]
    names = [prefix] if prefix in known.providers else list(known.providers)
    found = {}
    for name in names:
        facts = known.providers[name]
        variable = next(iter((*facts.key_from, *facts.token_from)), "")
        if variable and (key := stored_key(name)):
            found[variable] = key
    return {**environ, **found} if found else environ


def stored_key(provider: str) -> str:
    """From the keyring's service `detent`; nothing when there is no keyring (`detent[keyring]`)."""
    from importlib import import_module

    try:
        key = import_module("keyring").get_password("detent", provider) or ""
    except Exception:  # not installed, locked, no backend: each backend has errors of its own
        return ""
    return key.strip() if is_key(key.strip()) else ""


def key_variables(known: Catalog) -> frozenset[str]:
    """The variables that hold keys to models, those of the user's own providers included."""
    names: set[str] = set()
    for facts in known.providers.values():
        names |= {*facts.key_from, *facts.token_from}
        secrets = ("clientSecretEnv", "refreshTokenEnv")
        names |= {facts.oauth[name] for name in secrets if name in facts.oauth}
    return frozenset(names)
