"""What is known of models and providers, as data: `catalog.json` beside this file."""

import os
import re

import msgspec
from msgspec import Struct

from detent.types.usage import Usage

Price = tuple[float, float, float, float]
"""US dollars per million tokens: input, output, cache read, cache write."""


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

    def cost(self, usage: Usage) -> float | None:
        """None when the price is unknown: an unknown price is not a price of zero."""
        if self.price is None:
            return None
        prompt = usage.input + usage.cache_read + usage.cache_write
        price = self.above.price if self.above and prompt > self.above.tokens else self.price
        counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
        return sum(count * each for count, each in zip(counts, price, strict=True)) / 1_000_000


class ProviderFacts(Struct, frozen=True):
    wire: str
    base_url: str
    model: str
    """Used when nobody names one; empty where only the user can know."""
    base_url_from: tuple[str, ...] = ()
    key_from: tuple[str, ...] = ()
    """Variables whose value is sent as `x-api-key`."""
    token_from: tuple[str, ...] = ()
    """Variables whose value is sent as a bearer token."""
    model_from: tuple[str, ...] = ()


class Catalog(Struct, frozen=True):
    date: str
    aliases: dict[str, str]
    providers: dict[str, ProviderFacts]
    models: dict[str, ModelFacts]

    def facts(self, model: str) -> ModelFacts:
        """Exact name, else without the date behind it; an unknown model gets safe assumptions."""
        name = model.rpartition("/")[2]
        known = self.models.get(name)
        if known is None:
            known = self.models.get(re.sub(r"(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|@.*)$", "", name))
        return known or ModelFacts()


_loaded: Catalog | None = None


def catalog() -> Catalog:
    global _loaded
    if _loaded is None:
        path = os.path.join(os.path.dirname(__file__), "catalog.json")
        with open(path, "rb") as file:
            _loaded = msgspec.json.decode(file.read(), type=Catalog)
    return _loaded
