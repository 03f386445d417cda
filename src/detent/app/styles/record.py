"""An output style as data."""

from typing import Literal

from msgspec import Struct

from detent.context.prompt.facts import Style

Whose = Literal["managed", "project", "user", "built-in"]


class OutputStyle(Struct, frozen=True):
    name: str
    description: str = ""
    text: str = ""
    """What the model is told; empty for the usual style."""
    keeps_coding: bool = True
    """The prompt's own words on how to work with code stay beside it."""
    source: Whose = "built-in"
    path: str = ""

    @property
    def for_prompt(self) -> Style | None:
        return Style(self.name, self.text, self.keeps_coding) if self.text else None


class Styles(Struct, frozen=True):
    found: tuple[OutputStyle, ...]
    """Each name once; built-in ones first."""
    notices: tuple[str, ...] = ()

    def named(self, name: str) -> OutputStyle | None:
        wanted = key_of(name)
        return next((style for style in self.found if key_of(style.name) == wanted), None)


def key_of(name: str) -> str:
    """People write `Explanatory` and `explanatory`."""
    return name.strip().casefold()
