"""The host program as approver and as hooks."""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

from detent.sdk.approval import Answer, Question
from detent.sdk.hooks import AfterCall, BeforeCall, Hook, HookAnswer, Hooks, Stopping, Submitted
from detent.sdk.session import parse_mode
from detent.surfaces.headless.link import HostError, Link
from detent.surfaces.headless.result import input_object
from detent.types.errors import BadInput
from detent.types.outcomes import Cut, is_error, text_of

State = Callable[[str], Awaitable[None]]


class HostApprover:
    """`can_use_tool`: the host decides, and may change the input or add rules."""

    def __init__(self, link: Link, state: State) -> None:
        self._link = link
        self._state = state

    async def ask(self, question: Question) -> Answer:
        await self._state("requires_action")
        try:
            said = await self._link.request("can_use_tool", **_question(question))
        except HostError as error:
            return Answer(False, f"The host could not answer: {error}", by="nobody to ask")
        finally:
            await self._state("running")
        if said.get("behavior") == "allow":
            changed = said.get("updatedInput")
            given = input_object(question.proposal.call.arguments)
            arguments = changed if isinstance(changed, dict) and changed != given else None
            updates = said.get("updatedPermissions")
            updates = updates if isinstance(updates, list) else []
            rules, mode = _added_rules(updates), _mode_set(updates)
            return Answer(True, arguments=arguments, rules=rules, mode=mode, by="host")
        reason = str(said.get("message") or "")
        return Answer(False, reason, interrupt=bool(said.get("interrupt")), by="host")


def _question(question: Question) -> dict[str, Any]:
    proposal = question.proposal
    return {
        "tool_name": proposal.tool,
        "input": input_object(proposal.call.arguments),
        "tool_use_id": proposal.call.id,
        "permission_suggestions": [_suggestion(rule) for rule in question.rules],
        "blocked_path": None,
        "decision_reason": question.reason,
    }


def _suggestion(rule: str) -> dict[str, Any]:
    tool, _, what = rule.partition("(")
    content = {"toolName": tool, "ruleContent": what.removesuffix(")")}
    return {
        "type": "addRules",
        "rules": [content],
        "behavior": "allow",
        "destination": "localSettings",
    }


def _mode_set(updates: list[Any]) -> str:
    """The last one counts; one that we do not have changes nothing."""
    for update in reversed(updates):
        match update:
            case {"type": "setMode", "mode": str(mode)}:
                with suppress(BadInput):
                    return parse_mode(mode)
            case _:
                pass
    return ""


def _added_rules(updates: list[Any]) -> tuple[str, ...]:
    rules = []
    for update in updates:
        match update:
            case {"type": "addRules", "behavior": "allow", "rules": list(added)}:
                rules += [text for rule in added if (text := _rule_text(rule))]
            case _:
                pass
    return tuple(rules)


def _rule_text(rule: Any) -> str:
    match rule:
        case {"toolName": str(tool), "ruleContent": str(what)} if what:
            return f"{tool}({what})"
        case {"toolName": str(tool)}:
            return tool
        case _:
            return ""


class HookFacts:
    """What every hook input carries; the session is known only when it has been opened."""

    def __init__(self) -> None:
        self.session = ""
        self.path = ""
        self.cwd = ""
        self.mode: Callable[[], str] = lambda: "default"

    def common(self, event: str) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "transcript_path": self.path,
            "cwd": self.cwd,
            "permission_mode": self.mode(),
            "hook_event_name": event,
        }


def hooks_from(declared: Any, link: Link, facts: HookFacts) -> Hooks:
    """`initialize.hooks`: {event: [{matcher, hookCallbackIds, timeout}]}."""
    table = declared if isinstance(declared, dict) else {}

    def of(event: str) -> tuple[Hook, ...]:
        return tuple(
            HostHook(event, entry.get("matcher") or "", callback, link, facts)
            for entry in table.get(event) or ()
            for callback in entry.get("hookCallbackIds", ())
        )

    return Hooks(
        before_call=of("PreToolUse"),
        after_call=(*of("PostToolUse"), *of("PostToolUseFailure")),
        submitted=of("UserPromptSubmit"),
        stopping=of("Stop"),
    )


class HostHook:
    def __init__(
        self, event: str, matcher: str, callback: str, link: Link, facts: HookFacts
    ) -> None:
        self.__name__ = f"{event} {callback}"
        self._event = event
        self._matcher = matcher
        self._callback = callback
        self._link = link
        self._facts = facts

    async def __call__(self, event: Any) -> HookAnswer | None:
        tool = getattr(event, "tool", "")
        if tool and not matches(self._matcher, tool):
            return None
        if isinstance(event, AfterCall) and self._event != _name_after(event):
            return None
        given = {**self._facts.common(self._event), **_fields(event)}
        call_id = getattr(event, "call_id", None)
        said = await self._link.request(
            "hook_callback", callback_id=self._callback, input=given, tool_use_id=call_id
        )
        return read_answer(said)


def _name_after(event: AfterCall) -> str:
    return "PostToolUseFailure" if is_error(event.outcome) else "PostToolUse"


def matches(matcher: str, tool: str) -> bool:
    """Empty or `*` is every tool; plain names are exact, anything else an unanchored pattern."""
    if matcher in ("", "*"):
        return True
    if re.fullmatch(r"[A-Za-z0-9_ ,|-]+", matcher):
        return tool in re.split(r"[ ,|]+", matcher)
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        return False


def _fields(event: Any) -> dict[str, Any]:
    match event:
        case BeforeCall(tool=tool, arguments=arguments, call_id=call_id):
            return {"tool_name": tool, "tool_input": arguments, "tool_use_id": call_id}
        case AfterCall(tool=tool, arguments=arguments, call_id=call_id, outcome=outcome):
            data = getattr(outcome, "data", None) or {"text": text_of(outcome)}
            fields = {"tool_name": tool, "tool_input": arguments, "tool_use_id": call_id}
            if is_error(outcome):
                cut = isinstance(outcome, Cut)
                return {**fields, "error": text_of(outcome), "is_interrupt": cut}
            return {**fields, "tool_response": data}
        case Submitted(text=text):
            return {"prompt": text}
        case Stopping(text=text, again=again):
            return {"stop_hook_active": again, "last_assistant_message": text}
        case _:
            return {}


DECISIONS: dict[str, Literal["allow", "ask", "deny"]] = {
    "allow": "allow",
    "ask": "ask",
    "deny": "deny",
    "approve": "allow",
    "block": "deny",
}
"""The last two are the older spelling."""


def read_answer(said: dict[str, Any]) -> HookAnswer:
    special = said.get("hookSpecificOutput")
    special = special if isinstance(special, dict) else {}
    decision = str(special.get("permissionDecision") or said.get("decision") or "")
    reason = special.get("permissionDecisionReason") or said.get("reason") or ""
    changed = special.get("updatedInput")
    return HookAnswer(
        decision=DECISIONS.get(decision, "none"),
        reason=str(reason),
        arguments=changed if isinstance(changed, dict) else None,
        context=str(special.get("additionalContext") or ""),
        stop=str(said.get("stopReason") or "a hook ended the turn")
        if said.get("continue") is False
        else "",
    )
