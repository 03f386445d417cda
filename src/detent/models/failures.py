"""Errors of servers, as HTTP answers or inside of streams → failures that say what to do."""

import re
import time
from collections.abc import Mapping
from typing import Any

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
    "maximum model length",
    "prompt too long",
    "exceeds the context length",
    "greater than the context length",
    "context length of only",
    "context size has been exceeded",
    "exceed_context_size",
    "exceeded model token limit",
    "too large for model with",
    "too many input tokens",
    "prompt token count of",
    "reduce the length of the messages",
    "`max_new_tokens` must be",
    "context length exceeded",
    "model's context length",
    "exceeds the maximum allowed length",
    "exceeds maximum input length",
    "exceeds max length",
    "input length should be",
    "input tokens exceeds",
    "input token count is",
    "input token length",
    "greater than max_seq_len",
)
_TOO_LONG_AT_FAULT = (
    "exceeds the context length",
    "exceeds the available context",
    "context size has been exceeded",
    "prompt too long",
)
"""What servers of local models say as if it were a fault of theirs."""
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
    "too many pages",
    "pdf pages",
    "the pdf specified",
)
_SPENT = ("insufficient_quota", "credit balance", "billing_error", "spend limit", "usage limit")
_NAMES: dict[FailureKind, str] = {
    "auth": "accessdeniedexception authentication_error invalid_api_key permission_denied"
    " permission_error unauthenticated",
    "invalid_request": "billing_error bio_policy data_residency_mismatch failed_precondition"
    " insufficient_quota invalid_argument invalid_encrypted_content invalid_prompt"
    " invalid_request_error misalignment_policy_violation out_of_range usage_limit_reached"
    " validationexception",
    "not_found": "model_not_found not_found not_found_error",
    "overloaded": "overloaded_error server_is_overloaded serviceunavailableexception slow_down"
    " unavailable",
    "prompt_too_long": "context_length_exceeded request_too_large string_above_max_length",
    "rate_limit": "rate_limit_error rate_limit_exceeded resource_exhausted throttlingexception",
    "server": "api_error cancelled internal server_error",
    "timeout": "deadline_exceeded modeltimeoutexception timeout_error vector_store_timeout",
}
"""What providers call the errors they put into a stream."""
_STATUS = re.compile(r"[45]\d\d", re.ASCII)
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def failure_from_http(status: int, headers: Mapping[str, str], body: bytes) -> ModelFailure:
    message = error_text(body) or f"HTTP {status}"
    kind = kind_of(status, message, headers)
    window, tokens = _limits_told(kind, body.decode(errors="replace"))
    return ModelFailure(
        kind,
        message,
        status=status,
        retry_after=_wait_wanted(headers, body),
        window=window,
        tokens=tokens,
    )


def _limits_told(kind: FailureKind, text: str) -> tuple[int, int]:
    if kind != "prompt_too_long":
        return 0, 0
    from detent.models.limits_told import limits_told

    return limits_told(text)


def kind_of(status: int, message: str, headers: Mapping[str, str]) -> FailureKind:
    if status == 413 or (status in (400, 422) and is_too_long(message)):
        return "prompt_too_long"
    if status == 500 and _has(message, _TOO_LONG_AT_FAULT):
        return "prompt_too_long"
    if status in (400, 422) and is_bad_content(message):
        return "bad_content"
    # Who says when to come again does not mean a purse that is empty, whatever the words.
    waits = status == 429 and "retry-after" in headers
    is_final = headers.get("x-should-retry") == "false" or (_is_spent(message) and not waits)
    if is_final and status not in (401, 403, 529):
        return "invalid_request"
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
        case _:
            return "server" if status == 409 or status >= 500 else "invalid_request"


def failure_in_stream(error: Any) -> ModelFailure:
    """An error inside an answer that had begun with status 200, whatever its shape."""
    fields = _fields(error)
    names = [str(fields[key]) for key in ("code", "status", "type") if fields.get(key)]
    said = fields.get("message") or fields.get("detail") or " ".join(names)
    message = str(said or "the server reported an error")
    # Gateways put the status there that they could not send any more.
    status = next((int(name) for name in names if _STATUS.fullmatch(name)), None)
    kind = _kind_told(names, status, message)
    window, tokens = _limits_told(kind, f"{message} {fields}")
    return ModelFailure(kind, message, status=status, window=window, tokens=tokens)


def _kind_told(names: list[str], status: int | None, message: str) -> FailureKind:
    """By name, else by status, else by the words."""
    kind = next((_KINDS[name.lower()] for name in names if name.lower() in _KINDS), None)
    if kind is None and status is not None:
        return kind_of(status, message, {})
    text = " ".join((*names, message))
    if kind in (None, "invalid_request", "server"):
        if is_too_long(text):
            return "prompt_too_long"
        if is_bad_content(text) or any("image" in name for name in names):
            return "bad_content"
    if kind is None and _is_spent(text):
        return "invalid_request"
    return kind or ("overloaded" if "overloaded" in text.lower() else "server")


def not_a_stream(content_type: str, body: bytes) -> ModelFailure:
    """Status 200, and not one event: an error, a web page, a proxy's greeting, or nothing."""
    if (error := _error_in(body)) is not None:
        return failure_in_stream(error)
    what = f" but {content_type.partition(';')[0]}" if content_type else ""
    if "event-stream" in content_type:
        return ModelFailure("network", "the stream ended before the answer was complete")
    return ModelFailure("invalid_response", f"the endpoint sent no event stream{what}")


def is_too_long(text: str) -> bool:
    return _has(text, _TOO_LONG)


def is_bad_content(text: str) -> bool:
    """A picture or document that the provider does not take, whatever else is asked of it."""
    return _has(text, _BAD_CONTENT)


def _is_spent(text: str) -> bool:
    return _has(text, _SPENT)


def _has(text: str, marks: tuple[str, ...]) -> bool:
    lowered = text.lower()
    return any(mark in lowered for mark in marks)


def error_text(body: bytes) -> str:
    """The human part of an error body, in any of the shapes servers use.

    As long as it is: only who knows our secrets may cut it, for half of one is not found.
    """
    try:
        fields = _fields(msgspec.json.decode(body))
    except (ValueError, RecursionError):
        return " ".join(body.decode(errors="replace").split())
    text = str(fields.get("message") or fields.get("detail") or fields.get("type") or "")
    code = fields.get("code")
    return f"{text} ({code})" if isinstance(code, str) and code not in text else text


def _error_in(body: bytes) -> Any:
    """The error that a body is about; None if it is about anything else."""
    try:
        value = msgspec.json.decode(body, type=dict[str, Any])
    except (ValueError, RecursionError):
        return None
    said = value.get("message") or value.get("detail")
    return value if value.get("error") or isinstance(said, str) else None


def _fields(error: Any) -> dict[str, Any]:
    """An error may be wrapped in others, and may be nothing but its message."""
    while isinstance(error, dict) and error.get("error"):
        error = error["error"]
    return error if isinstance(error, dict) else {"message": str(error)}


def _wait_wanted(headers: Mapping[str, str], body: bytes) -> float | None:
    """In a header as a rule; Gemini says it in the body: `"retryDelay": "13.5s"`."""
    if value := headers.get("retry-after", ""):
        return retry_after(value, _server_time(headers))
    said = re.search(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', body)
    return float(said[1]) if said else None


def _server_time(headers: Mapping[str, str]) -> float:
    """By the server's own clock if it tells it: ours may be wrong."""
    try:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
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
        except (TypeError, ValueError, OverflowError):
            return None
