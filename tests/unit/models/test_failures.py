"""What an answer other than 200 means."""

from __future__ import annotations

import json
from email.utils import formatdate
from typing import Any

import pytest

from detent.models.failures import (
    error_text,
    failure_from_http,
    failure_in_stream,
    not_a_stream,
    retry_after,
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "auth"),
        (403, "auth"),
        (404, "not_found"),
        (408, "timeout"),
        (409, "server"),
        (413, "prompt_too_long"),
        (422, "invalid_request"),
        (429, "rate_limit"),
        (500, "server"),
        (502, "server"),
        (503, "server"),
        (504, "timeout"),
        (529, "overloaded"),
    ],
)
def test_the_status_names_the_kind(status: int, kind: str) -> None:
    failure = failure_from_http(status, {}, b'{"error":{"message":"why"}}')
    assert (failure.kind, failure.status, failure.message) == (kind, status, "why")
    assert failure.retry_after is None
    assert not failure.exhausted


TOO_LONG = [
    "prompt is too long: 215000 tokens > 200000 maximum",
    "Prompt is too long",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in …",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "the request exceeds the available context size, try increasing it",
    "Input is too long for requested model.",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "too many tokens in the request",
]


@pytest.mark.parametrize("message", TOO_LONG)
def test_a_prompt_that_is_too_long_is_known_by_many_wordings(message: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    assert failure_from_http(400, {}, body).kind == "prompt_too_long"
    assert failure_in_stream({"message": message}).kind == "prompt_too_long"


def test_a_code_tells_it_too() -> None:
    body = b'{"error":{"message":"Reduce the length.","code":"context_length_exceeded"}}'
    failure = failure_from_http(400, {}, body)
    assert failure.kind == "prompt_too_long"
    assert failure.message == "Reduce the length. (context_length_exceeded)"


def test_a_server_fault_that_mentions_the_context_is_a_server_fault() -> None:
    assert failure_from_http(500, {}, b"context window exploded").kind == "server"


@pytest.mark.parametrize(
    "message",
    [
        "You exceeded your current quota (insufficient_quota)",
        "Your credit balance is too low to access the API",
        "You have reached your monthly spend limit",
    ],
)
def test_money_that_is_spent_does_not_come_back_by_waiting(message: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    assert failure_from_http(429, {}, body).kind == "invalid_request"


def test_a_limit_that_says_when_to_come_again_is_waited_for() -> None:
    body = b'{"error":{"message":"You have reached your per-minute usage limit, retry shortly"}}'
    assert failure_from_http(429, {"retry-after": "1"}, body).kind == "rate_limit"


def test_overload_is_overload_whatever_else_is_said() -> None:
    """Another model may answer, even where the same one must not be asked again."""
    assert failure_from_http(529, {"x-should-retry": "false"}, b"").kind == "overloaded"
    assert failure_from_http(529, {}, b"usage limit").kind == "overloaded"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Could not process PDF", "bad_content"),
        ("messages.0.content.0.pdf: The PDF specified was not valid.", "bad_content"),
        ("A maximum of 100 PDF pages may be provided.", "bad_content"),
        ("tools.7.custom.input_schema: extract_pdf: JSON schema is invalid", "invalid_request"),
    ],
)
def test_who_only_mentions_a_document_does_not_refuse_it(message: str, kind: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    assert failure_from_http(400, {}, body).kind == kind


def test_the_server_may_forbid_a_retry() -> None:
    assert failure_from_http(500, {"x-should-retry": "false"}, b"").kind == "invalid_request"
    assert failure_from_http(500, {"x-should-retry": "true"}, b"").kind == "server"
    assert failure_from_http(401, {"x-should-retry": "false"}, b"").kind == "auth"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", None),
        ("0", 0.0),
        ("12", 12.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        (formatdate(1_000_030, usegmt=True), 30.0),
        (formatdate(999_000, usegmt=True), 0.0),
        ("soon", None),
        ("Mon, 99 Foo 2026", None),
        ("Fri, 31 Dec 9999999999999999999999 23:59:59 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, now=1_000_000.0) == seconds


def test_retry_after_is_read_from_the_headers() -> None:
    assert failure_from_http(429, {"retry-after": "7"}, b"").retry_after == 7.0


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"type":"error","error":{"type":"api_error","message":"boom"}}', "boom"),
        (b'{"error":{"type":"api_error"}}', "api_error"),
        (b'{"error":"plain"}', "plain"),
        (b'{"message":"top"}', "top"),
        (b'{"detail":"not here"}', "not here"),
        (b'{"error":{"message":"m","code":404}}', "m"),
        (b'"quoted"', "quoted"),
        (b"<html>\n <b>Bad   Gateway</b></html>", "<html> <b>Bad Gateway</b></html>"),
        (b"\xff\xfe", "��"),
        (b"", ""),
        (b"[]", "[]"),
        (b'{"error":null}', ""),
    ],
)
def test_the_human_part_of_an_error_body(body: bytes, text: str) -> None:
    assert error_text(body) == text


def test_a_body_nested_beyond_reason_is_told_as_it_is() -> None:
    assert error_text(b"[" * 5_000) == "[" * 5_000


def test_no_body_says_at_least_the_status() -> None:
    assert failure_from_http(502, {}, b"").message == "HTTP 502"


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded", None),
        ({"type": "server_error", "code": None, "message": "oops"}, "server", None),
        ({"error": {"error": {"code": "rate_limit_exceeded"}}}, "rate_limit", None),
        ({"code": 503, "status": "UNAVAILABLE", "message": "busy"}, "overloaded", 503),
        ({"code": 401, "message": "No auth"}, "auth", 401),
        ({"code": 400, "message": "bad request"}, "invalid_request", 400),
        ({"code": 429, "message": "slow down"}, "rate_limit", 429),
        ({"code": "529", "message": "later"}, "overloaded", 529),
        ({"code": 400, "message": "unsupported image"}, "bad_content", 400),
        ({"type": "invalid_request_error", "message": "image exceeds 5 MB"}, "bad_content", None),
        ({"code": "unsupported_image_media_type", "message": "no"}, "bad_content", None),
        ({"status": "INVALID_ARGUMENT", "message": "Unable to process input image."},
         "bad_content", None),
        ({"type": "invalid_request_error", "code": "context_length_exceeded"},
         "prompt_too_long", None),
        ({"message": "Your credit balance is too low"}, "invalid_request", None),
        ({"code": 7, "message": "hm"}, "server", None),
        ("is overloaded", "overloaded", None),
        ({}, "server", None),
    ],
)  # fmt: skip
def test_an_error_inside_a_stream_has_the_same_kind_on_every_wire(
    error: Any, kind: str, status: int | None
) -> None:
    failure = failure_in_stream(error)
    assert (failure.kind, failure.status) == (kind, status)
    assert failure.message


def test_an_error_in_the_place_of_a_stream_is_told_in_the_words_of_the_server() -> None:
    failure = not_a_stream("application/json", b'{"error":{"message":"your plan has expired"}}')
    assert failure.message == "your plan has expired"
    body = b'{"type":"error","error":{"type":"authentication_error","message":"who?"}}'
    assert not_a_stream("application/json", body).kind == "auth"
    assert not_a_stream("application/json", b'{"detail":"nothing here"}').message == "nothing here"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"message":{"content":"hi"}}', b"[" * 999]
)
def test_what_is_no_error_either_is_no_stream(body: bytes) -> None:
    failure = not_a_stream("application/json; charset=utf-8", body)
    assert failure.kind == "invalid_response"
    assert failure.message == "the endpoint sent no event stream but application/json"


def test_gemini_says_in_the_body_how_long_to_wait() -> None:
    body = (
        b'{"error":{"code":429,"message":"You exceeded your current quota, please check your plan '
        b'and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo",'
        b'"retryDelay":"13.5s"}]}}'
    )
    failure = failure_from_http(429, {}, body)
    assert (failure.kind, failure.retry_after) == ("rate_limit", 13.5)
    assert failure_from_http(429, {"retry-after": "2"}, body).retry_after == 2.0


def test_a_date_is_read_by_the_servers_clock() -> None:
    headers = {
        "date": "Sun, 15 Nov 2020 10:00:00 GMT",
        "retry-after": "Sun, 15 Nov 2020 10:00:07 GMT",
    }
    assert failure_from_http(503, headers, b"").retry_after == 7.0


def test_a_date_behind_all_dates_is_none() -> None:
    headers = {"date": "Fri, 31 Dec 9999999999999999999999 23:59:59 GMT", "retry-after": "1"}
    assert failure_from_http(503, headers, b"").retry_after == 1.0
