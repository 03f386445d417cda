"""Language servers: which there are for what, as the tools would find them."""

import os

from detent.host.local import LocalHost
from detent.sdk.health.record import Check, Place
from detent.tools.language.servers import LANGUAGES, Choice

NONE = "none found; they are optional, detent then searches by text"


async def look(place: Place) -> list[Check]:
    grounds = place.grounds
    if grounds is None:
        return [Check("languages", "warning", "not known: the settings cannot be read")]
    chosen, host = grounds.settings.lsp, LocalHost(place.environ)
    if chosen is None:
        return [Check("languages", "ok", "language servers are switched off in the settings")]
    top = place.where.root.rstrip("/") + "/"
    choice = Choice(
        host.which,
        chosen,
        trusted=grounds.is_trusted,
        holds=lambda path: path.startswith(top),
    )
    there, held, faults = list[str](), list[str](), list[Check]()
    endings = [next(iter(language.ids)) for language in LANGUAGES]
    for ending in dict.fromkeys((*endings, *(key for key in chosen if key.startswith(".")))):
        try:
            found = choice.find(f"x{ending}")
        except LookupError as error:
            if _is_named(ending, chosen):
                faults.append(_fault(str(error)))
            else:
                held += _held_back(ending, host)
        else:
            there.append(f"{found.language}: {os.path.basename(found.server.argv[0])}")
    waiting = f"only in a folder that you trust: {', '.join(held)}" if held else ""
    told = "; ".join(filter(None, (", ".join(there), waiting)))
    return [Check("languages", "ok", told or NONE), *faults]


def _is_named(ending: str, chosen: dict[str, tuple[str, ...]]) -> bool:
    language = next((one.name for one in LANGUAGES if ending in one.ids), "")
    return bool(chosen.get(ending) or chosen.get(language))


def _held_back(ending: str, host: LocalHost) -> list[str]:
    """Those that are there and do not run code of a stranger."""
    known = next((one.servers for one in LANGUAGES if ending in one.ids), ())
    return [server.name for server in known if host.which(server.argv[0])]


def _fault(said: str) -> Check:
    said = said.removesuffix("Use Grep instead").rstrip(" .")
    return Check("languages", "problem", said, "mend the setting lsp, or install the server")
