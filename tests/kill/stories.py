"""What the scripted session does, and the model that does it.

A story is made of turns, a turn of steps, a step of parts: each a text or a call with a mark of
its own. The model goes by what it is shown, as real ones do: it sends the first step of which it
has not seen every mark, and of that the parts that it has not seen. So an effect whose call is
forgotten is done twice, and a call that is told of but was never made is missing in the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from detent.context.prompt import section
from detent.testing import Call, Reply, Say, call, reply
from detent.types.codec import encode
from detent.types.messages import Request

MARK = re.compile(r"@[a-z]+\d+@")
SUMMARISING = section("summary")[:200]
LARGE = 20_000
"""Lines of an output that does not fit into a result."""


@dataclass(frozen=True)
class Place:
    """Where a run of a story works."""

    work: str
    counter: str
    """Outside of the work folder: every effect of a command or tool adds a line to it."""


Made = Callable[[Place], Call | Say]


@dataclass(frozen=True)
class Part:
    mark: str
    make: Made
    counts: bool = False
    """Its effect is a line in the counter."""
    file: str = ""
    edit: Callable[[str | None], str | None] = lambda old: old
    """What it makes of that file; None where it cannot."""
    never: bool = False
    """Refused: it must not happen at all."""
    is_job: bool = False
    """It runs in the background, and may be ended before it did anything."""


@dataclass(frozen=True)
class Turn:
    mark: str
    steps: tuple[tuple[Part, ...], ...]
    steer: str = ""
    """Said while the turn runs."""
    input: int = 100
    """Tokens that each request of the turn reports."""
    tail: float = 0.0
    """Seconds between the last block of an answer and its end: its calls begin meanwhile."""

    @property
    def prompt(self) -> str:
        return f"Do what {self.mark} says."


Speak = Callable[["Story", Place, Request], Reply]


@dataclass(frozen=True)
class Story:
    name: str
    turns: tuple[Turn, ...]
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    budget: int = 0
    """Tokens of the whole session, where they are limited; then it does not come to its end."""
    compacts: bool = False
    undoes: bool = False
    """At the end, the last change is taken back and made again."""
    speak: Speak | None = None
    """What the model of the story says, where it is not the next step."""

    @property
    def parts(self) -> Iterator[Part]:
        """All of them, also those of whoever is set to work."""
        steps = [step for turn in self.turns for step in turn.steps]
        for step in steps:
            for part in step:
                yield part
                for kid in getattr(part, "kids", ()):
                    steps += kid.steps


def answer(story: Story, place: Place, request: Request) -> Reply:
    """The next step, by what the request shows."""
    if story.speak is not None:
        return story.speak(story, place, request)
    shown = encode([*request.messages]).decode()
    if json.dumps(SUMMARISING)[1:-1] in encode(request.messages[-1]).decode():
        seen = " ".join(sorted(set(MARK.findall(shown))))
        return reply(json.dumps({"goal": "the story", "current_state": seen}))
    return next_step(story, place, shown)


def next_step(story: Story, place: Place, shown: str) -> Reply:
    seen = set(MARK.findall(shown))
    for turn in story.turns:
        if turn.mark not in seen:
            break
        for step in turn.steps:
            missing = [part.make(place) for part in step if part.mark not in seen]
            if missing:
                return reply(*missing, input=turn.input, output=20, tail=turn.tail)
    return reply("All of it is done.", input=100, output=20)


def says(mark: str, more: str = "") -> Part:
    return Part(mark, lambda place: Say(f"I am at {mark}. {more}"))


def counts(mark: str, more: str = "true", **input: Any) -> Part:
    """A command whose effect is seen outside, with something before and behind it."""

    def made(place: Place) -> Call:
        return call("Bash", command=f"echo {mark} >> {place.counter}; {more}", **input)

    return Part(mark, made, counts=True, is_job="run_in_background" in input)


def adds(mark: str) -> Part:
    """The same by a tool in the agent's own process."""
    return Part(mark, lambda place: call("Add", mark=mark), counts=True)


def looks(mark: str, name: str) -> Part:
    return Part(mark, lambda place: call("Grep", pattern=mark, path=f"{place.work}/{name}"))


def reads(mark: str, name: str) -> Part:
    """The mark must be in the file."""
    return Part(mark, lambda place: call("Read", file_path=f"{place.work}/{name}"))


def writes(mark: str, name: str, text: str) -> Part:
    whole = f"{mark}\n{text}"
    return Part(
        mark,
        lambda place: call("Write", file_path=f"{place.work}/{name}", content=whole),
        file=name,
        edit=lambda old: whole,
    )


def edits(mark: str, name: str, old: str, tool: str = "Edit") -> Part:
    change = {"old_string": old, "new_string": f"{mark} was here"}

    def made(place: Place) -> Call:
        path = f"{place.work}/{name}"
        if tool == "MultiEdit":
            return call(tool, file_path=path, edits=[change])
        return call(tool, {"file_path": path, **change})

    def edit(text: str | None) -> str | None:
        return None if text is None or old not in text else text.replace(old, f"{mark} was here")

    return Part(mark, made, file=name, edit=edit)


def refused(mark: str) -> Part:
    def made(place: Place) -> Call:
        return call("Bash", command=f"touch {place.work}/forbidden {mark}")

    return Part(mark, made, never=True)


def changes_by_shell(mark: str, name: str) -> Part:
    def made(place: Place) -> Call:
        return call("Bash", command=f"printf '{mark}' > {place.work}/{name}")

    return Part(mark, made, file=name, edit=lambda old: mark)


FILES = {
    "a.txt": "@f1@\nalpha\nbeta\ngamma\n",
    "b.txt": "@f2@\none\ntwo\n",
    "c.txt": "@f3@\n" + "a line of a file\n" * 1_000,
}
"""What lies in the work folder at first; reading one shows its mark."""

TOOLS = Story(
    "tools",
    (
        Turn("@p1@", ((says("@s1@"), reads("@f1@", "a.txt"), reads("@f2@", "b.txt"),
                       reads("@f3@", "c.txt"), looks("@g1@", "c.txt")),
                      (edits("@e1@", "a.txt", "alpha"), writes("@w1@", "new.txt", "fresh\n")),
                      (adds("@n1@"), edits("@e2@", "b.txt", "two", "MultiEdit"), adds("@n2@")),
                      (refused("@r1@"),)), steer="Mind @q1@ too."),
        Turn("@p2@", ((edits("@e3@", "a.txt", "gamma"), adds("@n3@")), (says("@s2@"),))),
    ),
)  # fmt: skip

SHELL = Story(
    "shell",
    (
        Turn("@p1@", ((counts("@c1@"),),
                      (counts("@c2@", "sleep 30", run_in_background=True), counts("@c3@")),
                      (counts("@c4@", f"seq 1 {LARGE}"),))),
        Turn("@p2@", ((changes_by_shell("@h1@", "made.txt"), counts("@c5@")),)),
    ),
)  # fmt: skip

TALK = "This is a long way of saying it. " * 150

COMPACTION = Story(
    "compaction",
    (
        Turn("@p1@", ((says("@s1@", TALK), adds("@n1@")), (writes("@w1@", "one.txt", "1\n"),),
                      (says("@s2@", TALK), adds("@n2@"))), input=6_000),
        Turn("@p2@", ((says("@s3@", TALK), adds("@n3@"),),
                      (adds("@n4@"), writes("@w2@", "two.txt", "2\n")),
                      (adds("@n5@"),)), input=6_000),
    ),
    options={"auto_compact_input_tokens": 15_000},
    settings={"compaction": {"keep": 2}},
    compacts=True,
)  # fmt: skip

BUDGET = Story(
    "budget",
    (Turn("@p1@", tuple((adds(f"@n{n}@"),) for n in range(1, 40)), input=1_000),),
    budget=8_000,
)

EARLY = Story(
    "early",
    (
        Turn("@p1@", ((reads("@f1@", "a.txt"), adds("@n1@"), edits("@e1@", "a.txt", "alpha")),
                      (adds("@n2@"), counts("@c1@"), adds("@n3@")),
                      (writes("@w1@", "new.txt", "fresh\n"), adds("@n4@"), says("@s1@"))),
             tail=0.02),
    ),
)  # fmt: skip
"""Calls that have begun, and even ended, when the answer they are from is not yet in the log."""

UNDO = Story(
    "undo",
    (
        Turn("@p1@", ((reads("@f1@", "a.txt"), reads("@f2@", "b.txt")), (says("@s1@"),))),
        Turn("@p2@", ((edits("@e1@", "a.txt", "alpha"), writes("@w1@", "new.txt", "fresh\n")),
                      (edits("@e2@", "b.txt", "two"), changes_by_shell("@h1@", "made.txt")))),
    ),
    undoes=True,
)  # fmt: skip

STUBBORN = Story(
    "stubborn",
    (
        Turn("@p1@", ((counts("@c1@", "trap '' TERM HUP; (setsid sleep 300 &); sleep 300",
                              run_in_background=True),
                       counts("@c2@", "trap '' TERM HUP; sleep 0.1")),)),
    ),
)  # fmt: skip
"""Programs that do not want to go."""

COMMAND = Story(
    "command",
    (
        Turn("@p1@", ((says("@s1@"), reads("@f1@", "a.txt"), reads("@f2@", "b.txt")),
                      (counts("@c1@"), edits("@e1@", "a.txt", "alpha"),
                       counts("@c2@", "sleep 0.1"))), tail=0.01),
        Turn("@p2@", ((writes("@w1@", "new.txt", "fresh\n"), counts("@c3@")),)),
    ),
)  # fmt: skip
"""For the command itself, which has no tool of our own."""

STORIES = {story.name: story for story in (TOOLS, SHELL, COMPACTION, BUDGET, EARLY, UNDO, STUBBORN)}
