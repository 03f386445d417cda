"""Deny and ask rules: any hint that a call falls under one counts.

They are matched against what a call touches, whatever the tool is called.
"""

import os
import re
from typing import Any

from detent.gate.hosts import UNKNOWN, names_host
from detent.gate.matching import fits, might_fit
from detent.gate.patterns import PathPattern, compiled
from detent.gate.rules import READING, SPAWNING, WRITING, agent_key, names_tool
from detent.gate.scene import Scene
from detent.gate.terms import Rule
from detent.types.effects import Effect, Reads, Runs, Spawns, Writes

_PARAMETER = r"([A-Za-z_]\w*):(.*)"
_MAIN_FIELDS = frozenset(
    {"command", "file_path", "notebook_path", "path", "url", "pattern", "domain"}
)
_MOST_LOOKED_AT = 2_000
"""Entries of a folder that are looked through for what a rule forbids."""


def touches(rule: Rule, scene: Scene) -> bool:
    """Whether a call falls under a restriction."""
    tool, by_name = scene.proposal.tool, names_tool(rule.tool, scene.proposal.tool)
    if not rule.what:
        return by_name or any(_is_kind(rule.tool, each, scene) for each in scene.proposal.effects)
    if by_name and _has_parameter(rule.what, scene.proposal.arguments):
        return True
    if rule.tool == "Bash":
        commands = (command for seen in scene.looks for command in seen.findings.commands)
        return any(fits(rule.what, command) for command in commands)
    if rule.tool in READING | WRITING:
        names = scene.written if rule.tool in WRITING else scene.named
        return bool(names) and any(map(_pattern(rule, scene).touches, names))
    if rule.what.startswith("domain:"):
        return by_name and any(
            host == UNKNOWN or names_host(rule.what, host) for host in scene.hosts
        )
    if rule.tool in SPAWNING:
        agents = [agent_key(e.agent) for e in scene.proposal.effects if isinstance(e, Spawns)]
        return any(_is_value(agent_key(rule.what), agent) for agent in agents)
    if tool == "Skill":
        return by_name and _names_skill(rule.what, scene.proposal.arguments)
    # What we cannot read of a restriction holds for the whole tool, unless it is of a parameter.
    return by_name and re.fullmatch(_PARAMETER, rule.what, re.DOTALL) is None


def might_touch(rule: Rule, scene: Scene) -> bool:
    """Whether a call might fall under a restriction, though it cannot be shown."""
    if not rule.what:
        return rule.tool in WRITING and scene.is_open
    if rule.tool == "Bash":
        commands = (command for seen in scene.looks for command in seen.findings.commands)
        return scene.is_open or any(might_fit(rule.what, command) for command in commands)
    if rule.tool in WRITING:
        changes = any(seen.findings.writes for seen in scene.looks) or scene.is_open
        if scene.is_unproven:
            return changes or bool(scene.written)
        if not scene.writes_unknown:
            return False
        return scene.opens_unknown or any(map(_pattern(rule, scene).is_met_by, scene.globs))
    if rule.tool not in READING:
        return False
    if scene.is_unproven or scene.opens_unknown or scene.is_open:
        return True
    if not (scene.globs or scene.read_below or scene.texts):
        return False
    pattern = _pattern(rule, scene)
    return (
        any(map(pattern.is_met_by, scene.globs))
        or any(_may_hold(folder, pattern) for folder in scene.read_below)
        or (bool(scene.texts) and _names_folder_of(rule.what, pattern, scene))
    )


def _names_folder_of(what: str, pattern: PathPattern, scene: Scene) -> bool:
    """Whether a command is given the folder of a file that a rule names: `config` of
    `config/key`. Not the working folder, which commands are given all the time."""
    folder, _, name = what.removeprefix("./").rpartition("/")
    if not folder or not name or "*" in what:
        return False
    here = (scene.workspace.cwd, scene.workspace.project)
    return any(pattern.matches(f"{path}/{name}") for path in scene.named if path not in here)


def _is_kind(tool: str, effect: Effect, scene: Scene) -> bool:
    """Whether a restriction of a whole tool is about an effect of another one."""
    match effect:
        case Runs():
            return (
                tool == "Bash"
                or (tool == "Read" and scene.opens_files)
                or (tool in WRITING and any(seen.findings.writes for seen in scene.looks))
            )
        case Writes():
            return tool in ("Edit", "Read")
        case Reads():
            return tool == "Read"
        case Spawns():
            return tool in SPAWNING
        case _:
            return False


def _pattern(rule: Rule, scene: Scene) -> PathPattern:
    return compiled(rule.what, scene.anchors(rule.origin), anywhere=True)


def _has_parameter(what: str, arguments: dict[str, Any]) -> bool:
    """`name:value`, for a plain value of the call other than its main one."""
    match = re.fullmatch(_PARAMETER, what, re.DOTALL)
    if match is None or match[1] in _MAIN_FIELDS or match[1] not in arguments:
        return False
    value = arguments[match[1]]
    if isinstance(value, bool):
        value = "true" if value else "false"
    return isinstance(value, (str, int, float)) and _is_value(match[2].strip(), str(value))


def _is_value(pattern: str, value: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), value, re.DOTALL) is not None


def _names_skill(what: str, arguments: dict[str, Any]) -> bool:
    named = arguments.get("skill") or arguments.get("name") or arguments.get("command") or ""
    words = f"{named} {arguments.get('args') or ''}".removeprefix("/").split()
    return fits(what, words) or words[:1] == [what]


def _may_hold(folder: str, pattern: PathPattern) -> bool:
    """Whether a folder may hold what matches. Where the pattern starts further up and could match
    at any depth, the disk is looked at; a file by its bare name may turn up anywhere."""
    if pattern.lies_below(folder):
        return True
    if not pattern.starts_above(folder) or not pattern.is_met_by(f"{folder}/**"):
        return False
    if pattern.glob.removeprefix("**/").count("/") == 0 or not pattern.glob.startswith("**/"):
        return True
    return _finds(folder, pattern)


def _finds(folder: str, pattern: PathPattern) -> bool:
    seen = 0
    for place, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > _MOST_LOOKED_AT:
            return True
        if any(pattern.touches(os.path.join(place, name)) for name in (*folders, *files)):
            return True
    return False
