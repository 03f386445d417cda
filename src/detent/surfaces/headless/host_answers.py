"""The host program as approver."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

from detent.sdk.approval import Answer, Question
from detent.sdk.hooks import suggestion, whole_paths
from detent.sdk.session import parse_mode
from detent.surfaces.headless.link import HostError, Link
from detent.types.effects import Runs, Writes
from detent.types.errors import BadInput

State = Callable[[str], Awaitable[None]]
DESTINATIONS: dict[str, Literal["session", "local", "project", "user"]] = {
    "localSettings": "local",
    "projectSettings": "project",
    "userSettings": "user",
}
"""Of rules that the host adds; all else is the session."""


class HostApprover:
    """`can_use_tool`: the host decides, and may change the input or add rules."""

    def __init__(self, link: Link, state: State) -> None:
        self._link = link
        self._state = state
        self._open = 0
        """Questions without an answer: subagents may ask at the same time."""

    async def ask(self, question: Question) -> Answer:
        await self._now_open(1)
        try:
            said = await self._link.request("can_use_tool", **_question(question))
        except HostError as error:
            return Answer(False, f"The host could not answer: {error}", by="nobody to ask")
        finally:
            await self._now_open(-1)
        if said.get("behavior") == "allow":
            changed, shown = said.get("updatedInput"), whole_paths(question.proposal)
            arguments = changed if isinstance(changed, dict) and changed != shown else None
            updates = said.get("updatedPermissions")
            updates = updates if isinstance(updates, list) else []
            return Answer(
                True,
                arguments=arguments,
                rules=_added_rules(updates, "allow"),
                asks=_added_rules(updates, "ask"),
                denies=_added_rules(updates, "deny"),
                scope=_scope(updates),
                mode=_mode_set(updates),
                by="host",
            )
        reason = str(said.get("message") or "")
        return Answer(False, reason, interrupt=bool(said.get("interrupt")), by="host")

    async def _now_open(self, more: int) -> None:
        before, self._open = self._open, self._open + more
        if not before or not self._open:
            await self._state("requires_action" if self._open else "running")


def _question(question: Question) -> dict[str, Any]:
    proposal = question.proposal
    who = {"agent_id": question.agent_id, "agent_name": question.agent}
    return {
        **(who if question.agent_id else {}),
        "tool_name": proposal.tool,
        "input": whole_paths(proposal),
        "tool_use_id": proposal.call.id,
        "permission_suggestions": _suggestions(question),
        "blocked_path": None,
        "decision_reason": question.reason,
    }


def _suggestions(question: Question) -> list[dict[str, Any]]:
    """What an answer may bring along, the narrowest first. Edits are let through for the session,
    as the ecosystem does; a rule is for the user in this project."""
    effects = question.proposal.effects
    edits = any(isinstance(effect, Writes) for effect in effects)
    if edits and not any(isinstance(effect, Runs) for effect in effects):
        edit = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        return [edit, *map(suggestion, question.rules)]
    return [suggestion(rule) for rule in question.rules]


def _scope(updates: list[Any]) -> Literal["session", "local", "project", "user"]:
    """Where all rules are to be kept; where updates differ, they hold for the session."""
    wanted = {
        str(update.get("destination"))
        for update in updates
        if isinstance(update, dict) and update.get("type") == "addRules"
    }
    return DESTINATIONS.get(wanted.pop(), "session") if len(wanted) == 1 else "session"


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


def _added_rules(updates: list[Any], behavior: str) -> tuple[str, ...]:
    rules = []
    for update in updates:
        match update:
            case {"type": "addRules", "behavior": str(given), "rules": list(added)} if (
                given == behavior
            ):
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
