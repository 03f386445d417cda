"""What is known of models and providers, as data: `catalog.json` beside this file."""

import os
import re
from typing import Literal

import msgspec
from msgspec import Struct

from detent.types.usage import Usage

Price = tuple[float, float, float, float]
"""US dollars per million tokens: input, output, cache read, cache write."""
AN_HOUR = 2
"""What is kept for an hour costs so many times its input; the one provider that has it says so."""


class Above(Struct, frozen=True):
    """Dearer prices beyond so many input tokens in one request."""

    tokens: int
    price: Price


class ModelFacts(Struct, frozen=True):
    window: int = 128_000
    max_output: int = 0
    """0 is unknown."""
    price: Price | None = None
    above: Above | None = None
    traits: "Traits | None" = None
    """Overrides what the families say of the name."""

    def cost(self, usage: Usage) -> float | None:
        """None when the price is unknown: an unknown price is not a price of zero."""
        if self.price is None:
            return None
        prompt = usage.input + usage.cache_read + usage.cache_write
        price = self.above.price if self.above and prompt > self.above.tokens else self.price
        hour = min(usage.cache_write_1h, usage.cache_write)
        counts = (usage.input, usage.output, usage.cache_read, usage.cache_write - hour)
        cost = sum(count * each for count, each in zip(counts, price, strict=True))
        return (cost + hour * AN_HOUR * price[0]) / 1_000_000


class Traits(Struct, frozen=True):
    """How models of a family want to be spoken to."""

    thinks: Literal["", "adaptive", "budget", "effort"] = ""
    wire: str = ""
    """The wire that serves them best at the provider's own address."""
    quirks: tuple[str, ...] = ()
    profile: str = ""
    """`small`: a short prompt and answers held to a schema."""
    task_budget: bool = False
    """It can be told what it may take for all of its work."""


class Family(Traits, frozen=True):
    match: tuple[str, ...] = ()
    """Patterns of names, `*` for anything."""


class ProviderFacts(Struct, frozen=True):
    wire: str
    base_url: str = ""
    model: str = ""
    """Used when nobody names one; empty where only the user can know."""
    base_url_from: tuple[str, ...] = ()
    path: str = ""
    """Behind an address that the user gave."""
    key_from: tuple[str, ...] = ()
    """Variables whose value is sent in `key_header`."""
    key_header: str = "x-api-key"
    token_from: tuple[str, ...] = ()
    """Variables whose value is sent as a bearer token."""
    model_from: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """A bare model name that begins so is meant for this provider."""
    names_with_slash: bool = False
    """Its own model names hold a slash, so one in front of a name need not be a provider."""
    own_wire: str = ""
    """Used at the provider's own address, for models whose family says so."""
    headers: dict[str, str] = {}
    quirks: tuple[str, ...] = ()
    replay: Literal["never", "tool_turns", "always"] = "tool_turns"
    key_helper: str = ""
    """A command of the user's that prints the key."""
    cloud: bool = False
    """Reached by the identity of a cloud account, not by a key."""
    oauth: dict[str, str] = {}

    @property
    def variables(self) -> tuple[str, ...]:
        """All that may hold its key."""
        return (*self.key_from, *self.token_from)


class Catalog(Struct, frozen=True):
    date: str
    aliases: dict[str, str]
    providers: dict[str, ProviderFacts]
    models: dict[str, ModelFacts]
    traits: tuple[Family, ...] = ()

    def traits_of(self, model: str, provider: str = "") -> Traits:
        """What the first family that knows the name says; nothing is known of a stranger."""
        if (own := self.facts(model, provider).traits) is not None:
            return own
        name = _plain(model).lower()
        return next((each for each in self.traits if _matches(each, name)), Traits())

    def facts(self, model: str, provider: str = "") -> ModelFacts:
        """What the user says of a provider's model, else what we know of the name.

        Without the date behind it, if need be; an unknown model gets safe assumptions.
        """
        name = _plain(model)
        for key in (f"{provider}/{model}", model, name):
            if (known := self.models.get(key)) is not None:
                return known
        bare = re.sub(r"(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|@.*)$", "", name)
        return self.models.get(bare, ModelFacts())


def _plain(model: str) -> str:
    """Without the maker in front of it, and without the version that one cloud puts behind."""
    name = model.rpartition("/")[2].rpartition("anthropic.")[2]
    return re.sub(r"-v\d+(:\d+)?$", "", name) if "-v" in name else name


def _matches(family: Family, name: str) -> bool:
    return any(_fits(name, pattern) for pattern in family.match)


def _fits(name: str, pattern: str) -> bool:
    """By hand: compiling patterns would cost every start a millisecond."""
    first, *others = pattern.split("*")
    if not name.startswith(first):
        return False
    place = len(first)
    for part in others:
        place = name.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return pattern.endswith("*") or place == len(name)


_loaded: Catalog | None = None


def catalog() -> Catalog:
    global _loaded
    if _loaded is None:
        path = os.path.join(os.path.dirname(__file__), "catalog.json")
        with open(path, "rb") as file:
            _loaded = msgspec.json.decode(file.read(), type=Catalog)
    return _loaded
