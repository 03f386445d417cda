"""Every event x every way a hook command can end, with real processes: what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app.agents.tasks import SharedTasks
from detent.app.hooking import say_goodbye
from detent.context.shaping import Shaping
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.events import AgentStarted, AgentStopping, InstructionsLoaded
from detent.gate.hooks.kinds import KINDS
from detent.gate.hooks.moments import feedback
from detent.loop.limits import Limits
from detent.ports import Answer, Desk
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.agents import Task, TaskChanged
from detent.types.content import Text
from detent.types.errors import ModelFailure
from detent.types.events import CallEnded, Compacted, TurnEnded
from detent.types.messages import Assistant, Reply, Request
from detent.types.outcomes import Failed, Outcome, Refused, done, text_of
from hookbench import Hooked, saying, special
from kitbench import WRITES, Approving, Bench, BenchTool

NO = "the hook says no"
MORE = "mind the gap"
CHANGED = {"n": 77}

WAYS = ("exit 0", "exit 2", "exit 1", "timeout", "missing", "bad JSON", "deny", "modify", "context")

MATRIX = {
    #                      0   2   1  time miss bad deny mod ctx
    "PreToolUse":         ". B r r r r B M C",
    "PostToolUse":        ". B r r r r B M C",
    "PostToolUseFailure": ". B r r r r B . C",
    "PostToolBatch":      ". B r r r r B . C",
    "PermissionRequest":  ". r r r r r B M .",
    "PermissionDenied":   ". r r r r r r . .",
    "UserPromptSubmit":   ". B r r r r B . C",
    "Stop":               ". B r r r r B . C",
    "StopFailure":        ". r r r r r r . .",
    "SubagentStart":      ". r r r r r r . C",
    "SubagentStop":       ". B r r r r B . C",
    "TaskCreated":        ". B r r r r B . .",
    "TaskCompleted":      ". B r r r r B . .",
    "SessionStart":       ". r r r r r r . C",
    "SessionEnd":         ". r r r r r r . .",
    "PreCompact":         ". B r r r r B . .",
    "PostCompact":        ". r r r r r r . .",
    "InstructionsLoaded": ". r r r r r r . .",
    "Notification":       ". r r r r r r . .",
}  # fmt: skip
"""`.` goes on and nobody is bothered; r goes on and is reported; B is blocked, with the reason
where it belongs; M the change counts; C the model reads the context."""

CELLS = [
    pytest.param(event, way, expected, id=f"{event}-{way}")
    for event, row in MATRIX.items()
    for way, expected in zip(WAYS, row.split(), strict=True)
]


def command(event: str, way: str) -> str:
    match way:
        case "exit 0":
            return "cat > /dev/null"
        case "exit 2":
            return f"echo '{NO}' >&2; exit 2"
        case "exit 1":
            return "echo oops >&2; exit 1"
        case "timeout":
            return "sleep 60"
        case "missing":
            return "/nowhere/at-all"
        case "bad JSON":
            return "echo '{\"decision\": '"
        case "deny":
            return saying(_denial(event))
        case "modify":
            return saying(_change(event))
        case _:
            return saying(special(event, additionalContext=MORE))


def _denial(event: str) -> dict[str, Any]:
    if event == "PreToolUse":
        return special(event, permissionDecision="deny", permissionDecisionReason=NO)
    if event == "PermissionRequest":
        return special(event, decision={"behavior": "deny", "message": NO})
    return {"decision": "block", "reason": NO}


def _change(event: str) -> dict[str, Any]:
    if event == "PermissionRequest":
        return special(event, decision={"behavior": "allow", "updatedInput": CHANGED})
    if event == "PostToolUse":
        return special(event, updatedToolOutput="something else")
    return special(event, updatedInput=CHANGED)


class Scene:
    """One turn in which the event happens, and what was to be seen of it."""

    def __init__(self, event: str) -> None:
        self.event = event
        self.no = NO
        """What a denial says."""
        self.said = "as it was " * (400 if "Compact" in event else 1)
        self.ran: list[dict[str, Any]] = []
        self.asked = Approving(Answer(event != "PermissionDenied", "no", by="test"))
        self.ended: TurnEnded | None = None
        self.answer: Any = None
        self.task: Task | None = None
        self.fault = ""

        async def echo(args: dict[str, Any], desk: Desk) -> Outcome:
            self.ran.append(args)
            return Failed("it broke") if event == "PostToolUseFailure" else done(self.said)

        asks = event in ("PermissionRequest", "PermissionDenied", "Notification")
        self.bench = Bench(
            self._model(),
            BenchTool("echo", echo, effects=WRITES),
            mode="default" if asks else "bypassPermissions",
            approver=self.asked,
            limits=Limits(forced=1),
            shaping=Shaping(summariser="local", order=("auto",)),
        )

    def _model(self) -> ScriptedModel:
        if self.event == "StopFailure":
            return Broken("never")
        if "Compact" in self.event:
            full = [reply(call("echo", n=n), input=4_000 * n, output=1) for n in range(1, 10)]
            return ScriptedModel(*full, "done", window=40_000)
        return ScriptedModel(reply(call("echo", n=1)), "done", "done again")

    async def play(self, way: str, folder: Path, **fields: Any) -> Hooked:
        seconds = 0.1 if way == "timeout" else None
        entry = HookEntry(self.event, command(self.event, way), seconds=seconds, **fields)
        hooked = Hooked(self.bench, folder, [entry])
        try:
            if self.event == "SubagentStart":
                self.answer = await self.bench.kit.gate.tell(AgentStarted("a1", "explore"))
            elif self.event == "SubagentStop":
                event = AgentStopping("a1", "explore", "found it", False)
                self.answer = await self.bench.kit.gate.tell(event)
            else:
                self.ended = await self.bench.turn("go")
            if self.event in ("TaskCreated", "TaskCompleted"):
                await self._work_off_a_task()
            if self.event == "InstructionsLoaded":
                event_of_file = InstructionsLoaded("/p/CLAUDE.md", "project", "session_start")
                await self.bench.kit.gate.tell(event_of_file)  # type: ignore[attr-defined]
            if self.event == "SessionEnd":
                await say_goodbye(self.bench.kit.gate, self.bench.recorder)  # type: ignore[arg-type]
            if self.event == "Notification":
                background = self.bench.kit.gate._background  # type: ignore[attr-defined]
                await asyncio.wait(background._tasks, timeout=30)
        finally:
            await hooked.aclose()
        return hooked

    async def _work_off_a_task(self) -> None:
        log = self.bench.log
        record, happened = self.bench.recorder.record, self.bench.kit.gate.happened
        tasks = SharedTasks(lambda: log.entries, record, happened)
        try:
            self.task = await tasks.create("write it")
            self.task = await tasks.change("1", "", status="completed")
        except ValueError as error:
            self.fault = str(error)

    @property
    def heard(self) -> str:
        """All that the model was sent."""
        assert isinstance(self.bench.model, ScriptedModel)
        texts = []
        for request in self.bench.model.requests:
            for message in request.messages:
                for block in () if isinstance(message, Assistant) else message.content:
                    parts = getattr(block, "content", (block,))
                    texts += [part.text for part in parts if isinstance(part, Text)]
        return "\n".join(texts)

    @property
    def blocked(self) -> bool:
        results = self.bench.of(CallEnded)
        match self.event:
            case "PreToolUse" | "PermissionRequest":
                refused = results[0].outcome
                return isinstance(refused, Refused) and self.no in refused.reason and not self.ran
            case "PostToolUse":
                text = text_of(results[0].outcome)
                wrong = isinstance(results[0].outcome, Failed)
                return (
                    wrong and self.no in text and "has taken place" in text and "as it was" in text
                )
            case "PostToolUseFailure":
                text = text_of(results[0].outcome)
                return self.no in text and "it broke" in text
            case "PostToolBatch" | "UserPromptSubmit":
                assert self.ended is not None
                return self.ended.reason == "hook_stopped" and self.no in self.ended.error
            case "Stop":
                return self.no in self.heard
            case "SubagentStop":
                return self.no in feedback(self.answer)
            case "TaskCreated":
                return (
                    self.no in self.fault and self.task is None and not self.bench.of(TaskChanged)
                )
            case "TaskCompleted":
                statuses = [entry.task.status for entry in self.bench.of(TaskChanged)]
                return self.no in self.fault and statuses == ["pending"]
            case "PreCompact":
                notices = [n for n in self.bench.events if self.no in getattr(n, "text", "")]
                return bool(notices) and not self.bench.of(Compacted)
            case _:
                return False

    @property
    def changed(self) -> bool:
        if self.event == "PostToolUse":
            return text_of(self.bench.of(CallEnded)[0].outcome) == "something else"
        return CHANGED in self.ran

    @property
    def context(self) -> bool:
        if self.answer is not None:
            return bool(self.answer.context == MORE)
        return MORE in self.heard

    @property
    def went_on(self) -> bool:
        """As if there were no hook."""
        if self.answer is not None:
            return not feedback(self.answer)
        assert self.ended is not None
        if self.event in ("TaskCreated", "TaskCompleted"):
            return self.task is not None and self.task.status == "completed"
        if self.event == "StopFailure":
            return self.ended.reason == "api_error"
        ran = not self.ran if self.event == "PermissionDenied" else self.ran[0] == {"n": 1}
        compacted = "Compact" not in self.event or bool(self.bench.of(Compacted))
        return self.ended.reason == "end_turn" and ran and compacted


class Broken(ScriptedModel):
    async def stream(self, request: Request, deltas: object) -> Reply:  # type: ignore[override]
        raise ModelFailure("server", "it is down", status=500)


def test_the_matrix_has_every_event() -> None:
    assert MATRIX.keys() == KINDS.keys()


@pytest.mark.parametrize(("event", "way", "expected"), CELLS)
def test_what_comes_of_it(event: str, way: str, expected: str, tmp_path: Path) -> None:
    scene = Scene(event)
    hooked = asyncio.run(scene.play(way, tmp_path))
    seen = {"B": scene.blocked, "M": scene.changed, "C": scene.context}
    effects = [mark for mark, is_so in seen.items() if is_so]
    assert effects == ([expected] if expected in seen else [])
    assert bool(hooked.told) == (expected == "r"), hooked.told
    if expected in ".r":
        assert scene.went_on
    if expected == "r":
        assert all(event in text for text in hooked.told), "people are told which hook it was"
    assert hooked.shown, "the hook ran"


FAULTS: dict[str, Callable[[str], bool]] = {
    "exit 1": lambda text: "exit code 1" in text and "oops" in text,
    "timeout": lambda text: "timed out after 0.1 s" in text,
    "missing": lambda text: "could not be run" in text and "127" in text,
    "bad JSON": lambda text: "JSON that cannot be read" in text,
}


@pytest.mark.parametrize("way", FAULTS)
@pytest.mark.parametrize("event", [name for name, kind in KINDS.items() if kind.decides])
def test_a_hook_that_fails_closed_denies_and_says_so(event: str, way: str, tmp_path: Path) -> None:
    scene = Scene(event)
    scene.no = "set to deny whatever it cannot check"
    hooked = asyncio.run(scene.play(way, tmp_path, fail_closed=True))
    assert FAULTS[way](hooked.told[0])
    assert hooked.told[0].endswith("; so it denies") and "decided nothing" not in hooked.told[0]
    assert scene.blocked


@pytest.mark.parametrize("way", FAULTS)
def test_a_fault_is_named_for_what_it_is(way: str, tmp_path: Path) -> None:
    """A hook that could not be started is not one that said no."""
    hooked = asyncio.run(Scene("PreToolUse").play(way, tmp_path))
    (text,) = hooked.told
    assert FAULTS[way](text)
    assert [other for other, fits in FAULTS.items() if fits(text)] == [way]
