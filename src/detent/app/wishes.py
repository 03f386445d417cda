"""What options, settings and environment say about the use of models."""

from collections.abc import Mapping

from msgspec import Raw
from msgspec.structs import replace

from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.models.build import Wishes
from detent.models.providers import Choice
from detent.models.retry import RetryPolicy
from detent.models.watch import Timers
from detent.types.codec import decode_object, encode
from detent.types.errors import BadInput

EFFORTS = ("low", "medium", "high", "xhigh", "max")
UNSAID = ("auto", "default")
"""The provider decides."""


def wishes_of(options: Options, settings: Settings, environ: Mapping[str, str]) -> Wishes:
    effort = effort_of(options, settings)
    check_effort(effort)
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
        max_output=options.max_output_tokens or 0,
        task_budget=options.task_budget or 0,
    )


def effort_of(options: Options, settings: Settings) -> str:
    effort = options.effort or settings.effort
    return "" if effort in UNSAID else effort


def check_effort(effort: str) -> None:
    """Raises BadInput."""
    if effort and effort not in (*EFFORTS, *UNSAID):
        raise BadInput(f"effort is one of {', '.join(EFFORTS)}, not {effort!r}")


def wishes_for(choice: Choice, wishes: Wishes, first: Choice, settings: Settings) -> Wishes:
    """What was wished of the first provider in its own notation is not said to another."""
    if choice.provider != first.provider:
        wishes = replace(wishes, server_tools=(), betas=())
    if choice.wire != "anthropic":
        wishes = replace(wishes, extra_body=None)
    if settings.web_search.get("provider") == "native":
        from detent.app.searching import NATIVE

        own = (Raw(encode(NATIVE[choice.wire])),) if choice.wire in NATIVE else ()
        wishes = replace(wishes, server_tools=(*wishes.server_tools, *own))
    return wishes


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _extra_body(environ: Mapping[str, str]) -> Raw | None:
    text = environ.get("CLAUDE_CODE_EXTRA_BODY", "")
    return Raw(encode(decode_object(text, "CLAUDE_CODE_EXTRA_BODY"))) if text else None


def retries(settings: Settings, environ: Mapping[str, str]) -> RetryPolicy:
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
