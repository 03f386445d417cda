"""HTTP answers that are not 200 → failures that say what to do."""

import re
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
_BAD_CONTENT = (
    "image exceeds",
    "image dimensions",
    "image was specified using",
    "could not process image",
    "could not process pdf",
    "unable to process input image",
    "does not represent a valid image",
    "unsupported image",
    "invalid image",
    "invalid base64",
    "invalid_image",
    "image_parse_error",
    "image_too_large",
    "image too large",
    "too many images",
    "pdf",
)
_SPENT = ("insufficient_quota", "credit balance", "billing_error", "spend limit", "usage limit")


def failure_from_http(status: int, headers: Mapping[str, str], body: bytes) -> ModelFailure:
    message = error_text(body) or f"HTTP {status}"
    return ModelFailure(
        kind_of(status, message, headers),
        message,
        status=status,
        retry_after=_wait_wanted(headers, body),
    )


def _wait_wanted(headers: Mapping[str, str], body: bytes) -> float | None:
    """In a header as a rule; Gemini says it in the body: `"retryDelay": "13.5s"`."""
    if value := headers.get("retry-after", ""):
        return retry_after(value, _server_time(headers))
    said = re.search(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', body)
    return float(said[1]) if said else None


def not_a_stream(content_type: str) -> ModelFailure:
    """Status 200, and not one event: a web page, a proxy's greeting, or nothing at all."""
    what = f" but {content_type.partition(';')[0]}" if content_type else ""
    if "event-stream" in content_type:
        return ModelFailure("network", "the stream ended before the answer was complete")
    return ModelFailure("invalid_response", f"the endpoint sent no event stream{what}")


def kind_of(status: int, message: str, headers: Mapping[str, str]) -> FailureKind:
    text = message.lower()
    if status == 413 or (status in (400, 422) and is_too_long(text)):
        return "prompt_too_long"
    if status in (400, 422) and is_bad_content(text):
        return "bad_content"
    if headers.get("x-should-retry") == "false" or any(mark in text for mark in _SPENT):
        return "invalid_request" if status not in (401, 403) else "auth"
    if headers.get("x-should-retry") == "true" and status not in (401, 403, 429, 529):
        return "server"
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


def is_bad_content(text: str) -> bool:
    """A picture or document that the provider does not take, whatever else is asked of it."""
    return any(mark in text.lower() for mark in _BAD_CONTENT)


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


def _server_time(headers: Mapping[str, str]) -> float:
    """By the server's own clock if it tells it: ours may be wrong."""
    try:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return time.time()


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
