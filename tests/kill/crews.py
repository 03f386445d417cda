"""A session that sets others to work, and the model that speaks for all of them.

Each of them has a mark in its prompt, and another that it says when it is done. Whoever waits for
it goes by what is shown: an answer that was told is not asked for again, one that was cut off goes
on, and one that nobody knows of is begun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from detent.testing import Call, Reply, Say, call, reply
from detent.types import content
from detent.types.messages import Message, Request

from .stories import (
    MARK,
    STORIES,
    Part,
    Place,
    Story,
    Turn,
    adds,
    counts,
    edits,
    reads,
    says,
    writes,
)

GOES_ON = re.compile(r"`resume` (agent_\w+)")
AT_WORK = re.compile(r"The agent (agent_\w+) works in the background")
STANDS = re.compile(r"(agent_\w+) \([^)]*(@k\d+@)[^)]*\)(?: has ended)?: (\w+)")
GROUP = re.compile(r'"resume_group_id": "([^"]+)"')


@dataclass(frozen=True)
class Kid:
    """Somebody at work."""

    mark: str
    answer: str
    steps: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True)
class Hires(Part):
    """Several at once: `Agent` for each, in the background or not, or one `delegate_agent`."""

    kids: tuple[Kid, ...] = ()
    how: str = ""


def hires(how: str, *kids: Kid) -> Hires:
    return Hires(kids[0].answer, lambda place: Say(""), kids=kids, how=how)


def tasks(mark: str) -> Part:
    return Part(mark, lambda place: call("TaskCreate", subject=f"Do {mark}", description="It."))


class Known:
    """What a conversation tells of those that it has set to work, the latest word of each."""

    def __init__(self, messages: list[Message]) -> None:
        self.marks: set[str] = set()
        self.cut: dict[str, str] = {}
        """Those that could go on, by mark: their ids."""
        self.at_work: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        """Calls that could go on, by the marks of whom they set to work."""
        self._calls: dict[str, list[str]] = {}
        for message in messages:
            for block in message.content:
                self._take(block)

    def _take(self, block: object) -> None:
        match block:
            case content.Call(id=call_id, arguments=arguments):
                self.marks |= set(MARK.findall(arguments))
                kids = [mark for mark in MARK.findall(arguments) if mark.startswith("@k")]
                again = [mark for mark, group in self.groups.items() if group in arguments]
                self._calls[call_id] = kids or again
            case content.Result(call_id=call_id, content=parts):
                text = "".join(part.text for part in parts if isinstance(part, content.Text))
                self._heard(text, self._calls.get(call_id, []))
            case content.Text(text=text):
                self._heard(text, [])

    def _heard(self, text: str, kids: list[str]) -> None:
        self.marks |= set(MARK.findall(text))
        for kid in kids:
            if found := AT_WORK.search(text):
                self.at_work[kid] = found[1]
                self.cut.pop(kid, None)
            if "to a new" in text:
                self.cut.pop(kid, None)
            if found := GOES_ON.search(text):
                self.cut[kid] = found[1]
            if found := GROUP.search(text):
                self.groups[kid] = found[1]
        for agent, kid, state in STANDS.findall(text):
            if state in ("interrupted", "stopped"):
                self.cut[kid] = agent
                self.at_work.pop(kid, None)


def speak(story: Story, place: Place, request: Request) -> Reply:
    known = Known(list(request.messages))
    first = request.messages[0].content
    asked = {mark for block in first if isinstance(block, content.Text)
             for mark in MARK.findall(block.text)}  # fmt: skip
    kid = next((kid for kid in kids_of(story) if kid.mark in asked), None)
    if kid is not None:
        return _next(kid.steps, known, place) or reply(f"It is done: {kid.answer}.")
    for turn in story.turns:
        if turn.mark in known.marks and (step := _next(turn.steps, known, place)):
            return step
    return reply("All of it is done.")


def _next(steps: tuple[tuple[Part, ...], ...], known: Known, place: Place) -> Reply | None:
    for step in steps:
        if missing := [made for part in step for made in _missing(part, known, place)]:
            return reply(*missing, input=100, output=20)
    return None


def _missing(part: Part, known: Known, place: Place) -> Iterator[Call | Say]:
    if not isinstance(part, Hires):
        if part.mark not in known.marks:
            yield part.make(place)
        return
    missing = [kid for kid in part.kids if kid.answer not in known.marks]
    if part.how == "group" and missing:
        yield _group(part, known)
        return
    for kid in missing:
        yield _hired(kid, known, is_background=part.how == "background")


def _group(part: Hires, known: Known) -> Call:
    if group := known.groups.get(part.kids[0].mark):
        return call("delegate_agent", resume_group_id=group)
    children = [
        {"prompt": f"Do what {kid.mark} says.", "name": f"kid{number}",
         "depends_on": [f"kid{number - 1}"] if number else []}
        for number, kid in enumerate(part.kids)
    ]  # fmt: skip
    return call("delegate_agent", groups=[{"children": children}])


def _hired(kid: Kid, known: Known, *, is_background: bool) -> Call:
    if agent := known.at_work.get(kid.mark):
        return call("TaskOutput", task_id=agent, block=True)
    given = {"description": kid.mark, "prompt": f"Do what {kid.mark} says."}
    if agent := known.cut.get(kid.mark):
        given |= {"prompt": f"Go on with {kid.mark}.", "resume": agent}
    return call("Agent", {**given, "run_in_background": is_background})


def kids_of(story: Story) -> list[Kid]:
    """All of them, also those whom others of them set to work."""
    steps = [step for turn in story.turns for step in turn.steps]
    found: list[Kid] = []
    while steps:
        for part in steps.pop():
            if isinstance(part, Hires):
                found += part.kids
                steps += [step for kid in part.kids for step in kid.steps]
    return found


LOWEST = Kid("@k1@", "@a1@", ((adds("@n1@"),),))
FIRST = Kid("@k2@", "@a2@", ((adds("@n2@"), writes("@w1@", "one.txt", "1\n")), (adds("@n3@"),)))
SECOND = Kid("@k3@", "@a3@", ((counts("@c1@"), tasks("@t1@")), (hires("", LOWEST),)))
BESIDE = Kid("@k4@", "@a4@", ((adds("@n4@"),), (counts("@c2@", "sleep 0.02"),)))
BEFORE = Kid("@k5@", "@a5@", ((adds("@n5@"),),))
BEHIND = Kid("@k6@", "@a6@", ((reads("@f1@", "a.txt"),), (edits("@e1@", "a.txt", "alpha"),)))

CREW = Story(
    "crew",
    (
        Turn("@p1@", ((says("@s1@"), hires("background", BESIDE)), (hires("", FIRST, SECOND),),
                      (hires("group", BEFORE, BEHIND),), (adds("@n6@"),))),
        Turn("@p2@", ((hires("", Kid("@k7@", "@a7@", ((adds("@n7@"),),))),),)),
    ),
    speak=speak,
)  # fmt: skip
"""Three levels, side by side, in the background and one behind the other."""

ALL = {**STORIES, CREW.name: CREW}
