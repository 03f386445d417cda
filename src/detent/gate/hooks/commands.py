"""Commands from settings as hooks: event JSON on stdin, an answer by exit code and stdout."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from detent.gate.hooks import Hook, HookAnswer, HookSet
from detent.gate.hooks.asking import joined
from detent.gate.hooks.ending import Ran, meaning
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.events import CallEvent, HookEvent
from detent.gate.hooks.facts import Facts
from detent.gate.hooks.kinds import KINDS, hook_set
from detent.gate.hooks.matching import matches
from detent.ports import Host
from detent.types.codec import encode
from detent.types.events import HookEnded, HookStarted

LONGEST_NAME = 200
LONGEST_OUTPUT = 1_000_000
"""Bytes of a stream that are read; JSON that is longer cannot be read."""


class Surroundings:
    """What commands run in and with. Commands of hooks are the user's own: no sandbox."""

    def __init__(
        self,
        host: Callable[[], Host],
        facts: Facts,
        *,
        report: Callable[[str], None],
        show: Callable[[HookStarted | HookEnded], None] = lambda signal: None,
        beside: Callable[[Coroutine[Any, Any, None]], None],
        falls_under: Callable[[str, Any], bool] = lambda rule, event: True,
    ) -> None:
        self.host = host
        self.facts = facts
        self.report = report
        self.show = show
        self.beside = beside
        self.falls_under = falls_under
        self._number = 0

    def next_id(self) -> str:
        self._number += 1
        return f"hook_{self._number}"


def command_hooks(entries: Iterable[HookEntry], around: Surroundings) -> HookSet:
    by_event: dict[str, list[HookEntry]] = {}
    for entry in entries:
        by_event.setdefault(entry.event, []).append(entry)
    hooks: dict[str, list[Hook]] = {
        event: [Commands(event, tuple(found), around)] for event, found in by_event.items()
    }
    return hook_set(hooks)


class Commands:
    """All commands for one event, run at the same time."""

    is_many = True

    def __init__(self, event: str, entries: tuple[HookEntry, ...], around: Surroundings) -> None:
        self.__name__ = f"commands of {event}"
        self._event = event
        self._entries = entries
        self._around = around

    async def __call__(self, event: HookEvent) -> HookAnswer | None:
        if event.name != self._event:
            return None
        chosen: dict[Any, HookEntry] = {}
        for entry in self._entries:
            if self._is_for(entry, event):
                chosen.setdefault(entry.what_runs, entry)
        given = encode({**self._around.facts.common(event), **event.fields()})
        for entry in chosen.values():
            if entry.beside:
                self._around.beside(self._alone(entry, event, given))
        waited = [entry for entry in chosen.values() if not entry.beside]
        answer = joined(await asyncio.gather(*(self._run(e, event, given) for e in waited)))
        return replace(answer, ran=tuple(entry.name[:LONGEST_NAME] for entry in chosen.values()))

    def _is_for(self, entry: HookEntry, event: HookEvent) -> bool:
        if not matches(entry.matcher, event.subject):
            return False
        return not entry.only_if or self._around.falls_under(entry.only_if, event)

    async def _alone(self, entry: HookEntry, event: HookEvent, given: bytes) -> None:
        await self._run(entry, event, given)

    async def _run(self, entry: HookEntry, event: HookEvent, given: bytes) -> HookAnswer:
        around, hook_id = self._around, self._around.next_id()
        around.show(HookStarted(hook_id, entry.name, event.name))
        ran = await self._process(entry, event, given)
        answer, trouble = meaning(ran, event.name)
        around.show(_shown(hook_id, entry, event.name, ran, is_bad=bool(trouble)))
        if answer.message:
            around.report(answer.message)
        if not trouble:
            return answer
        denies = entry.fail_closed and not entry.beside and KINDS[event.name].decides
        end = (
            "; so it denies" if denies else "; it decided nothing" if ran.exit_code is None else ""
        )
        around.report(f"the {event.name} hook {entry.name!r} {trouble}{end}")
        if denies:
            reason = (
                f"The hook {entry.name!r} {trouble}. It is set to deny whatever it cannot check."
            )
            return HookAnswer("deny", reason)
        return answer

    async def _process(self, entry: HookEntry, event: HookEvent, given: bytes) -> Ran:
        host, facts = self._around.host(), self._around.facts
        shell = host.which("bash") or "sh"
        argv = (shell, "-c", entry.command) if entry.args is None else (entry.command, *entry.args)
        usual = KINDS[event.name].seconds
        seconds = usual if entry.seconds is None else entry.seconds
        stdout, stderr = Kept(), Kept()
        try:
            ended = await host.run(
                argv,
                cwd=facts.project,  # not where the model has gone: a guard must be found again
                timeout=seconds,
                output=stdout.add,
                errors=stderr.add,
                stdin=given,
                env=_environment(facts, event),
            )
        except OSError as error:
            return Ran(trouble=f"could not be started: {error.strerror or error}")
        if ended.timed_out:
            trouble = f"timed out after {seconds:g} s"
            return Ran(None, stdout.text, stderr.text, trouble)
        return Ran(ended.exit_code, stdout.text, stderr.text)


def _environment(facts: Facts, event: HookEvent) -> Mapping[str, str]:
    known = {
        "CLAUDE_PROJECT_DIR": facts.project,
        "DETENT_PROJECT_DIR": facts.project,
        "DETENT_SESSION_ID": facts.session,
        "DETENT_HOOK_EVENT": event.name,
    }
    return {**known, "DETENT_TOOL_NAME": event.tool} if isinstance(event, CallEvent) else known


def _shown(hook_id: str, entry: HookEntry, event: str, ran: Ran, *, is_bad: bool) -> HookEnded:
    outcome: Literal["success", "error", "cancelled"]
    outcome = "cancelled" if ran.exit_code is None else "error" if is_bad else "success"
    return HookEnded(hook_id, entry.name, event, ran.stdout, ran.stderr, ran.exit_code, outcome)


class Kept:
    """The beginning of a stream."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data[: max(0, LONGEST_OUTPUT - len(self._data))]

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")
