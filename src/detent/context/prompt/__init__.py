"""The system prompt: a list of sections, stable ones first, then what belongs to the session.

A section is a file: `NAME.md`, followed by a line for each thing that the facts name, or a module
where the text itself depends on them. A line that begins with names of tools in brackets is there
with one of these tools.
"""

import os
from collections.abc import Callable, Iterator
from typing import Literal

from detent.context.bounds import harmless_line
from detent.context.prompt.access import access_text
from detent.context.prompt.facts import Facts, Named, Style

BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
"""Between the two when people look at it; a request has two blocks instead."""
MOST_NAMED = 30
LONGEST_NAME = 80
LONGEST_LINE = 400
LONGEST_PLACE = 4_096
"""A path is of no use when it is cut."""

FOLDER = os.path.dirname(__file__)
LONGEST_TEXT = 16_384


class Section:
    def __init__(
        self,
        name: str,
        when: Callable[[Facts], object] = lambda facts: True,
        names: Callable[[Facts], tuple[Named, ...]] = lambda facts: (),
        *,
        group: Literal["stable", "dynamic"] = "stable",
        made: Callable[[Facts], str] | None = None,
        longest: int = LONGEST_LINE,
    ) -> None:
        """`when` says whether what it speaks of exists; `made` gives a text that is not on file."""
        self.name = name
        self.group = group
        self.when = when
        self._names = names
        self._made = made
        self._longest = longest

    def text(self, facts: Facts) -> str:
        if self._made is not None:
            return self._made(facts)
        return "\n".join((*self._fixed(facts), *self._listed(self._names(facts))))

    def _fixed(self, facts: Facts) -> Iterator[str]:
        for line in section(self.name).splitlines():
            if not line.startswith("["):
                yield line
                continue
            tools, _, text = line[1:].partition("] ")
            if facts.has(*tools.split()):
                yield text

    def _listed(self, things: tuple[Named, ...]) -> Iterator[str]:
        for thing in things[:MOST_NAMED]:
            about = harmless_line(thing.about, self._longest)
            yield f"- {harmless_line(thing.name, LONGEST_NAME)}{f': {about}' if about else ''}"
        if len(things) > MOST_NAMED:
            yield f"- and {len(things) - MOST_NAMED} more"


def _style_text(style: Style | None) -> str:
    """What the user chose stands in the place of our own words."""
    if style is None:
        return section("style")
    return f"# Output style: {harmless_line(style.name, LONGEST_NAME)}\n{style.text}"


def _wherever(names: Callable[[Facts], tuple[Named, ...]], name: str) -> Section:
    """There as soon as one thing is."""
    return Section(name, names, names)


SECTIONS = (
    # How it behaves
    Section("identity"),
    Section("fundamentals"),
    Section("tasks", lambda facts: facts.codes),
    # Tools
    Section("tools", lambda facts: facts.access.tools),
    Section("code", lambda facts: facts.has("LSP")),
    _wherever(lambda facts: facts.agents, "agents"),
    # What else there is
    _wherever(lambda facts: facts.plugins, "plugins"),
    _wherever(lambda facts: facts.servers, "mcp"),
    _wherever(lambda facts: facts.remotes, "remote"),
    Section("search", lambda facts: facts.has("WebSearch"), lambda facts: facts.engines),
    _wherever(lambda facts: facts.accounts, "accounts"),
    # What the user has laid down
    _wherever(lambda facts: tuple(map(Named, facts.access.hooks)), "hooks"),
    _wherever(lambda facts: facts.configuration, "configuration"),
    # Working together
    Section("asking", lambda facts: facts.has("AskUserQuestion")),
    Section("planning", lambda facts: facts.has("EnterPlanMode")),
    Section("tracking", lambda facts: facts.has("TodoWrite"), lambda facts: facts.workflows),
    _wherever(lambda facts: facts.teams, "teams"),
    # How it speaks
    Section("style", made=lambda facts: _style_text(facts.style)),
    Section("efficiency", lambda facts: facts.codes),
    # The session
    Section("permissions", group="dynamic", made=lambda facts: access_text(facts.access)),
    Section(
        "environment",
        names=lambda facts: facts.around.named,
        group="dynamic",
        longest=LONGEST_PLACE,
    ),
)


def rendered(facts: Facts, *, dynamic_only: bool = False) -> Iterator[tuple[Section, str]]:
    """Those that have something to say, with what they say."""
    for one in SECTIONS:
        if one.when(facts) and (one.group == "dynamic" or not dynamic_only):
            yield one, one.text(facts)


def build_prompt(
    facts: Facts, *, custom: str | None = None, override: str = "", append: str = ""
) -> tuple[str, ...]:
    """`override` replaces everything, `custom` the stable sections only. Where one of them holds
    the boundary itself, what follows it belongs to the session."""
    if override:
        return _filled(*_parted(override))
    stable, dynamic = list[str](), list[str]()
    if custom is not None:
        stable, dynamic = [[part] for part in _parted(custom)]
    for one, text in rendered(facts, dynamic_only=custom is not None):
        (dynamic if one.group == "dynamic" else stable).append(text)
    return _filled("\n\n".join(stable), "\n\n".join(filter(str.strip, (*dynamic, append))))


def shown(prompt: tuple[str, ...]) -> str:
    """As people read it."""
    return f"\n\n{BOUNDARY}\n\n".join(prompt)


def _parted(text: str) -> tuple[str, str]:
    before, boundary, after = text.partition(BOUNDARY)
    return (before.strip(), after.strip()) if boundary else (text, "")


def _filled(*parts: str) -> tuple[str, ...]:
    """Providers refuse a block of nothing but space."""
    texts = (part.replace(BOUNDARY, "") for part in parts)
    return tuple(text for text in texts if text.strip())


def section(name: str) -> str:
    """A text on file. Read plainly: a dozen of them are part of every start."""
    file = os.open(os.path.join(FOLDER, f"{name}.md"), os.O_RDONLY)
    try:
        return os.read(file, LONGEST_TEXT).decode().strip()
    finally:
        os.close(file)
