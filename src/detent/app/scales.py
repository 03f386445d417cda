"""A model to weigh requests with, not to ask: its wire and its limits, without a key."""

from collections.abc import Mapping

from detent.app.models import facts_of, known_models, names_in_use
from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.app.wishes import wishes_for, wishes_of
from detent.models.build import Wishes, manner_of, wire_of
from detent.models.catalog import Catalog
from detent.models.providers import Choice, choose
from detent.models.small.profile import is_small
from detent.models.weighing import weigh, weigh_neutrally
from detent.ports import DeltaSink
from detent.types.errors import BadInput, NoModel
from detent.types.events import Replied
from detent.types.messages import USUAL_OUTPUT, Reply, Request
from detent.types.weights import Weights

NO_KEY = "unused"


class Scales:
    """Speaks as the model of a choice does, to nobody."""

    is_exact = True

    def __init__(self, choice: Choice, wishes: Wishes, environ: Mapping[str, str]) -> None:
        self.name = choice.model
        self.window = choice.facts.window
        self.max_output = choice.facts.max_output
        self._choice, self._environ = choice, environ
        self._manner = manner_of(choice, wishes)
        most = self.max_output
        self._first_output = wishes.max_output or min(most, USUAL_OUTPUT)

    def weigh(self, request: Request, model: str = "") -> Weights:
        wire = wire_of(self._choice, self._manner, self._environ)
        wanted = request.max_output or self._first_output
        limit = min(wanted, self.max_output) if self.max_output else wanted
        return weigh(wire, request, self.name, limit)

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        raise NoModel("this one only weighs")

    async def aclose(self) -> None:
        pass


class NeutralScales(Scales):
    """For a model that has no wire, or one that is not known here."""

    is_exact = False

    def __init__(self, name: str, window: int, max_output: int) -> None:
        self.name, self.window, self.max_output = name, window, max_output

    def weigh(self, request: Request, model: str = "") -> Weights:
        return weigh_neutrally(request, self.name)


def scales_of(
    options: Options, settings: Settings, environ: Mapping[str, str], reply: Replied | None
) -> Scales:
    """Of the model that is named, else of the one that gave the answer, else of the usual one."""
    known = known_models(settings)
    named = options.model if isinstance(options.model, str) else ""
    author = reply.provider if reply is not None and not named else ""
    if reply is not None and not named:
        if not author:  # it was behind no wire
            return _unknown(reply.model, settings)
        wanted = f"{author.partition(' at ')[0]}/{reply.model}"
    else:
        wanted = names_in_use(options, settings, environ)[0]
    if wanted == "embedded" or wanted.startswith("scripted:"):
        return _unknown(wanted, settings)
    there = _at_its_address(author, environ, known)
    for place in (there, _with_keys(there, known)):
        try:
            choice = choose(wanted, place, known)
        except (NoModel, BadInput):
            continue
        if is_small(choice.model, settings.profile, choice.traits.profile):
            break  # what it is sent is made from the request, and much shorter
        wishes = wishes_for(choice, wishes_of(options, settings, environ), choice, settings)
        return Scales(choice, wishes, _with_keys(place, known))
    return _unknown(reply.model if reply is not None else wanted, settings)


def _unknown(model: str, settings: Settings) -> Scales:
    facts = facts_of(settings)(model)
    return NeutralScales(model, facts.window, facts.max_output)


def _at_its_address(author: str, environ: Mapping[str, str], known: Catalog) -> Mapping[str, str]:
    """Where the answer came from, which decides on the wire with some providers."""
    provider, _, url = author.partition(" at ")
    facts = known.providers.get(provider)
    if facts is None or not url or not facts.base_url_from:
        return environ
    return {**environ, facts.base_url_from[0]: url}


def _with_keys(environ: Mapping[str, str], known: Catalog) -> Mapping[str, str]:
    """Nobody is asked, so any key will do."""
    lacking = {"ANTHROPIC_VERTEX_PROJECT_ID": NO_KEY}
    for facts in known.providers.values():
        lacking |= dict.fromkeys((*facts.key_from, *facts.token_from)[:1], NO_KEY)
    return {**lacking, **environ}
