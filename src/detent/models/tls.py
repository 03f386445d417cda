"""TLS: whom we trust, and who we say we are. Loaded only for https."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

from detent.models.exchange import ConnectionCut, Exchange
from detent.models.transport import Origin
from detent.types.errors import BadInput, ModelFailure

BUNDLES = ("DETENT_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Added to what the system trusts; SSL_CERT_FILE and SSL_CERT_DIR replace it, as everywhere."""
IDENTITIES = ("DETENT_CLIENT", "CLAUDE_CODE_CLIENT")
"""With `_CERT`, `_KEY` and `_KEY_PASSPHRASE` behind them; the first that is set is used."""
BUFFER = 8 * 1024
"""asyncio keeps 256 KiB for each TLS connection; a record is never longer than 16 KiB."""


def client_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Raises BadInput when a file that the environment names cannot be used."""
    context = ssl.create_default_context()
    _load_own_files(context, environ)
    return context


def check(environ: Mapping[str, str]) -> None:
    """Raises BadInput like `client_context`, without the 30 ms that the system's store takes."""
    if any(environ.get(name) for name in (*BUNDLES, *(f"{who}_CERT" for who in IDENTITIES))):
        _load_own_files(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), environ)


def _load_own_files(context: ssl.SSLContext, environ: Mapping[str, str]) -> None:
    for name in BUNDLES:
        if path := environ.get(name):
            _load_bundle(context, name, path)
    for who in IDENTITIES:
        if environ.get(f"{who}_CERT"):
            _load_identity(context, who, environ)
            return


def _load_bundle(context: ssl.SSLContext, name: str, path: str) -> None:
    from os.path import isdir

    try:
        if isdir(path):
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise BadInput(f"{name}: {path} holds no certificates in PEM form") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot read {path}: {error.strerror}") from None


def _load_identity(context: ssl.SSLContext, who: str, environ: Mapping[str, str]) -> None:
    certificate, key = environ[f"{who}_CERT"], environ.get(f"{who}_KEY") or None
    # Without a passphrase OpenSSL would ask for it at the terminal, behind our back.
    passphrase = environ.get(f"{who}_KEY_PASSPHRASE", "")
    named = f"{who}_CERT and {who}_KEY: {certificate}" + (f" and {key}" if key else "")
    try:
        context.load_cert_chain(certificate, key, password=lambda: passphrase)
    except ssl.SSLError as error:
        reason = (error.reason or "no PEM").replace("_", " ").lower()
        raise BadInput(f"{named} cannot be used: {reason} (is the passphrase right?)") from None
    except OSError as error:
        raise BadInput(f"{named} cannot be read: {error.strerror}") from None
    except ValueError:
        raise BadInput(f"{who}_KEY_PASSPHRASE is too long") from None


async def connect_securely(origin: Origin, context: ssl.SSLContext, proxy: str | None) -> Exchange:
    loop = asyncio.get_running_loop()
    try:
        if proxy is not None:
            from detent.models.proxy import connect_through

            exchange = await connect_through(proxy, origin, context)
        else:
            _, exchange = await loop.create_connection(
                Exchange, origin.host, origin.port, ssl=context
            )
    except ssl.SSLCertVerificationError as error:
        raise _distrust(origin, error) from None
    except ssl.SSLError as error:
        raise explained(error) from None
    _save_memory(exchange)
    return exchange


def _distrust(origin: Origin, error: ssl.SSLCertVerificationError) -> ModelFailure:
    """Asking again would not help: the kind says so."""
    text = f"the certificate of {origin.host} is not valid: {error.verify_message}"
    if error.verify_code in (18, 19, 20, 21):  # signed by itself, or by somebody we do not know
        text += "; if that is right, name the PEM file of who signed it in DETENT_CA_BUNDLE"
    return ModelFailure("invalid_request", text)


def explained(error: Exception) -> Exception:
    """What ends a connection at the TLS level, in words that help."""
    reason = str(getattr(error, "reason", None) or error).replace("_", " ").lower()
    if "certificate required" in reason or "bad certificate" in reason:
        return ModelFailure(
            "invalid_request",
            "the endpoint wants a client certificate: set DETENT_CLIENT_CERT and DETENT_CLIENT_KEY",
        )
    if "wrong version number" in reason or "record layer failure" in reason:
        return ModelFailure(
            "invalid_request", "the endpoint does not speak TLS: is it http instead of https?"
        )
    return ConnectionCut(f"the secure connection broke: {reason}")


def _save_memory(exchange: Exchange) -> None:
    """A thousand open streams would hold 256 MB in buffers that are never full.

    asyncio has no setting for it, so we reach into the connection; where it is built differently,
    nothing happens.
    """
    inner: Any = getattr(exchange.transport, "_ssl_protocol", None)
    if len(getattr(inner, "_ssl_buffer", b"")) > BUFFER and hasattr(inner, "_ssl_buffer_view"):
        inner.max_size = BUFFER
        inner._ssl_buffer = bytearray(BUFFER)
        inner._ssl_buffer_view = memoryview(inner._ssl_buffer)
