"""TLS: whom we trust, and who we say we are. Loaded only for https."""

import asyncio
import os
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Mapping
from weakref import WeakValueDictionary

from detent.http.exchange import ConnectionCut, Exchange
from detent.http.transport import Origin
from detent.types.errors import BadInput, ModelFailure

BUNDLES = ("DETENT_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Added to what the system trusts; SSL_CERT_FILE and SSL_CERT_DIR replace it, as everywhere."""
IDENTITIES = ("DETENT_CLIENT", "CLAUDE_CODE_CLIENT")
"""With `_CERT`, `_KEY` and `_KEY_PASSPHRASE` behind them; the first that is set is used."""
BUFFER = 4 * 1024
"""What one read of a connection takes; asyncio's 256 KiB are for files, not for events."""


_contexts: WeakValueDictionary[tuple[str | None, ...], ssl.SSLContext] = WeakValueDictionary()
"""One holds a megabyte of certificates: sessions that trust the same share it while they live."""


def client_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Raises BadInput when a file that the environment names cannot be used."""
    own = (f"{who}_{what}" for who in IDENTITIES for what in ("CERT", "KEY", "KEY_PASSPHRASE"))
    named = (environ.get(name) for name in (*BUNDLES, *own))
    key = (*named, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    context = _contexts.get(key)
    if context is None:
        context = ssl.create_default_context()
        _load_own_files(context, environ)
        _contexts[key] = context
    return context


def check(environ: Mapping[str, str]) -> None:
    """Raises BadInput like `client_context`, without the 30 ms that the system's store takes."""
    if (path := environ.get("SSL_CERT_FILE")) and not os.path.isfile(path):
        raise BadInput(f"SSL_CERT_FILE: there is no file {path}")
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


async def secured(plain: asyncio.Transport, origin: Origin, context: ssl.SSLContext) -> Exchange:
    """TLS over a connection, whatever address that goes to: the host's name is what is verified."""
    try:
        return await _shaken(plain, origin.host, context)
    except BaseException as error:
        plain.abort()
        if isinstance(error, ssl.SSLCertVerificationError):
            raise _distrust(origin, error) from None
        if isinstance(error, ssl.SSLError):
            raise explained(error) from None
        raise


class _Small(SSLProtocol):
    """asyncio has no setting for its buffer. A thousand open streams would hold 256 MB in buffers
    that are never full, and leave holes of that size in the heap if they were made smaller later.
    """

    max_size = BUFFER


async def _shaken(plain: asyncio.Transport, host: str, context: ssl.SSLContext) -> Exchange:
    """What `loop.start_tls` does, with a buffer of our size."""
    loop = asyncio.get_running_loop()
    exchange, is_secure = Exchange(), loop.create_future()
    inner = _Small(loop, exchange, context, is_secure, server_hostname=host)
    plain.set_protocol(inner)
    inner.connection_made(plain)
    await is_secure
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
