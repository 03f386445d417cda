"""From options and environment to a model that can be asked."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.options import Options
from detent.app.places import detent_home
from detent.app.settings.record import Settings
from detent.app.wishes import retries, wishes_for, wishes_of
from detent.models.build import Wishes, build_route
from detent.models.catalog import Catalog, ModelFacts, catalog
from detent.models.client import HttpModel
from detent.models.providers import Choice, choose
from detent.models.route import Route
from detent.ports import Clock, Model
from detent.types.errors import BadInput, NoModel
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.http.tape import Tape

LOCAL_WINDOW = 4_096


def open_model(
    options: Options,
    settings: Settings,
    environ: Mapping[str, str],
    clock: Clock,
    tape: "Tape | None" = None,
) -> Model:
    if not isinstance(options.model, str):
        if not hasattr(options.model, "stream"):
            raise BadInput(f"a model is a name or an object with `stream`, not {options.model!r}")
        return options.model
    wanted, *fallbacks = names_in_use(options, settings, environ)
    if wanted.startswith("scripted:"):
        from detent.testing.scripted_model import ScriptedModel

        return ScriptedModel.from_file(wanted.removeprefix("scripted:"))
    if wanted == "embedded":
        from detent.models.embedded.model import open_embedded
        from detent.models.small.model import SmallModel

        return SmallModel(open_embedded(detent_home(environ)))
    known = known_models(settings)
    choices = [_reached(wanted, environ, known, is_first=True)]
    for name in fallbacks:
        if name == "embedded" or name.startswith("scripted:"):
            raise BadInput(f"{name} cannot be a fallback; use it as --model")
    choices += [_reached(name, environ, known, is_first=False) for name in fallbacks]
    _check_budget(options, [choice for choice, _ in choices])
    small = _is_small(choices[0][0], settings)
    wishes = wishes_of(options, settings, environ)
    routes = [
        _route(
            _with_usual_window(choice) if small else choice,
            wishes_for(choice, wishes, choices[0][0], settings),
            place,
        )
        for choice, place in choices
    ]
    for route in routes:
        route.record(tape)
    model = HttpModel(routes, clock=clock, retry=retries(settings, environ))
    if not small:
        return model
    from detent.models.small.model import SmallModel

    return SmallModel(model)


def names_in_use(
    options: Options, settings: Settings, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The model as it was asked for, then its fallbacks."""
    named = options.model if isinstance(options.model, str) else ""
    first = named or environ.get("DETENT_MODEL", "") or _from_settings(settings, environ)
    others = options.fallback_models or settings.fallback_models
    return first, *dict.fromkeys(name for name in others if name and name != first)


def _route(choice: Choice, wishes: Wishes, environ: Mapping[str, str]) -> Route:
    if choice.secret and not choice.about.cloud:
        return build_route(choice, wishes, environ)
    from detent.app.keys import credentials_for

    return build_route(choice, wishes, environ, credentials_for(choice, environ))


def _check_budget(options: Options, choices: Sequence[Choice]) -> None:
    for choice in choices if options.max_budget_usd else ():
        if choice.facts.price is None:
            raise BadInput(unpriced(choice.model))


def unpriced(model: str) -> str:
    return (
        f"the price of {model} is not known, so no budget in dollars can be kept "
        "(a limit on tokens can)"
    )


def _is_small(choice: Choice, settings: Settings) -> bool:
    """A small model gets a prompt and answers of its size."""
    local = choice.wire == "chat" and choice.about.names_with_slash
    if not (settings.profile or choice.traits.profile or local):
        return False
    from detent.models.small.profile import is_small

    return is_small(choice.model, settings.profile, choice.traits.profile)


def _with_usual_window(choice: Choice) -> Choice:
    """Local servers cut what is too long from the front, in silence: stay below their default."""
    if choice.facts != ModelFacts():
        return choice
    return replace(choice, facts=ModelFacts(window=LOCAL_WINDOW))


def _reached(
    name: str, environ: Mapping[str, str], known: Catalog, *, is_first: bool
) -> tuple[Choice, Mapping[str, str]]:
    """The choice, and the environment it is reached in.

    The keyring is asked only when nobody else has a key, and not for a server on this machine: it
    may open a window. A fallback that could not serve is told at once, not when it is needed.
    """
    try:
        choice = choose(name, environ, known)
        if choice.secret:
            return choice, environ
        from detent.app.keys import lacks_key, takes_key, with_stored_key

        if not takes_key(choice):
            return choice, environ
        with_keys = with_stored_key(
            f"{choice.provider}/", environ, known, asks_keyring=lacks_key(choice)
        )
    except NoModel as error:
        from detent.app.key_file import refusal
        from detent.app.keys import with_stored_key

        with_keys = with_stored_key(name, environ, known)
        if with_keys is environ:
            why = "; ".join(filter(None, (str(error), refusal(environ))))
            if is_first:
                raise NoModel(why) from None
            raise BadInput(f"the fallback model {name} cannot serve: {why}") from None
    return choose(name, with_keys, known), with_keys


def why_not(name: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """Why a model, named with its provider, cannot be had here; empty when it can, as far as one
    knows without asking."""
    known, (provider, slash, _) = known_models(settings), name.partition("/")
    if slash and provider not in known.providers:
        return f"there is no provider {provider}"
    try:
        _reached(name, environ, known, is_first=True)
    except (NoModel, BadInput) as error:
        return str(error).partition("\n")[0]
    return ""


def known_models(settings: Settings) -> Catalog:
    """The catalog, with the providers and models the user added to it."""
    known = catalog()
    providers = {**known.providers, **settings.providers}
    if settings.key_helper:
        anthropic = providers["anthropic"]
        providers["anthropic"] = replace(anthropic, key_helper=settings.key_helper)
    return replace(known, providers=providers, models={**known.models, **settings.models})


def _from_settings(settings: Settings, environ: Mapping[str, str]) -> str:
    """The environment's own model variables beat the settings files."""
    named = environ.get("ANTHROPIC_MODEL") or environ.get("OPENAI_MODEL")
    return "" if named else settings.model


def prices(settings: Settings) -> Callable[[str, Usage], float | None]:
    """What an answer of a model costs; None when nobody told us its price."""
    facts = facts_of(settings)
    return lambda model, usage: facts(model).cost(usage)


def facts_of(settings: Settings) -> Callable[[str], ModelFacts]:
    """By the bare name of the model: ours first, then what the user says of any provider's."""
    known = known_models(settings)
    added = {name.partition("/")[2]: facts for name, facts in settings.models.items()}
    asked: dict[str, ModelFacts] = {}

    def facts(model: str) -> ModelFacts:
        if (before := asked.get(model)) is not None:
            return before
        found = known.facts(model)
        asked[model] = added.get(model, found) if found == ModelFacts() else found
        return asked[model]

    return facts
