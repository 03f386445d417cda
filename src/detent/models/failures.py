"""HTTP answers that are not 200 → failures that say what to do."""

import time
from collections.abc import Mapping

import msgspec

from detent.types.errors import FailureKind, ModelFailure

_TOO_LONG = (
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "exceeds the available context",
    "too many tokens",
    "input is too long",
    "exceed context limit",
    "maximum prompt length",
    "exceeds the maximum number of tokens",
)
_SPENT = ("insufficient_quota", "credit balance", "billing", "spend limit", "usage limit")


def failure_from_http(status: int, headers: Mapping[str, str], body: bytes) -> ModelFailure:
    message = error_text(body) or f"HTTP {status}"
    return ModelFailure(
        kind_of(status, message, headers),
        message,
        status=status,
        retry_after=retry_after(headers.get("retry-after", ""), time.time()),
    )


def kind_of(status: int, message: str, headers: Mapping[str, str]) -> FailureKind:
    text = message.lower()
    if status in (400, 413, 422) and is_too_long(text):
        return "prompt_too_long"
    if headers.get("x-should-retry") == "false" or any(mark in text for mark in _SPENT):
        return "invalid_request" if status not in (401, 403) else "auth"
    match status:
        case 401 | 403:
            return "auth"
        case 404:
            return "not_found"
        case 408 | 504:
            return "timeout"
        case 429:
            return "rate_limit"
        case 529:
            return "overloaded"
        case 409 | _ if status == 409 or status >= 500:
            return "server"
        case _:
            return "invalid_request"


def kind_in_stream(text: str) -> FailureKind:
    """The kind of an error object inside a stream that had begun with status 200."""
    if is_too_long(text):
        return "prompt_too_long"
    return "overloaded" if "overloaded" in text.lower() else "server"


def is_too_long(text: str) -> bool:
    return any(mark in text.lower() for mark in _TOO_LONG)


def error_text(body: bytes) -> str:
    """The human part of an error body, in any of the shapes servers use."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return " ".join(body.decode(errors="replace").split())[:500]
    error = (value.get("error") or value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        text = str(error.get("message") or error.get("detail") or error.get("type") or "")
        code = error.get("code")
        return f"{text} ({code})" if isinstance(code, str) and code not in text else text
    return str(error)[:500]


def retry_after(value: str, now: float) -> float | None:
    """Seconds or an HTTP date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - now)
        except (TypeError, ValueError):
            return None
