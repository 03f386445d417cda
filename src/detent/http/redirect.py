"""Where an endpoint sends us. Within its own origin we follow; nowhere else does the key go."""

from urllib.parse import urljoin

from detent.http.exchange import Exchange
from detent.http.transport import SOCKET, Target, parse_target
from detent.types.errors import ModelFailure


def next_target(method: str, asked: Target, answer: Exchange) -> Target:
    location = answer.headers.get("location", "")
    if not location:
        raise _refusal("redirects, and does not say where")
    try:
        target = _resolved(asked, location)
    except ValueError:
        raise _refusal(f"redirects to {_shown(location)}, which is no address") from None
    if target.origin != asked.origin:
        raise _refusal(
            f"redirects to {_shown(location)}; set the base URL to it if that is right "
            "(the key is not sent elsewhere)"
        )
    if answer.status == 303 and method != "GET":
        raise _refusal(f"answers with a page at {_shown(location)}: is the base URL right?")
    return target


def _resolved(asked: Target, location: str) -> Target:
    origin = asked.origin
    if origin.scheme != SOCKET:
        return parse_target(urljoin(f"{origin.scheme}://{origin.place}{asked.path}", location))
    there = parse_target(urljoin(f"http://localhost{asked.path}", location))
    return Target(origin if there.origin.host == "localhost" else there.origin, there.path)


def _shown(location: str) -> str:
    """Without what may be secret in it, and fit for a terminal."""
    plain = location.partition("?")[0].partition("#")[0]
    scheme, slashes, rest = plain.partition("://")
    host, slash, path = rest.partition("/")
    if slashes:
        plain = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return "".join(char if " " < char <= "~" else "?" for char in plain)[:200]


def _refusal(text: str) -> ModelFailure:
    return ModelFailure("invalid_request", f"the endpoint {text}")
