"""Claude and Gemini on Google Vertex AI: project and region in the path, a token of the account.

Tokens come from google-auth, which finds the account the user is logged in to
(`pip install 'detent[vertex]'`).
"""

import asyncio
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from detent.models.assemble import Assembler
from detent.models.cloud.reshaping import reshaped
from detent.models.credentials import Renewed, Secret, Token
from detent.models.protocols.wire import Wire
from detent.types.errors import ModelFailure, NoModel
from detent.types.messages import Message, Request

VERSION = "vertex-2023-10-16"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class Place(Struct, frozen=True):
    project: str
    region: str

    def path(self, publisher: str, model: str, action: str) -> str:
        name = quote(model, safe="@")
        where = f"/projects/{quote(self.project, safe=':')}/locations/{self.region}"
        return f"{where}/publishers/{publisher}/models/{name}:{action}"


def place(environ: Mapping[str, str]) -> Place:
    """Raises NoModel when nobody says which project pays."""
    names = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT")
    project = next((environ[name] for name in names if environ.get(name)), "")
    if not project:
        raise NoModel("vertex needs a project: set ANTHROPIC_VERTEX_PROJECT_ID")
    return Place(project, environ.get("CLOUD_ML_REGION") or "global")


def base_url(environ: Mapping[str, str]) -> str:
    if given := environ.get("ANTHROPIC_VERTEX_BASE_URL"):
        return given.rstrip("/")
    match place(environ).region:
        case "global":
            host = "aiplatform.googleapis.com"
        case "us" | "eu" as continent:
            host = f"aiplatform.{continent}.rep.googleapis.com"
        case region:
            host = f"{region}-aiplatform.googleapis.com"
    return f"https://{host}/v1"


class _Vertex:
    def __init__(self, inner: Wire, place: Place) -> None:
        self._inner = inner
        self._place = place

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        return self._inner.body(request, model, max_output)

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return self._inner.encoded(message, before)

    @property
    def marks(self) -> bool:
        return bool(getattr(self._inner, "marks", False))

    def read(self, data: bytes, into: Assembler) -> None:
        self._inner.read(data, into)

    def finish(self, into: Assembler) -> None:
        self._inner.finish(into)


class VertexMessages(_Vertex):
    def path(self, model: str) -> str:
        return self._place.path("anthropic", model, "streamRawPredict")

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        body = self._inner.body(request, model, max_output)
        return reshaped(body, ("model",), anthropic_version=VERSION)


class VertexGemini(_Vertex):
    def path(self, model: str) -> str:
        return self._place.path("google", model, "streamGenerateContent?alt=sse")


def credentials() -> Renewed:
    """Raises NoModel when google-auth is missing."""
    try:
        auth = import_module("google.auth")
        requests = import_module("google.auth.transport.requests")
    except ImportError:
        raise NoModel(
            "vertex needs the login of your Google account: pip install 'detent[vertex]'"
        ) from None

    async def fetch() -> Token:
        # In a thread: google-auth reads files and asks servers, and waits for them.
        return await asyncio.to_thread(_token, auth, requests)

    return Renewed(fetch)


def _token(auth: Any, requests: Any) -> Token:
    """The files are read each time: the user may have logged in meanwhile."""
    try:
        account, _ = auth.default(scopes=[SCOPE])
        account.refresh(requests.Request())
    except auth.exceptions.DefaultCredentialsError:
        text = "no Google login was found: run `gcloud auth application-default login`"
        raise ModelFailure("auth", text) from None
    except auth.exceptions.TransportError:
        raise ModelFailure("network", "Google's token endpoint cannot be reached") from None
    except (auth.exceptions.GoogleAuthError, OSError) as error:
        raise ModelFailure("auth", f"Google refuses a token: {type(error).__name__}") from None
    return Token(Secret(account.token), _seconds_left(account.expiry))


def _seconds_left(expiry: Any) -> float:
    """google-auth gives the time in UTC without saying so."""
    if expiry is None:
        return 300.0
    from datetime import UTC

    return max(0.0, float(expiry.replace(tzinfo=UTC).timestamp()) - time.time())
