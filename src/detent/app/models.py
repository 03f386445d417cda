"""From options and environment to a model that can be asked."""

from collections.abc import Mapping

from detent.app.config import Settings
from detent.app.options import Options
from detent.models.catalog import catalog
from detent.models.providers import Wishes, build, choose, fallbacks_for
from detent.models.retry import RetryPolicy
from detent.models.watch import Timers
from detent.ports import Clock, Model
from detent.types.errors import BadInput
from detent.types.usage import Usage


def open_model(
    options: Options, settings: Settings, environ: Mapping[str, str], clock: Clock
) -> Model:
    if not isinstance(options.model, str):
        return options.model
    wanted = options.model or environ.get("DETENT_MODEL", "") or _from_settings(settings, environ)
    if wanted.startswith("scripted:"):
        from detent.testing.scripted_model import ScriptedModel

        return ScriptedModel.from_file(wanted.removeprefix("scripted:"))
    known = catalog()
    choice = choose(wanted, environ, known)
    fallbacks = options.fallback_models or settings.fallback_models
    wishes = Wishes(
        fallbacks=fallbacks_for(choice, fallbacks, known),
        timers=timers(settings, environ),
        retry=_retries(settings),
    )
    return build(choice, wishes, clock, environ)


def _from_settings(settings: Settings, environ: Mapping[str, str]) -> str:
    """The environment's own model variables beat the settings files."""
    named = environ.get("ANTHROPIC_MODEL") or environ.get("OPENAI_MODEL")
    return "" if named else settings.model


def _retries(settings: Settings) -> RetryPolicy:
    usual = RetryPolicy()
    delays, longest = settings.retry_delays, settings.retry_longest_wait
    return RetryPolicy(
        delays=usual.delays if delays is None else delays,
        longest_wait=usual.longest_wait if longest is None else longest,
    )


def timers(settings: Settings, environ: Mapping[str, str]) -> Timers:
    usual = Timers()
    return Timers(
        idle=_seconds(environ, "DETENT_IDLE_TIMEOUT", settings.idle_timeout, usual.idle),
        request=_seconds(
            environ, "DETENT_REQUEST_TIMEOUT", settings.request_timeout, usual.request
        ),
    )


def _seconds(environ: Mapping[str, str], name: str, setting: float | None, usual: float) -> float:
    text = environ.get(name)
    if not text:
        return usual if setting is None else float(setting)
    try:
        value = float(text)
    except ValueError:
        raise BadInput(f"{name} must be a number of seconds, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise BadInput(f"{name} must be 0 or more seconds, not {text!r}")
    return value


def price_of(model: str, usage: Usage) -> float | None:
    return catalog().facts(model).cost(usage)


def bounds_of(model: str) -> tuple[int, int]:
    facts = catalog().facts(model)
    return facts.window, facts.max_output
