"""Tools that a plugin's manifest declares: a program that gets the arguments on its stdin.

`.claude-plugin/plugin.json` (or `plugin.json`) with
`{"name": …, "tools": [{"name", "description", "inputSchema", "command", "requiredPermission"}]}`.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from detent.context.prompt.facts import Named
from detent.ports import BadArguments, Desk
from detent.types.codec import decode_object, encode
from detent.types.effects import Connects, Effect, Reads
from detent.types.errors import BadInput
from detent.types.messages import ToolSpec
from detent.types.outcomes import Cut, Failed, Outcome, done

if TYPE_CHECKING:
    from detent.tools.schemas import Checker

TIMEOUT = 120.0
MOST_OUTPUT = 1_000_000
"""Bytes; the rest is dropped."""


class Declared(Struct, frozen=True):
    """One entry of a manifest's `tools`."""

    name: str
    command: str | list[str]
    description: str = ""
    inputSchema: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object"})
    args: list[str] = []
    requiredPermission: str = ""


class PluginTool:
    timeout: float | None = TIMEOUT

    def __init__(
        self, plugin: str, folder: str, declared: Declared, siblings: Sequence[str] = ()
    ) -> None:
        schema = msgspec.Raw(encode(declared.inputSchema))
        self.spec = ToolSpec(declared.name, declared.description, schema)
        self._plugin = plugin
        self._folder = folder
        self._declared = declared
        self._siblings = siblings or (declared.name,)
        """All tools of the plugin."""
        self._checker: Checker | None = None

    def parse(self, arguments: str) -> dict[str, Any]:
        try:
            given = msgspec.json.decode(arguments or "{}")
        except msgspec.DecodeError as error:
            raise BadArguments(f"{self.spec.name}: not valid JSON ({error}).") from None
        if not isinstance(given, dict):
            raise BadArguments(f"{self.spec.name}: the arguments must be one JSON object.")
        if faults := self._faults(given):
            raise BadArguments(f"{self.spec.name}: the arguments do not fit.\n{faults}")
        return given

    def _faults(self, given: dict[str, Any]) -> str:
        """The checker is made with the first call: most tools are never called."""
        if self._checker is None:
            from detent.tools.schemas import Checker

            self._checker = Checker(self._declared.inputSchema)
        return self._checker.faults(given)

    def effects(self, args: dict[str, Any], cwd: str) -> tuple[Effect, ...]:
        """A foreign program may do anything, unless its manifest says that it only reads."""
        if self._declared.requiredPermission == "read-only":
            return (Reads(cwd),)
        return (Connects("*"),)

    def moves(self, args: Any) -> bool:
        return False

    async def run(self, args: dict[str, Any], desk: Desk) -> Outcome:
        output = bytearray()

        def keep(data: bytes) -> None:
            output.extend(data[: MOST_OUTPUT - len(output)])

        environment = {
            "DETENT_PLUGIN_ID": self._plugin,
            "DETENT_TOOL_NAME": self.spec.name,
            "CLAWD_PLUGIN_ID": self._plugin,
            "CLAWD_TOOL_NAME": self.spec.name,
            "CLAUDE_PLUGIN_ROOT": self._folder,
        }
        from detent.app.extensions.plugin_state import lent

        async with lent(self._plugin, self._siblings, desk.shop, desk.host.scratch) as state:
            finished = await desk.host.run(
                self._argv(),
                cwd=desk.cwd,
                timeout=TIMEOUT,
                output=keep,
                stdin=encode(args),
                env={**environment, "DETENT_PLUGIN_STATE": state.path},
            )
            text = output.decode(errors="replace").rstrip("\n")
            if finished.timed_out:
                return Cut(f"timed out after {TIMEOUT:g} s", text)
            if finished.exit_code:
                return Failed(f"{text}\nExit code {finished.exit_code}".strip())
            kept = await state.changed()
        return done("\n".join(filter(None, (text, state.note))), kept)

    def _argv(self) -> list[str]:
        command = self._declared.command
        words = [command] if isinstance(command, str) else list(command)
        program = words[0].replace("${CLAUDE_PLUGIN_ROOT}", self._folder)
        beside = os.path.join(self._folder, program)
        return [beside if os.path.exists(beside) else program, *words[1:], *self._declared.args]


def plugin_tools(folders: Sequence[str]) -> list[PluginTool]:
    return [tool for folder in folders for tool in _of(os.path.abspath(folder))]


def plugin_summaries(folders: Sequence[str]) -> tuple[Named, ...]:
    """What the prompt says of each: what its manifest says of itself, and its tools."""
    return tuple(_summary(os.path.abspath(folder)) for folder in folders)


def _summary(folder: str) -> Named:
    _, manifest = _manifest(folder)
    tools = ", ".join(tool.spec.name for tool in _of(folder))
    about = (str(manifest.get("description", "")), f"tools: {tools}" if tools else "")
    return Named(_name(manifest, folder), "; ".join(filter(None, about)))


def _of(folder: str) -> list[PluginTool]:
    path, manifest = _manifest(folder)
    try:
        tools = msgspec.convert(manifest.get("tools", []), list[Declared])
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: tools: {error}") from None
    name, names = _name(manifest, folder), tuple(declared.name for declared in tools)
    return [PluginTool(name, folder, declared, names) for declared in tools]


def _manifest(folder: str) -> tuple[str, dict[str, Any]]:
    for place in (".claude-plugin/plugin.json", "plugin.json"):
        path = os.path.join(folder, place)
        if os.path.exists(path):
            break
    else:
        raise BadInput(f"{folder}: there is no .claude-plugin/plugin.json")
    with open(path, "rb") as file:
        return path, decode_object(file.read(), path)


def plugin_name(folder: str) -> str:
    return _name(_manifest(folder)[1], folder)


def _name(manifest: dict[str, Any], folder: str) -> str:
    return str(manifest.get("name", os.path.basename(folder)))
