"""From options and environment to a model that can be asked."""

from collections.abc import Callable, Mapping

from msgspec import Raw
from msgspec.structs import replace

from detent.app.config import Settings
from detent.app.keys import credentials_for
from detent.app.options import Options
from detent.app.places import detent_home
from detent.models.build import Wishes, build_route
from detent.models.catalog import Catalog, ModelFacts, catalog
from detent.models.client import HttpModel
from detent.models.providers import Choice, choose
from detent.models.retry import RetryPolicy
from detent.models.watch import Timers
from detent.ports import Clock, Model
from detent.types.codec import decode_object, encode
from detent.types.errors import BadInput, NoModel
from detent.types.usage import Usage

LOCAL_WINDOW = 4_096
EFFORTS = ("low", "medium", "high", "xhigh", "max")


def open_model(
    options: Options, settings: Settings, environ: Mapping[str, str], clock: Clock
) -> Model:
    if not isinstance(options.model, str):
        return options.model
    wanted = options.model or environ.get("DETENT_MODEL", "") or _from_settings(settings, environ)
    if wanted.startswith("scripted:"):
        from detent.testing.scripted_model import ScriptedModel

        return ScriptedModel.from_file(wanted.removeprefix("scripted:"))
    if wanted == "embedded":
        from detent.models.embedded.model import open_embedded
        from detent.models.small.model import SmallModel

        return SmallModel(open_embedded(detent_home(environ)))
    known = known_models(settings)
    choice, environ = _chosen_model(wanted, environ, known, settings.key_helper)
    small = _is_small(choice, settings)
    choices = [_with_usual_window(choice) if small else choice]
    for name in options.fallback_models or settings.fallback_models:
        choices.append(_fallback(name, environ, known, settings.key_helper))
    wishes = _wishes(options, settings, environ)
    routes = [
        build_route(choice, wishes, environ, credentials_for(choice, settings.key_helper, environ))
        for choice in choices
    ]
    model = HttpModel(routes, clock=clock, retry=_retries(settings, environ))
    if not small:
        return model
    from detent.models.small.model import SmallModel

    return SmallModel(model)


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


def _chosen_model(
    wanted: str, environ: Mapping[str, str], known: Catalog, helper: str
) -> tuple[Choice, Mapping[str, str]]:
    """The keyring is asked only when nobody else has a key: it may open a window."""
    try:
        return choose(wanted, environ, known, helper), environ
    except NoModel:
        from detent.app.keys import with_stored_key

        with_keys = with_stored_key(wanted, environ, known)
        if with_keys is environ:
            raise
        return choose(wanted, with_keys, known, helper), with_keys


def _fallback(name: str, environ: Mapping[str, str], known: Catalog, helper: str) -> Choice:
    """A fallback that could not serve is told at once, not when it is needed."""
    try:
        return choose(name, environ, known, helper)
    except NoModel as error:
        raise BadInput(f"the fallback model {name} cannot serve: {error}") from None


def known_models(settings: Settings) -> Catalog:
    """The catalog, with the providers and models the user added to it."""
    known = catalog()
    if not settings.providers and not settings.models:
        return known
    return replace(
        known,
        providers={**known.providers, **settings.providers},
        models={**known.models, **settings.models},
    )


def _from_settings(settings: Settings, environ: Mapping[str, str]) -> str:
    """The environment's own model variables beat the settings files."""
    named = environ.get("ANTHROPIC_MODEL") or environ.get("OPENAI_MODEL")
    return "" if named else settings.model


def _wishes(options: Options, settings: Settings, environ: Mapping[str, str]) -> Wishes:
    effort = options.effort or settings.effort
    if effort and effort not in EFFORTS:
        raise BadInput(f"effort is one of {', '.join(EFFORTS)}, not {effort!r}")
    budget = options.thinking_budget
    return Wishes(
        timers=timers(settings, environ),
        effort=effort,
        thinking_budget=settings.thinking_budget if budget is None else budget,
        replay=settings.replay_thinking,
        betas=(*options.betas, *_listed(environ.get("ANTHROPIC_BETAS", ""))),
        server_tools=tuple(Raw(encode(tool)) for tool in options.server_tools),
        extra_body=_extra_body(environ),
        caching=not environ.get("DISABLE_PROMPT_CACHING"),
        cache_ttl=settings.cache_ttl,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _extra_body(environ: Mapping[str, str]) -> Raw | None:
    text = environ.get("CLAUDE_CODE_EXTRA_BODY", "")
    return Raw(encode(decode_object(text, "CLAUDE_CODE_EXTRA_BODY"))) if text else None


def _retries(settings: Settings, environ: Mapping[str, str]) -> RetryPolicy:
    usual = RetryPolicy()
    delays, longest = settings.retry_delays, settings.retry_longest_wait
    times = _number(environ, "CLAUDE_CODE_MAX_RETRIES")
    if delays is None and times is not None:
        delays = lengthened(usual.delays, int(times))
    return RetryPolicy(
        delays=usual.delays if delays is None else delays,
        longest_wait=usual.longest_wait if longest is None else longest,
        jitter=settings.retry_jitter or 0.0,
    )


def lengthened(delays: tuple[float, ...], times: int, cap: float = 30.0) -> tuple[float, ...]:
    """So many delays: the usual ones first, then each twice the one before, up to the cap."""
    longer = list(delays)
    while len(longer) < min(times, 100):
        longer.append(min(longer[-1] * 2, cap))
    return tuple(longer[:times])


def timers(settings: Settings, environ: Mapping[str, str]) -> Timers:
    usual = Timers()
    whole = _number(environ, "DETENT_REQUEST_TIMEOUT")
    milliseconds = _number(environ, "API_TIMEOUT_MS")
    if whole is None and milliseconds is not None:
        whole = milliseconds / 1000
    return Timers(
        idle=_chosen(_number(environ, "DETENT_IDLE_TIMEOUT"), settings.idle_timeout, usual.idle),
        request=_chosen(whole, settings.request_timeout, usual.request),
    )


def _chosen(first: float | None, second: float | None, usual: float) -> float:
    return next((float(value) for value in (first, second) if value is not None), usual)


def _number(environ: Mapping[str, str], name: str) -> float | None:
    """A number that is 0 or more; None when it is not set."""
    text = environ.get(name)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise BadInput(f"{name} must be a number, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise BadInput(f"{name} must be 0 or more, not {text!r}")
    return value


def prices(settings: Settings) -> Callable[[str, Usage], float | None]:
    """What an answer of a model costs; None when nobody told us its price."""
    known = known_models(settings)
    return lambda model, usage: known.facts(model).cost(usage)


def bounds_of(model: str) -> tuple[int, int]:
    facts = catalog().facts(model)
    return facts.window, facts.max_output
