"""What a project's files may say of agents. Anybody may have written them.

Their words and their limits always count. A model, an effort or a worktree of their own, and taking
the place of another agent, takes trust in the folder; hooks, servers and a wider mode take
that what is written there was seen, as it is.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.agents.kinds.built_in import built_in
from detent.app.agents.kinds.record import AgentKind, key_of
from detent.app.gating import HOLDING
from detent.app.grounds import Grounds
from detent.app.settings.permissions import FOR_THE_USER_ALONE
from detent.app.settings.record import Source

SEEN = {"hooks": "hooks", "mcp_servers": "mcpServers", "mode": "permissionMode"}
"""What must have been shown when the user agreed; how the files call it."""
TRUSTED = {"model": "model", "effort": "effort", "isolation": "isolation"}
_WRITTEN = {**SEEN, **TRUSTED}
TAKEN = "ignored until you trust it: it has the name of another"
MOST_NAMED = 3
_USUAL = AgentKind(name="", description="")


def asked_for(kind: AgentKind) -> dict[str, Any]:
    """What of it takes that the user has seen it."""
    servers: dict[str, Any] = {}
    for server in kind.mcp_servers:
        servers |= {server: server} if isinstance(server, str) else server
    mode = "" if kind.mode in HOLDING else kind.mode
    values = {"hooks": kind.hooks, "mcpServers": servers, "permissionMode": mode}
    return {name: value for name, value in values.items() if value}


class Trusting:
    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._modes: list[str] = []
        self._lost: dict[str, list[tuple[AgentKind, Sequence[str]]]] = {}
        """What does not count, by the reason."""

    @property
    def notices(self) -> list[str]:
        """One for each reason, however many files there are."""
        return [*self._modes, *(_told(why, lost) for why, lost in self._lost.items())]

    def applied(self, kinds: list[AgentKind]) -> tuple[list[AgentKind], list[AgentKind]]:
        """Each with what may count of it, in their order; and those that may not count at all."""
        kinds = [self._without_modes(kind) for kind in kinds]
        needs_none = not any(map(_beyond, kinds)) and not _in_the_way(kinds)
        if needs_none or self._grounds.options.trust:
            return kinds, []
        if not self._grounds.is_trusted:
            return self._parted([self._as_a_stranger(kind) for kind in kinds])
        return self._compared(kinds), []

    def _without_modes(self, kind: AgentKind) -> AgentKind:
        if kind.source != "project" or kind.mode not in FOR_THE_USER_ALONE:
            return kind
        self._modes.append(f"{kind.path}: mode {kind.mode} is ignored; only you can set it")
        return replace(kind, mode="")

    def _as_a_stranger(self, kind: AgentKind) -> AgentKind:
        return self._without(kind, _beyond(kind), "ignored until you trust it")

    def _without(self, kind: AgentKind, fields: Sequence[str], why: str) -> AgentKind:
        if not fields:
            return kind
        self._lost.setdefault(why, []).append((kind, [_WRITTEN[field] for field in fields]))
        return replace(kind, **{field: getattr(_USUAL, field) for field in fields})

    def _parted(self, kinds: list[AgentKind]) -> tuple[list[AgentKind], list[AgentKind]]:
        """A stranger's agents take the place of none that is the user's own or built in."""
        behind = _in_the_way(kinds)
        if behind:
            self._lost[TAKEN] = [(kind, ["agent"]) for kind in behind]
        return [kind for kind in kinds if kind not in behind], behind

    def _compared(self, kinds: list[AgentKind]) -> list[AgentKind]:
        """With what the user has agreed to, file by file."""
        from detent.app.trust.deciding import is_named, with_trust

        grounds = self._grounds
        if is_named(grounds.where, grounds.settings.trusted_folders, grounds.own):
            return kinds
        found = []
        for kind in kinds:
            wishes = asked_for(kind) if kind.source == "project" else {}
            if wishes and kind.path not in self._of_settings:
                (seen,), _ = with_trust(
                    [Source("project", kind.path, wishes, True)], grounds.where, grounds.own
                )
                if not seen.is_trusted:
                    why = "changed since you trusted it; ignored until you look at it"
                    why = why if seen.changed else "ignored until you trust it"
                    fields = [field for field, name in SEEN.items() if name in wishes]
                    kind = self._without(kind, fields, why)
            found.append(kind)
        return found

    @property
    def _of_settings(self) -> set[str]:
        """What stands in settings was seen with them."""
        return {source.path for source in self._grounds.settings.agents}


def _told(why: str, lost: list[tuple[AgentKind, Sequence[str]]]) -> str:
    paths = [kind.path for kind, _ in lost]
    where = ", ".join(paths[:MOST_NAMED])
    if len(paths) > MOST_NAMED:
        where += f" and {len(paths) - MOST_NAMED} more"
    what = dict.fromkeys(field for _, fields in lost for field in fields)
    return f"{where}: {', '.join(what)} {why} (detent trust, or --trust for one run)"


def _beyond(kind: AgentKind) -> list[str]:
    """Fields of a project's agent that take trust."""
    if kind.source != "project":
        return []
    fields = [field for field in (*SEEN, *TRUSTED) if getattr(kind, field)]
    return [field for field in fields if field != "mode" or kind.mode not in HOLDING]


def _in_the_way(kinds: Sequence[AgentKind]) -> list[AgentKind]:
    """The project's that bear the name of another's."""
    own = [kind for kind in kinds if kind.source not in ("project", "plugin")]
    taken = {key_of(kind.name) for kind in (*own, *built_in())}
    return [k for k in kinds if k.source == "project" and key_of(k.name) in taken]
