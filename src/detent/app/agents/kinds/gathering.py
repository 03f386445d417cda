"""Agents from files, from settings and from whoever runs the program, strongest first."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from detent.app.agents.kinds.finding import Folder
from detent.app.agents.kinds.reading import lost_limit, read_kind
from detent.app.agents.kinds.record import AgentKind, Source, key_of
from detent.app.agents.kinds.trusting import SEEN, Trusting
from detent.app.grounds import Grounds
from detent.app.memory.choosing import Borders
from detent.app.memory.finding import MOST_RULES, rules_in
from detent.app.memory.reading import Shelf, doubt_about_file
from detent.context.head import parse_head, split_head
from detent.context.memory.trees import Sheet
from detent.types.errors import BadInput

MOST_NOTICES = 20
MOST_TEXT = 4_000_000
"""Characters of all files of a source: to read them must not take long, whatever lies in a project,
and what lies there must not take the room of others."""
ORDER: tuple[Source, ...] = ("managed", "flag", "project", "user", "plugin")


def gathered(
    grounds: Grounds, folders: Iterable[Folder]
) -> tuple[list[AgentKind], list[AgentKind], list[str]]:
    """Those that count, those that must not, and what is to be said of all. Raises BadInput."""
    gathering = _Gathering(grounds)
    gathering.given(grounds.options.agents)
    for folder in folders:
        gathering.files_of(folder)
    gathering.declared()
    kinds = sorted(gathering.found, key=lambda kind: ORDER.index(kind.source))
    trusting = Trusting(grounds)
    kinds, behind = trusting.applied(kinds)
    faults = {id(kind): fault for kind in kinds if (fault := _fault_of_hooks(kind))}
    kinds = [kind for kind in kinds if id(kind) not in faults]
    notices = [*trusting.notices, *gathering.notices, *faults.values()]
    if (more := len(notices) - MOST_NOTICES) > 0:
        notices[MOST_NOTICES:] = [f"there are {more:,} more faults in files of agents"]
    return kinds, behind, notices


def checked_agents(agents: Any, place: str) -> Mapping[str, Any]:
    """What somebody gives as agents, by name. Raises BadInput."""
    if not isinstance(agents, Mapping):
        raise BadInput(f"{place} must be an object: agents by name")
    for name, values in agents.items():
        if not isinstance(values, Mapping):
            raise BadInput(f"{place}: {name} must be an object with a description and a prompt")
    return agents


class _Gathering:
    def __init__(self, grounds: Grounds) -> None:
        self.found: list[AgentKind] = []
        self.notices: list[str] = []
        self._grounds = grounds
        self._shelf = Shelf(grounds.own)
        self._borders = Borders(grounds.where, lambda: grounds.is_trusted)
        self._seen: set[tuple[Source, str]] = set()
        self._room = dict.fromkeys(ORDER, MOST_TEXT)

    def given(self, agents: Mapping[str, Any]) -> None:
        """Who gives them is there to mend them: what is wrong ends the start."""
        known: dict[str, str] = {}
        for name, values in checked_agents(agents, "--agents").items():
            if (other := known.setdefault(key_of(name), name)) != name:
                raise BadInput(f"--agents: {other} and {name} are the same name")
            kind, faults = _of_values(values, name, "flag", "--agents")
            if kind is not None and (fault := _fault_of_hooks(kind)):
                faults.append(fault)
            if faults or kind is None:
                raise BadInput(faults[0].removesuffix(": the agent is left out"))
            self.found.append(kind)

    def declared(self) -> None:
        """By settings, whose strongest comes last."""
        for source in reversed(self._grounds.settings.agents):
            level: Source = "project" if source.is_project else _LEVELS[source.name]
            for name, values in source.values.items():
                kind, faults = _of_values(values, name, level, source.path)
                self.notices += faults
                if kind is not None:
                    self.found.append(kind)

    def files_of(self, folder: Folder) -> None:
        paths = rules_in(folder[0])
        if len(paths) == MOST_RULES:
            self.notices.append(f"{folder[0]}: no more than {MOST_RULES} files are read")
        for path in paths:
            real = folder[1], os.path.realpath(path)  # no project makes the user's a known one
            if real in self._seen:
                continue
            self._seen.add(real)
            if self._room[folder[1]] < 0:
                return
            if (kind := self._file(path, folder)) is not None:
                self.found.append(kind)

    def _file(self, path: str, folder: Folder) -> AgentKind | None:
        _, source, plugin = folder
        sheet = self._shelf.read(path)
        if sheet is None:
            return None
        self._room[source] -= len(sheet.text)
        if fault := sheet.fault or self._objection(sheet, source, plugin):
            self.notices.append(f"{path} is left out: {fault}")
            return None
        if sheet.note:
            self.notices.append(f"{path}: {sheet.note}")
        head, body = split_head(sheet.text)
        if head is None:
            return None  # a text for people
        values, faults = parse_head(head)
        self.notices += [f"{path}: {fault}" for fault in faults]
        if lost := lost_limit(head, values, is_whole=not faults):
            self.notices.append(f"{path} is left out: {lost} could not be read whole")
            return None
        name = os.path.splitext(os.path.basename(path))[0]
        kind, faults = read_kind(values, name=name, prompt=body, source=source, path=path)
        self.notices += faults
        return self._of_plugin(kind, plugin) if kind is not None and plugin else kind

    def _objection(self, sheet: Sheet, source: Source, plugin: str) -> str:
        if sheet.size:
            return f"it is too long ({sheet.size})"
        if self._room[source] < 0:
            return "files of agents are too long together"
        if source in ("managed", "user"):
            return doubt_about_file(sheet.real)
        if plugin:
            is_inside = sheet.real.startswith(f"{os.path.realpath(plugin)}/")
            return "" if is_inside else "it lies outside of the plugin"
        return self._borders.project_objection(sheet)

    def _of_plugin(self, kind: AgentKind, plugin: str) -> AgentKind:
        """Under the name of the plugin; without what would act on its own."""
        from detent.app.extensions.plugin_tools import plugin_name

        if dropped := [name for field, name in SEEN.items() if getattr(kind, field)]:
            self.notices.append(f"{kind.path}: {', '.join(dropped)} ignored: it is a plugin's")
        kind = replace(kind, hooks={}, mcp_servers=(), mode="")
        return replace(kind, name=f"{plugin_name(plugin)}:{kind.name}")


_LEVELS: dict[str, Source] = {
    "managed": "managed", "flag": "flag", "local": "project", "project": "project", "user": "user",
}  # fmt: skip


def _fault_of_hooks(kind: AgentKind) -> str:
    """A hook that is silently not there is a guard that is not there: the agent is left out."""
    if not kind.hooks:
        return ""
    from detent.app.settings.hooks import declared_hooks

    try:
        declared_hooks({"hooks": kind.hooks}, kind.path)
    except BadInput as error:
        return f"{error}: the agent {kind.name} is left out"
    return ""


def _of_values(
    values: Mapping[str, Any], name: str, source: Source, path: str
) -> tuple[AgentKind | None, list[str]]:
    kind, faults = read_kind(values, name=name, prompt=None, source=source, path=path)
    if kind is not None and not kind.prompt:
        faults.append(f"{path}: {name}: prompt must say how it works: the agent is left out")
        kind = None
    return kind, faults
