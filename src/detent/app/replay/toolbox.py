"""The tools of a replay do nothing: they come to what they came to."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Raw
from msgspec.json import decode

from detent.app.replay.calls import Calls, Past
from detent.app.replay.desk import RecordedDesks
from detent.app.replay.tape import Tape
from detent.loop.passage import CUT_SHORT
from detent.ports import BadArguments, Desk
from detent.tools.deferred import found_in
from detent.types.codec import ends_early
from detent.types.effects import Effect
from detent.types.events import Reminded, TurnEnded
from detent.types.messages import ToolSpec
from detent.types.outcomes import Cut, Outcome
from detent.types.running import Equipped

UNKNOWN = "There is no tool named"


class RecordedTools:
    def __init__(self, tape: Tape, equipped: Equipped, desks: RecordedDesks) -> None:
        self._specs = specs_in(equipped.tools)
        self._held = {spec.name: spec for spec in specs_in(equipped.terms.get("held") or "[]")}
        self._form: str = equipped.terms.get("form") or ""
        self._tape = tape
        self._desks = desks
        self.calls = Calls(tape, (), 0)
        """Of the turn at hand."""
        self.held: list[Past] = []
        """Calls that have run, and whose entry is not due yet; the oldest first."""

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def find(self, name: str) -> "RecordedTool | None":
        if any(fault.startswith(UNKNOWN) for fault in self.calls.faults_of(name)):
            return None
        return RecordedTool(self, name)

    def parse(self, name: str, arguments: str) -> Any:
        """The call itself; or, where an answer was written down instead of called, its value."""
        past = self.calls.asked(name, arguments)
        if past is None:
            return self._written() if name == self._form else Past("")
        if past.fault:
            text = past.fault
            raise BadArguments(
                text.removeprefix(f"{CUT_SHORT} ") if ends_early(arguments) else text
            )
        return past

    def _written(self) -> Any:
        """The turn ends with it, unless a hook makes it go on."""
        match self._tape.next:
            case TurnEnded(output=output) if output is not UNSET:
                return output
            case Reminded(source="stop hook"):
                return None
            case _:
                raise BadArguments("it was no answer")

    async def run(self, past: Past) -> Outcome:
        """Whoever is interrupted never ends; one that ends the turn may have to end early."""
        if past.ended is None or past.is_interrupted:
            self._desks.move(past.ended.cwd if past.ended else "")
            await self._tape.reach(None)
        assert past.ended is not None and past.ended_at is not None
        self.held.append(past)
        while past in self.held and self._tape.front < past.ended_at and not past.is_overtaken:
            await self._tape.moved()
        if past in self.held:
            self.held.remove(past)
        for name in found_in([past.ended]):
            if name in self._held:
                self._specs.append(self._held.pop(name))
        self._desks.move(past.ended.cwd)
        return past.ended.outcome


class RecordedTool:
    timeout = None

    def __init__(self, box: RecordedTools, name: str) -> None:
        self._box = box
        self._name = name
        self._past: Past | None = None

    @property
    def spec(self) -> ToolSpec:
        started = self._past.started if self._past else None
        name = started.name if started else self._name
        specs = (spec for spec in self._box.specs() if spec.name == name)
        return next(specs, ToolSpec(name, "", Raw(b"{}")))

    def parse(self, arguments: str) -> Any:
        found = self._box.parse(self._name, arguments)
        self._past = found if isinstance(found, Past) else None
        return found

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        started = args.started if isinstance(args, Past) else None
        return started.effects if started else ()

    def moves(self, args: Any) -> bool:
        return isinstance(args, Past) and args.ended is not None and bool(args.ended.cwd)

    async def run(self, args: Any, desk: Desk) -> Outcome:
        past = self._box.calls.of(desk.call_id)
        outcome = past.ended.outcome if past.ended else None
        if isinstance(outcome, Cut) and past.is_interrupted:
            so_far = outcome.text
            desk.cut_short(lambda: so_far)
        return await self._box.run(past)


def specs_in(text: str) -> list[ToolSpec]:
    return decode(text or "[]", type=list[ToolSpec])
