"""What a project's commands may wish for. Anybody may have written them.

Their words and their limits always count. A model or an effort takes trust in the folder; what they
allow takes that it was seen, as it is, when the user agreed.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from detent.app.commands.record import CustomCommand
from detent.app.grounds import Grounds
from detent.app.settings.record import Source

ALLOWED, MODEL, EFFORT = "allowed-tools", "model", "effort"
UNTRUSTED = "ignored until you trust it"
CHANGED = "changed since you trusted it; ignored until you look at it"
MOST_NAMED = 3


def asked_for(command: CustomCommand) -> dict[str, Any]:
    """What of it takes that the user has seen it, as settings would say it."""
    allowed = command.wishes.allowed if command.level == "project" else ()
    return {"permissions": {"allow": list(allowed)}} if allowed else {}


class Trusting:
    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._lost: dict[tuple[str, str], list[str]] = {}
        """Files by what does not count of them, and why."""

    @property
    def notices(self) -> list[str]:
        """One for each reason, however many files there are."""
        return [_told(*about, paths) for about, paths in self._lost.items()]

    def applied(self, commands: list[CustomCommand]) -> list[CustomCommand]:
        """Each with what may count of it."""
        if self._grounds.settings.managed_rules_only:
            commands = [self._managed(command) for command in commands]
        if self._grounds.options.trust or not any(map(_beyond, commands)):
            return commands
        if not self._grounds.is_trusted:
            return [self._without(command, _beyond(command), UNTRUSTED) for command in commands]
        from detent.app.trust.deciding import is_named

        grounds = self._grounds
        if is_named(grounds.where, grounds.settings.trusted_folders, grounds.own):
            return commands
        return [self._compared(command) for command in commands]

    def _managed(self, command: CustomCommand) -> CustomCommand:
        if command.level == "managed" or not command.wishes.allowed:
            return command
        return self._without(command, [ALLOWED], "ignored; managed settings alone allow")

    def _compared(self, command: CustomCommand) -> CustomCommand:
        """With what the user has agreed to, file by file."""
        if not (wishes := asked_for(command)):
            return command
        from detent.app.trust.deciding import with_trust

        source = Source("project", command.path, wishes, True)
        (seen,), _ = with_trust([source], self._grounds.where, self._grounds.own)
        if seen.is_trusted:
            return command
        return self._without(command, [ALLOWED], CHANGED if seen.changed else UNTRUSTED)

    def _without(self, command: CustomCommand, fields: list[str], why: str) -> CustomCommand:
        if not fields:
            return command
        self._lost.setdefault((", ".join(fields), why), []).append(command.path)
        wishes = command.wishes
        wishes = replace(
            wishes,
            allowed=() if ALLOWED in fields else wishes.allowed,
            model="" if MODEL in fields else wishes.model,
            effort="" if EFFORT in fields else wishes.effort,
        )
        return replace(command, wishes=wishes)


def _beyond(command: CustomCommand) -> list[str]:
    """What of a project's command takes trust."""
    if command.level != "project":
        return []
    wishes = command.wishes
    values = {ALLOWED: wishes.allowed, MODEL: wishes.model, EFFORT: wishes.effort}
    return [name for name, value in values.items() if value]


def _told(what: str, why: str, paths: Iterable[str]) -> str:
    paths = [*paths]
    where = ", ".join(paths[:MOST_NAMED])
    if len(paths) > MOST_NAMED:
        where += f" and {len(paths) - MOST_NAMED} more"
    way = "" if "managed" in why else " (detent trust, or --trust for one run)"
    return f"{where}: {what} {why}{way}"
