"""What stands in a command's text for what the user wrote behind its name. What was put in is not
looked at again.

`$ARGUMENTS` is all of it, `$ARGUMENTS[N]` and `$N` a word, `$name` the word that the head calls so.
Files of today count words from 0, older ones from 1: a text that uses `$0`, or the form with
brackets, which is of today, counts from 0; any other from 1.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

_NUMBER = r"\d{1,2}(?!\w|\.\d)"  # not what a price is written like
_FROM_ZERO = re.compile(r"\$0(?!\w|\.\d)|\$ARGUMENTS\[\d{1,2}\]")
_PLACE = re.compile(
    rf"\$(?:ARGUMENTS\[(?P<at>\d{{1,2}})\]|(?P<all>ARGUMENTS)(?!\w)|(?P<number>{_NUMBER})"
    r"|\{(?P<variable>[A-Z_]+)\}|(?P<name>[^\W\d]\w*))"
)


class Given(Struct, frozen=True):
    """What was written behind a command's name, and what else its text may ask for."""

    text: str
    words: tuple[str, ...]
    names: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    first: int = 1
    """The number of the first word."""

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""


def given(
    body: str, text: str, names: tuple[str, ...] = (), variables: Mapping[str, str] = {}
) -> Given:
    first = 0 if _FROM_ZERO.search(body) else 1
    return Given(text.strip(), words_of(text), names, variables, first)


def words_of(text: str) -> tuple[str, ...]:
    """As a shell would part them; where quotes do not close, at blanks."""
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def takes_arguments(body: str, names: tuple[str, ...]) -> bool:
    """Whether there is a place for them at all."""
    for match in _PLACE.finditer(body):
        if match["at"] or match["all"] or match["number"] or match["name"] in names:
            return True
    return False


def filled(text: str, what: Given) -> str:
    def value(match: re.Match[str]) -> str:
        if match["all"]:
            return what.text
        if number := match["at"] or match["number"]:
            return what.word(int(number) - what.first)
        if (variable := match["variable"]) is not None:
            return what.variables.get(variable, match[0])
        name = match["name"]
        return what.word(what.names.index(name)) if name in what.names else match[0]

    return _PLACE.sub(value, text)
