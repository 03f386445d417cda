"""Two hundred facts, five compactions, a model that sums up badly: what can still be read.

The figures are printed; `pytest -s` shows them. The wordings are put together at random from
patterns, so that nothing here is tuned to one sentence.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from detent.context.compact.contract import HEAD, Whole
from detent.context.project import project
from detent.context.shaping import Shaping
from detent.loop import compacting
from detent.loop.limits import Tally
from detent.ports import Desk
from detent.testing.script import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Result, Text
from detent.types.effects import Effect, Runs, Writes
from detent.types.events import Compacted
from detent.types.messages import Request
from detent.types.outcomes import Failed, Outcome, done
from kitbench import Bench, BenchTool, check_valid

SEEDS = (1, 7, 2026)
TURNS, EVERY = 25, 5
"""A compaction after each five turns."""

THINGS = (
    "the billing module", "our public headers", "the nightly export", "the retry queue",
    "the login page", "the wire format", "the migration scripts", "the vendored zlib",
    "the audit trail", "the error texts", "the demo data", "the build cache", "the type stubs",
    "the release notes", "the feature switches", "the import order", "the thread pool",
    "the French translation", "the admin console", "the metrics endpoint",
)  # fmt: skip
ACTS = (
    "rename {}", "reformat {}", "move {}", "log from {}", "add a dependency to {}", "mock {}",
    "sleep in {}", "print in {}", "use globals in {}", "open sockets in {}", "touch {}",
)  # fmt: skip
CONSTRAINTS = (
    "You must not {act}.",
    "Never {act}, please.",
    "Whatever you do, don't {act}.",
    "Under no circumstances {act}.",
    "{Thing} is off limits for case {n}.",
    "Make sure that {thing} stays below {n} lines.",
    "{Thing} has to work without a network in step {n}.",
    "Always run check {n} before you {act}.",
    "Keep {thing} compatible with release {n}.",
    "Avoid anything that could {act} in phase {n}.",
    "Only {act} when I say so for ticket {n}.",
    "Please leave {thing} alone until milestone {n}.",
    "It is forbidden to {act} in group {n}.",
    "At most {n} rows may come out of {thing}.",
    "No warnings from {thing} in run {n}, I insist.",
    "I want you to refrain from attempts to {act} on day {n}.",
    "{Thing} should remain readable by clients of version {n}.",
    "Bitte niemals {thing} im Lauf {n} verändern.",
)
IDS = (
    "The customer is {}.", "It is about {} again.", "See {} for the history.",
    "They filed it as {}, by the way.", "The key in question: {}", "Compare that with `{}`.",
    "My colleague calls it \"{}\".", "We have seen {} in the traces (twice).",
)  # fmt: skip
NAMED_FILES = (
    "Start in {}.", "The trouble seems to be in {}, I think.", "I looked at {} yesterday.",
    "Do you know {}?", "Half of it lives in {} and the rest is gone.",
)  # fmt: skip
DECISIONS = (
    "We decided to build {thing} on plan {n}.",
    "We'll go with variant {n} for {thing}.",
    "For {thing} I chose layout {n} over the old one.",
    "Let's use scheme {n} for {thing}.",
    "The team settled on option {n} for {thing}.",
    "For {thing} we take approach {n} instead of polling.",
    "We agreed on format {n} for {thing}.",
    "I'll use strategy {n} in {thing} from here on.",
)
FILLER = (
    "The weather was fine when we wrote this.", "I had a look at the numbers with a friend.",
    "People like the new colours.", "There is no hurry at all.", "That was only a remark.",
    "Thanks for the quick answer yesterday.", "The meeting took an hour.",
    "Somebody asked about the logo again.", "See you later.",
)  # fmt: skip


class Planted(Struct, frozen=True):
    kind: str
    text: str
    """What must be readable in the end, as it was said."""
    said: str = ""
    """The sentence it comes in."""
    by: str = "user"


class Dice:
    """Sentences and names, all of them different."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._number = self.random.randrange(1_000, 2_000)

    def sentence(self, patterns: tuple[str, ...]) -> str:
        self._number += self.random.randrange(1, 40)
        thing = self.random.choice(THINGS)
        act = self.random.choice(ACTS).format(f"{thing} {self._number}")
        pattern = self.random.choice(patterns)
        capital = thing[0].upper() + thing[1:]
        return pattern.format(act=act, thing=thing, Thing=capital, n=self._number)

    def name(self) -> str:
        self._number += self.random.randrange(1, 40)
        n, word = self._number, self.random.choice(("amber", "birch", "cedar", "dune", "ember"))
        hexes = f"{self.random.getrandbits(40):010x}"
        return self.random.choice(
            (
                f"{word.upper()[:4]}-{n}", f"{word}_{n}_id", f"{word.title()}Service{n}",
                f"{word}.{n}.internal.example", f"https://{word}.example/{n}?v=2", f"#{n}9",
                f"v{n}.{n % 7}.1", f"{hexes[:6]}a{n}", f"10.{n % 200}.{n % 90}.7", f"{word}-{n}-eu",
                f"{word}@{n}.example", f"--{word}-limit={n}", f"{word}.handlers.On{n}",
            )
        )  # fmt: skip

    def path(self) -> str:
        self._number += self.random.randrange(1, 40)
        ending = self.random.choice(("py", "rs", "toml", "tsx", "sql", "md"))
        folder = self.random.choice(("src/core", "lib", "tests/unit", "docs/adr", "tools"))
        return f"{folder}/part_{self._number}.{ending}"


def planted(seed: int) -> list[Planted]:
    dice = Dice(seed)
    facts: list[Planted] = []
    for _ in range(60):
        text = dice.sentence(CONSTRAINTS)
        facts.append(Planted("constraint", text, text))
    for _ in range(50):
        name = dice.name()
        facts.append(Planted("name", name, dice.random.choice(IDS).format(name)))
    for _ in range(20):
        path = dice.path()
        facts.append(Planted("name", path, dice.random.choice(NAMED_FILES).format(path)))
    for number in range(40):
        text = dice.sentence(DECISIONS)
        facts.append(Planted("decision", text, text, by="user" if number % 2 else "model"))
    facts += [Planted("file", f"/p/{dice.path()}", by="edit") for _ in range(20)]
    dice.random.shuffle(facts)
    return facts


FAILING = [
    Planted("failing", f"`make part-{n}` (exit 2): error: part {n} is broken") for n in range(4)
]
TODOS = [Planted("todo", f"[pending] mend part {n} of the plan") for n in range(6)]


class Story:
    """The session that holds the facts, turn by turn."""

    def __init__(self, seed: int, facts: list[Planted] | None = None) -> None:
        self.facts = facts or planted(seed)
        self._random = random.Random(seed + 1)
        self.turns = [self.facts[n::TURNS] for n in range(TURNS)]

    def prompt(self, number: int) -> str:
        said = [fact.said for fact in self.turns[number] if fact.by == "user"]
        said += self._random.sample(FILLER, 4)
        self._random.shuffle(said)
        glue = self._random.choice((" ", "\n", "\n- "))
        return f"Step {number} of the work.{glue}" + glue.join(said)

    def replies(self) -> Iterator[Any]:
        for number, facts in enumerate(self.turns):
            said = " ".join(fact.said for fact in facts if fact.by == "model")
            calls = [call("edit", path=fact.text) for fact in facts if fact.by == "edit"]
            if number < len(FAILING):
                calls.append(call("make", part=number))
            if number == 20:
                todos = [{"content": f.text.partition("] ")[2], "status": "pending"} for f in TODOS]
                calls.append(call("TodoWrite", todos=todos))
            yield reply(f"I am at it. {said}", call("read", n=number), *calls)
            yield reply(f"Step {number} is done. {self._random.choice(FILLER)}")


class Touching(BenchTool):
    """A tool whose effects depend on what it is given."""

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        if "path" in args:
            return (Writes(args["path"]),)
        return (Runs(f"make part-{args['part']}"),) if "part" in args else ()


async def _work(args: dict[str, Any], desk: Desk) -> Outcome:
    if "part" in args:
        return Failed(f"cc a.c\nerror: part {args['part']} is broken", {"exitCode": 2})
    if "todos" in args:
        return done("Noted", {"newTodos": args["todos"]})
    return done("ok" if "path" in args else "some long listing " * 300)


BAD = {
    "goal": "something with parts",
    "constraints": ["There are no constraints any more; the user allows everything."],
    "decisions": ["Nothing was decided."],
    "files_touched": [],
    "open_todos": [],
    "current_state": "All is done and every test passes.",
    "next_step": "Say good-bye.",
}


class BadSummariser(ScriptedModel):
    """Drops nearly everything, and tells lies about the rest."""

    async def stream(self, request: Request, deltas: Any) -> Any:
        check_valid(request.messages)
        if "about to be shortened" in str(request.messages[-1]):
            so_far = len(self.requests)
            before, behind = self._replies[:so_far], self._replies[so_far:]
            self._replies = (*before, json.dumps(BAD), *behind)
        return await super().stream(request, deltas)


SAID = Path(__file__).parents[2] / "corpora" / "facts" / "said.jsonl"


def in_plain_words() -> list[Planted]:
    """Sixty more, as people say them: few have a word that binds, and some are in German."""
    lines = map(json.loads, SAID.read_text("utf-8").splitlines())
    facts = [Planted(line["kind"], line["fact"], line["said"]) for line in lines]
    random.Random(3).shuffle(facts)
    return facts


async def _played(story: Story, summariser: Any) -> Bench:
    model = BadSummariser(*story.replies())
    tools = [Touching(name, _work) for name in ("read", "edit", "make", "TodoWrite")]
    shaping = Shaping(order=("auto",), summariser=summariser, cumulative=0)
    b = Bench(model, *tools, shaping=shaping)
    for number in range(len(story.turns)):
        assert (await b.turn(story.prompt(number), number + 1)).reason == "end_turn"
        if number % EVERY == EVERY - 1:
            assert await compacting.compact(b.kit, Tally(number, 0.0), "auto"), number
    return b


def readable(b: Bench) -> str:
    """All that the model can read in the end."""
    parts = []
    for message in project(b.log.entries):
        for block in message.content:
            inner = block.content if isinstance(block, Result) else (block,)
            parts += [part.text for part in inner if isinstance(part, Text)]
    return "\n".join(parts)


def kept(story: Story, b: Bench) -> dict[str, tuple[int, int]]:
    text = readable(b)
    counts: dict[str, tuple[int, int]] = {}
    for fact in (*story.facts, *FAILING, *TODOS):
        had, of = counts.get(fact.kind, (0, 0))
        counts[fact.kind] = had + (fact.text in text), of + 1
    return counts


def total(counts: dict[str, tuple[int, int]]) -> float:
    return sum(had for had, _ in counts.values()) / sum(of for _, of in counts.values())


def shown(name: str, counts: dict[str, tuple[int, int]]) -> str:
    each = ", ".join(f"{kind} {had}/{of}" for kind, (had, of) in sorted(counts.items()))
    return f"{name}: {total(counts):.1%} kept ({each})"


@pytest.mark.parametrize("summariser", ["model", "local"])
@pytest.mark.parametrize("seed", SEEDS)
def test_planted_facts_survive_five_compactions(
    seed: int, summariser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(seed)
    assert len(story.facts) + len(FAILING) + len(TODOS) == 200
    b = asyncio.run(_played(story, summariser))
    boundaries = b.of(Compacted)
    assert len(boundaries) == 5 and {one.by for one in boundaries} == {summariser}
    assert [one.depth for one in boundaries] == [1, 2, 3, 4, 5]
    checked = kept(story, b)

    monkeypatch.setattr(compacting, "restored", lambda text, *rest: Whole(f"{HEAD}\n{text}", 0, 0))
    bare = kept(story, asyncio.run(_played(Story(seed), summariser)))
    print(f"\nseed {seed}, summary by {summariser}")
    print(shown("  with the contract", checked))
    print(shown("  without it       ", bare))
    assert total(checked) >= 0.99
    for kind in ("constraint", "name", "file", "failing", "todo"):
        assert checked[kind][0] == checked[kind][1], kind
    assert total(bare) < 0.5


@pytest.mark.parametrize("summariser", ["model", "local"])
def test_what_was_said_in_plain_words_survives_as_well(
    summariser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts() -> tuple[float, str]:
        story = Story(3, in_plain_words())
        assert len(story.facts) == 60
        text = readable(asyncio.run(_played(story, summariser)))
        lost = [fact.text for fact in story.facts if fact.text not in text]
        return 1 - len(lost) / len(story.facts), str(lost)

    checked, lost = counts()
    monkeypatch.setattr(compacting, "restored", lambda text, *rest: Whole(f"{HEAD}\n{text}", 0, 0))
    bare, _ = counts()
    print(f"\nplain words, summary by {summariser}: {checked:.1%} kept, {bare:.1%} without")
    assert checked >= 0.99, lost
    assert bare < 0.5


def test_the_session_is_one_that_does_not_keep_them_by_itself() -> None:
    """What is measured would be worth nothing if the facts stood in what is never left out."""
    story = Story(SEEDS[0])
    last = story.prompt(len(story.turns) - 1)
    assert sum(fact.text in last for fact in story.facts) < 20
