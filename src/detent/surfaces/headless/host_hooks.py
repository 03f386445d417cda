"""Callbacks of the host program as hooks (`initialize.hooks`)."""

import asyncio
from typing import Any

from detent.sdk.hooks import (
    KINDS,
    CallEvent,
    Facts,
    Hook,
    HookAnswer,
    HookEvent,
    Hooks,
    WrongEvent,
    fault_in,
    hook_set,
    matches,
    read_answer,
)
from detent.surfaces.headless.link import HostError, Link
from detent.surfaces.lines.telling import tell


def hooks_from(declared: Any, link: Link, facts: Facts) -> Hooks:
    """{event: [{matcher, hookCallbackIds, timeout}]}; what makes no sense is an error."""
    table = declared if isinstance(declared, dict) else {}
    found: dict[str, list[Hook]] = {}
    for event, entries in table.items():
        hooks = [hook for entry in entries or () for hook in _hooks(event, entry, link, facts)]
        if event in KINDS:
            found[event] = hooks
        elif hooks:
            tell(f"hooks for {event} are never called")
    return hook_set(found)


def _hooks(event: str, entry: Any, link: Link, facts: Facts) -> list[Hook]:
    if not isinstance(entry, dict):
        raise ValueError(f"hooks for {event} are objects with hookCallbackIds, not {entry!r}")
    matcher, seconds = entry.get("matcher") or "", entry.get("timeout")
    if not isinstance(matcher, str):
        raise ValueError(f"a matcher is a text, not {matcher!r}")
    if fault := fault_in(matcher):
        raise ValueError(fault)
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
        raise ValueError(f"a timeout is a number of seconds, not {seconds!r}")
    callbacks = entry.get("hookCallbackIds", ())
    return [HostHook(event, matcher, str(c), link, facts, seconds=seconds) for c in callbacks]


class HostHook:
    def __init__(
        self,
        event: str,
        matcher: str,
        callback: str,
        link: Link,
        facts: Facts,
        *,
        seconds: float | None = None,
    ) -> None:
        self.__name__ = f"{event} {callback}"
        self._event = event
        self._matcher = matcher
        self._callback = callback
        self._link = link
        self._facts = facts
        self._seconds = seconds

    async def __call__(self, event: HookEvent) -> HookAnswer | None:
        if event.name != self._event or not matches(self._matcher, event.subject):
            return None
        if self._event == "SessionEnd" and not self._link.is_open:
            return None  # the host ended the session by leaving
        given = {**self._facts.common(event), **event.fields()}
        call_id = event.call_id if isinstance(event, CallEvent) else None
        try:
            async with asyncio.timeout(self._seconds):
                said = await self._link.request(
                    "hook_callback", callback_id=self._callback, input=given, tool_use_id=call_id
                )
        except TimeoutError:
            return self._unanswered(f"did not answer within {self._seconds:g} s")
        except HostError:
            if self._link.is_open:
                raise  # the callback failed, and that is reported
            return self._unanswered("cannot be asked: the host is gone")
        try:
            return read_answer(said, event.name)
        except WrongEvent as error:  # hosts know this as the end of the turn
            return HookAnswer(stop=f"hook {self._callback} {error}")

    def _unanswered(self, why: str) -> HookAnswer:
        """Whoever registers a callback for calls relies on it: no answer is no permission."""
        text = f"The hook {self._callback} {why}."
        if self._event == "PreToolUse":
            return HookAnswer("deny", text, message=text)
        return HookAnswer(message=text)
