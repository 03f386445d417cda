"""Claude on Amazon Bedrock: another path, another framing, and a signature or a bearer token.

The token needs nothing but itself; signatures come from botocore, which also finds the account the
user is logged in to (`pip install 'detent[bedrock]'`).
"""

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import quote

from detent.models.assemble import Assembler
from detent.models.cloud.eventstream import EventStream
from detent.models.cloud.reshaping import reshaped
from detent.models.credentials import Credentials, Fixed, Secret, redact
from detent.models.protocols.wire import Wire
from detent.types.errors import ModelFailure, NoModel
from detent.types.messages import Message, Request

VERSION = "bedrock-2023-05-31"
BEARER = "AWS_BEARER_TOKEN_BEDROCK"


class BedrockMessages:
    def __init__(self, inner: Wire, betas: tuple[str, ...] = ()) -> None:
        self._inner = inner
        self._betas = {"anthropic_beta": betas} if betas else {}

    def path(self, model: str) -> str:
        return f"/model/{quote(model, safe='')}/invoke-with-response-stream"

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        body = self._inner.body(request, model, max_output)
        return reshaped(body, ("model", "stream"), anthropic_version=VERSION, **self._betas)

    def splitter(self) -> EventStream:
        return EventStream()

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return self._inner.encoded(message, before)

    @property
    def marks(self) -> bool:
        return bool(getattr(self._inner, "marks", False))

    def read(self, data: bytes, into: Assembler) -> None:
        self._inner.read(data, into)

    def finish(self, into: Assembler) -> None:
        self._inner.finish(into)


def region(environ: Mapping[str, str]) -> str:
    given = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    return given or _region_of_profile(environ) or "us-east-1"


def _region_of_profile(environ: Mapping[str, str]) -> str:
    try:
        region = _session(environ).get_config_variable("region")
    except Exception:  # no botocore, or no such profile: who signs will say so
        return ""
    return str(region or "")


def _session(environ: Mapping[str, str]) -> Any:
    return import_module("botocore.session").Session(profile=environ.get("AWS_PROFILE") or None)


def base_url(environ: Mapping[str, str]) -> str:
    given = environ.get("ANTHROPIC_BEDROCK_BASE_URL") or environ.get(
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
    )
    return (given or f"https://bedrock-runtime.{region(environ)}.amazonaws.com").rstrip("/")


def credentials(environ: Mapping[str, str]) -> Credentials:
    """Raises NoModel when there is neither a token nor somebody who could sign."""
    if token := environ.get(BEARER, "").strip():
        return Fixed({"authorization": f"Bearer {token}"})
    try:
        import_module("botocore.session")
    except ImportError:
        raise NoModel(
            f"bedrock needs {BEARER}, or the login of your AWS account: "
            "pip install 'detent[bedrock]'"
        ) from None
    return Signed(lambda: _session(environ), region(environ))


class Signed:
    """SigV4: each request is signed as it is, with keys that botocore finds and renews."""

    def __init__(self, open_session: Callable[[], Any], region: str) -> None:
        self._open = open_session
        self._region = region
        self._keys: Any = None
        self._seen: list[Secret] = []

    async def signed(self, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        # In a thread: botocore reads files and asks servers, and waits for them.
        return await asyncio.to_thread(self._signed, url, dict(headers), body)

    async def refresh(self) -> bool:
        """The files are read again: the user may have logged in meanwhile."""
        self._keys = None
        return True

    def redact(self, text: str) -> str:
        return redact(text, *self._seen)

    async def aclose(self) -> None:
        pass

    def _signed(self, url: str, headers: dict[str, str], body: bytes) -> Mapping[str, str]:
        keys = self._frozen_keys()
        self._seen = [Secret(text) for text in (keys.secret_key, keys.token) if text]
        request = import_module("botocore.awsrequest").AWSRequest("POST", url, headers, body)
        import_module("botocore.auth").SigV4Auth(keys, "bedrock", self._region).add_auth(request)
        return dict(request.headers.items())

    def _frozen_keys(self) -> Any:
        try:
            if self._keys is None:
                self._keys = self._open().get_credentials()
            keys = self._keys.get_frozen_credentials() if self._keys is not None else None
        except Exception as error:  # of botocore, which has many, or of what it calls
            raise ModelFailure("auth", f"no AWS login: {type(error).__name__}") from None
        if keys is None:
            raise ModelFailure("auth", "no AWS login was found: log in with the aws program")
        return keys
