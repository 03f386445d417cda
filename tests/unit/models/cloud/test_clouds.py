"""Bedrock and Vertex on loopback: paths, bodies, framing, and who we say we are."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import datetime, timedelta
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from detent.http.transport import Transport
from detent.models.cloud import bedrock, vertex
from detent.models.credentials import Credentials, Fixed
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.wire import Endpoint
from detent.models.route import Route
from detent.types.content import Text
from detent.types.errors import ModelFailure, NoModel
from detent.types.messages import Reply, Request, User
from eventframes import chunk, exception
from loopback import Peer, Server

MODEL = "anthropic.claude-sonnet-v2:0"
REQUEST = Request(system=("be brief",), messages=(User((Text("hi"),)),), tools=())
ANSWER: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hel"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


def ask(
    wire: Any, credentials: Credentials, answer: bytes, model: str = MODEL
) -> tuple[Any, Reply]:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        seen.append(await peer.request())
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(answer), answer))

    async def ignore(delta: Any) -> None:
        pass

    async def main() -> Reply:
        async with Server(handler) as server:
            route = Route(
                model,
                wire=wire,
                endpoint=Endpoint(f"http://127.0.0.1:{server.port}"),
                credentials=credentials,
                transport=Transport({}),
            )
            try:
                return await route.attempt(REQUEST, 100, ignore)
            finally:
                await route.aclose()

    reply = asyncio.run(main())
    return seen[0], reply


def said(reply: Reply) -> str:
    return "".join(block.text for block in reply.content if isinstance(block, Text))


def test_bedrock_is_asked_its_own_way() -> None:
    wire = bedrock.BedrockMessages(AnthropicMessages(), betas=("some-beta",))
    credentials = bedrock.credentials({"AWS_BEARER_TOKEN_BEDROCK": "bedrock-token "})
    (first, headers, body), reply = ask(wire, credentials, b"".join(map(chunk, ANSWER)))
    path = "/model/anthropic.claude-sonnet-v2%3A0/invoke-with-response-stream"
    assert first == f"POST {path} HTTP/1.1"
    assert headers["authorization"] == "Bearer bedrock-token"
    sent = json.loads(body)
    assert "model" not in sent and "stream" not in sent
    assert sent["anthropic_version"] == "bedrock-2023-05-31"
    assert sent["anthropic_beta"] == ["some-beta"]
    assert sent["max_tokens"] == 100
    assert list(sent)[-1] == "messages"
    assert said(reply) == "hello"


def test_bedrock_without_betas_sends_none() -> None:
    body = bedrock.BedrockMessages(AnthropicMessages()).body(REQUEST, MODEL, 5)
    assert "anthropic_beta" not in json.loads(body)


def test_an_exception_in_the_middle_of_bedrocks_stream() -> None:
    wire = bedrock.BedrockMessages(AnthropicMessages())
    answer = b"".join(map(chunk, ANSWER[:3])) + exception("throttlingException", "slow down")
    with pytest.raises(ModelFailure, match="slow down") as caught:
        ask(wire, Fixed(), answer)
    assert caught.value.kind == "rate_limit"


def test_where_bedrock_is() -> None:
    place = "https://bedrock-runtime.{}.amazonaws.com"
    assert bedrock.base_url({}) == place.format("us-east-1")
    assert bedrock.base_url({"AWS_DEFAULT_REGION": "eu-west-1"}) == place.format("eu-west-1")
    both = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-north-1"}
    assert bedrock.base_url(both) == place.format("eu-north-1")
    assert bedrock.base_url({"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://h:1/"}) == "http://h:1"
    assert bedrock.base_url({"ANTHROPIC_BEDROCK_BASE_URL": "http://h:2"}) == "http://h:2"


def test_bedrock_is_where_the_profile_says(monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        def __init__(self, profile: str | None) -> None:
            self.profile = profile

        def get_config_variable(self, name: str) -> str | None:
            if self.profile == "gone":
                raise RuntimeError("no such profile")
            return {("work", "region"): "eu-central-1"}.get((self.profile or "", name))

    session = ModuleType("botocore.session")
    session.Session = Session  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "botocore", ModuleType("botocore"))
    monkeypatch.setitem(sys.modules, "botocore.session", session)
    assert bedrock.region({"AWS_PROFILE": "work"}) == "eu-central-1"
    assert "eu-central-1" in bedrock.base_url({"AWS_PROFILE": "work"})
    assert bedrock.region({"AWS_PROFILE": "work", "AWS_REGION": "us-west-2"}) == "us-west-2"
    assert bedrock.region({"AWS_PROFILE": "gone"}) == bedrock.region({}) == "us-east-1"


def test_without_a_token_and_without_botocore_bedrock_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(NoModel, match=r"pip install 'detent\[bedrock\]'"):
        bedrock.credentials({})


def test_no_aws_login_is_a_matter_of_who_we_are() -> None:
    def broken() -> Any:
        raise RuntimeError("SECRET in a message of theirs")

    for session in (lambda: SimpleNamespace(get_credentials=lambda: None), broken):
        with pytest.raises(ModelFailure, match="no AWS login") as caught:
            asyncio.run(bedrock.Signed(session, "eu-west-1").signed("http://h/", {}, b""))
        assert caught.value.kind == "auth" and "SECRET" not in caught.value.message


def test_a_request_is_signed_as_it_is_sent() -> None:
    """With the real botocore where it is installed; our own arithmetic checks it."""
    pytest.importorskip("botocore")
    keys = SimpleNamespace(access_key="AKID", secret_key="wJalr/secret", token="session-token")
    found = SimpleNamespace(get_frozen_credentials=lambda: keys)
    signer = bedrock.Signed(lambda: SimpleNamespace(get_credentials=lambda: found), "eu-west-1")
    url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a%3A0/invoke-with-response-stream"
    headers = asyncio.run(signer.signed(url, {"content-type": "application/json"}, b"{}"))
    assert headers["Authorization"].endswith(_signature(headers["X-Amz-Date"], b"{}"))
    assert headers["content-type"] == "application/json"
    assert signer.redact("wJalr/secret session-token") == "[key] [key]"


def _signature(date: str, body: bytes) -> str:
    from hashlib import sha256
    from hmac import digest

    names = "content-type;host;x-amz-date;x-amz-security-token"
    lines = [
        "POST",
        "/model/a%253A0/invoke-with-response-stream",
        "",
        "content-type:application/json",
        "host:bedrock-runtime.eu-west-1.amazonaws.com",
        f"x-amz-date:{date}",
        "x-amz-security-token:session-token",
        "",
        names,
        sha256(body).hexdigest(),
    ]
    scope = f"{date[:8]}/eu-west-1/bedrock/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{sha256(chr(10).join(lines).encode()).hexdigest()}"
    key = b"AWS4wJalr/secret"
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    return f"Signature={digest(key, text.encode(), 'sha256').hex()}"


PLACE = vertex.Place("my-project", "europe-west4")


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def test_claude_on_vertex_is_asked_its_own_way() -> None:
    wire = vertex.VertexMessages(AnthropicMessages(), PLACE)
    credentials = Fixed({"authorization": "Bearer google-token"})
    (first, headers, body), reply = ask(wire, credentials, sse(*ANSWER), "claude-x@20260101")
    assert first == (
        "POST /projects/my-project/locations/europe-west4/publishers/anthropic/models/"
        "claude-x@20260101:streamRawPredict HTTP/1.1"
    )
    assert headers["authorization"] == "Bearer google-token"
    sent = json.loads(body)
    assert "model" not in sent
    assert (sent["anthropic_version"], sent["stream"]) == ("vertex-2023-10-16", True)
    assert said(reply) == "hello"


def test_gemini_on_vertex_has_another_publisher() -> None:
    wire = vertex.VertexGemini(Gemini(), PLACE)
    assert wire.path("gemini-3-pro") == (
        "/projects/my-project/locations/europe-west4/publishers/google/models/"
        "gemini-3-pro:streamGenerateContent?alt=sse"
    )
    assert wire.body(REQUEST, "gemini-3-pro", 9) == Gemini().body(REQUEST, "gemini-3-pro", 9)


def test_where_vertex_is() -> None:
    project = {"ANTHROPIC_VERTEX_PROJECT_ID": "p"}
    assert vertex.place(project) == vertex.Place("p", "global")
    assert vertex.base_url(project) == "https://aiplatform.googleapis.com/v1"
    there = {**project, "CLOUD_ML_REGION": "us-east5"}
    assert vertex.base_url(there) == "https://us-east5-aiplatform.googleapis.com/v1"
    for continent in ("us", "eu"):
        url = f"https://aiplatform.{continent}.rep.googleapis.com/v1"
        assert vertex.base_url({**project, "CLOUD_ML_REGION": continent}) == url
    assert vertex.base_url({"ANTHROPIC_VERTEX_BASE_URL": "http://h:1/v1/"}) == "http://h:1/v1"
    with pytest.raises(NoModel, match="ANTHROPIC_VERTEX_PROJECT_ID"):
        vertex.place({})


def test_without_google_auth_vertex_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(NoModel, match=r"pip install 'detent\[vertex\]'"):
        vertex.credentials()


class Account:
    """What google-auth gives, as far as we use it."""

    def __init__(self, token: str, expiry: datetime | None) -> None:
        self.token, self.expiry = token, expiry

    def refresh(self, request: Any) -> None:
        assert request == "request"


def google(monkeypatch: pytest.MonkeyPatch, default: Any) -> None:
    class GoogleAuthError(Exception): ...

    class DefaultCredentialsError(GoogleAuthError): ...

    class TransportError(GoogleAuthError): ...

    auth, requests = ModuleType("google.auth"), ModuleType("google.auth.transport.requests")
    auth.exceptions = SimpleNamespace(  # type: ignore[attr-defined]
        GoogleAuthError=GoogleAuthError,
        DefaultCredentialsError=DefaultCredentialsError,
        TransportError=TransportError,
    )
    auth.default = lambda scopes: default(auth.exceptions)  # type: ignore[attr-defined]
    requests.Request = lambda: "request"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.auth", auth)
    monkeypatch.setitem(sys.modules, "google.auth.transport", ModuleType("google.auth.transport"))
    monkeypatch.setitem(sys.modules, "google.auth.transport.requests", requests)


def test_a_google_token_is_kept_and_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC

    tokens = iter(["google-1", "google-2"])
    later = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=1)
    google(monkeypatch, lambda faults: (Account(next(tokens), later), "project"))

    async def main() -> None:
        credentials = vertex.credentials()
        for _ in range(2):
            got = await credentials.signed("u", {}, b"")
            assert got["authorization"] == "Bearer google-1"
        assert await credentials.refresh()
        assert (await credentials.signed("u", {}, b""))["authorization"] == "Bearer google-2"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        ("DefaultCredentialsError", "auth", "application-default login"),
        ("TransportError", "network", "cannot be reached"),
        ("GoogleAuthError", "auth", "GoogleAuthError"),
    ],
)
def test_what_google_may_say(
    monkeypatch: pytest.MonkeyPatch, fault: str, kind: str, text: str
) -> None:
    def default(faults: Any) -> Any:
        raise getattr(faults, fault)("SECRET")

    google(monkeypatch, default)
    with pytest.raises(ModelFailure, match=text) as caught:
        asyncio.run(vertex.credentials().signed("u", {}, b""))
    assert caught.value.kind == kind and "SECRET" not in caught.value.message
