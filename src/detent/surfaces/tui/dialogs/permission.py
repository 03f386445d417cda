"""May this run? Exactly what would, the ways to say yes and no, and why it is asked at all."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from detent.sdk.approval import Answer, Question
from detent.surfaces.tui.dialogs.change import hunks_of
from detent.surfaces.tui.dialogs.dialog import STOPPED, Dialog, Entry, Row, Rows
from detent.surfaces.tui.drawing import diff
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import Span, clipped, painted, wrapped
from detent.surfaces.wording.change import change_lines
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.effects import Connects, Runs, Writes

if TYPE_CHECKING:
    from detent.sdk.permissions import Explanation

Scope = Literal["session", "local", "project", "user"]
SCOPES: dict[Scope, str] = {
    "session": "in this session",
    "local": "for you in this project",
    "project": "for everybody in this project",
    "user": "for you everywhere",
}
MOST_RULES, MOST_SHOWN, MOST_LINES = 3, 16, 100_000
MOST_REASON = 4
YES, NO, EDITS = "yes", "no", "accept edits"
EDITING = ("Edit", "Write", "MultiEdit", "NotebookEdit")
HINT = "tab: how long the rule holds · e: edit · ?: why am I asked · esc: no, and stop"


class PermissionDialog(Dialog[Answer]):
    comes_unasked = True

    def __init__(
        self,
        question: Question,
        explain: "Callable[[], Explanation | None]",
        reach: str = "",
        show: Callable[[list[str]], None] = lambda lines: None,
    ) -> None:
        """`explain` says what the gate has found in it; `reach` what a command could touch; `show`
        puts into the scrollback what has no room here: nobody agrees to what is not seen."""
        super().__init__()
        self._question = question
        self._explain = explain
        self._reach, self._show = reach, show
        self._shown_for = 0
        """The width at which all of it was put into the scrollback."""
        self._scope: Scope = "session"
        self._why: list[str] = []
        self._rows = Rows(())
        self._wanted: Literal["", "reason", "edit"] = ""
        self._hunks = hunks_of(self._tool, self._arguments, question.proposal.cwd)
        self._parts = self._simple_commands()
        self._renew()

    def _simple_commands(self) -> list[str]:
        """What a command line runs, one by one, where it is more than one."""
        found = self._explain() if self._tool == "Bash" else None
        commands = found.commands if found is not None else ()
        if len(commands) < 2:
            return []
        return [f"{number}. {visible(' '.join(one))}" for number, one in enumerate(commands, 1)]

    @property
    def _tool(self) -> str:
        return self._question.proposal.tool

    @property
    def _arguments(self) -> dict[str, Any]:
        return self._question.proposal.arguments

    def _renew(self) -> None:
        at = self._rows.at
        kept = SCOPES[self._scope]
        rules = self._question.rules[:MOST_RULES]
        is_edit = self._tool in EDITING
        self._rows = Rows((
            Row("Yes, this once", value=YES),
            *((Row("Yes, and accept edits in this session", value=EDITS),) if is_edit else ()),
            *(Row(f"Yes, and always {kept}: {visible(rule)}", value=rule) for rule in rules),
            Row("No, and tell why", value=NO),
        ))  # fmt: skip
        self._rows.at = at

    def press(self, key: str) -> None:
        match key:
            case "escape" if self._why:
                self._why = []
            case "escape" | "ctrl+c":
                self.resolve(Answer(False, STOPPED, interrupt=True, by="user"))
            case "tab":
                order = list(SCOPES)
                self._scope = order[(order.index(self._scope) + 1) % len(order)]
                self._renew()
            case "?":
                self._why = [] if self._why else _told(self._explain(), self._question)
            case "e":
                self._begin_edit()
            case "y":
                self.resolve(Answer(True, by="user"))
            case "n":
                self._rows.at = len(self._rows.rows) - 1
                self._chosen()
            case _ if self._rows.press(key):
                self._chosen()

    def _chosen(self) -> None:
        row = self._rows.chosen
        value = row.value if row is not None else NO
        if value == YES:
            self.resolve(Answer(True, by="user"))
        elif value == EDITS:
            self.resolve(Answer(True, mode="acceptEdits", by="user"))
        elif value == NO:
            self._wanted = "reason"
            self.entry = Entry("Tell the model why, or what to do instead (enter alone: just no)")
        else:
            self.resolve(Answer(True, rules=(value,), scope=self._scope, by="user"))

    def _begin_edit(self) -> None:
        key = edited_key(self._tool, self._arguments)
        if key:
            self._wanted = "edit"
            self.entry = Entry(f"Edit {key}; enter runs it as it is then", self._arguments[key])

    def give(self, text: str) -> None:
        wanted, self.entry = self._wanted, None
        if wanted == "edit":
            key = edited_key(self._tool, self._arguments)
            self.resolve(Answer(True, arguments={**self._arguments, key: text}, by="user"))
        else:
            self.resolve(Answer(False, text.strip(), by="user"))

    def lines(self, look: Look, height: int) -> list[str]:
        theme, question = look.theme, self._question
        who = f"The subagent {visible(question.agent)}" if question.agent else "Detent"
        head = wrapped([Span(f"{who} wants to use {visible(self._tool)}", "asking")], look.width)
        what, most = self.what(look), self._room(look, height)
        if len(what) > most and self._shown_for != look.width:
            self._shown_for = look.width
            title = clipped(f"{visible(self._tool)} would do all of this:", look.width)
            self._show(["", theme.paint("asking", title), *what])
        around = [clipped(line, look.width) for line in _around(question, self._reach)]
        reason = wrapped([Span(visible(question.reason), "faint")], look.width - 2)[:MOST_REASON]
        rows = self._rows.lines(look, 9)
        lines = [*(painted(row, theme) for row in head), *what[:most], *_more(what, most)]
        lines += [theme.paint("faint", line) for line in around]
        lines += [f"  {painted(row, theme)}" for row in reason]
        left = max(1, height - len(lines) - len(rows) - 2)
        why = [clipped(f"  {line}", look.width) for line in self._why[:left]]
        lines += [theme.paint("faint", line) for line in why]
        if self.entry is not None:
            return [*lines, "", theme.paint("strong", self.entry.title)]
        hint = HINT if question.rules else HINT.partition(" · ")[2]
        return [*lines, "", *rows, theme.paint("faint", clipped(hint, look.width))]

    def _room(self, look: Look, height: int) -> int:
        """Lines for what would run: the ways to answer must be seen in any case. Why it is asked
        takes none of them away."""
        others = len(self._rows.lines(look, 9)) + 8
        return max(2, min(MOST_SHOWN, height - others))

    def what(self, look: Look) -> list[str]:
        """Exactly what would run or change, all of it: nothing is cut at the edge."""
        arguments = dict(self._arguments)
        if self._tool == "Bash" and isinstance(arguments.get("command"), str):
            command = visible(arguments.pop("command")).split("\n")
            about = arguments.pop("description", "")
            rest = [f"“{visible(about)}”"] if isinstance(about, str) and about else []
            rest += [f"with {_data(arguments)}"] if arguments else []
            parts = ["which runs:", *self._parts] if self._parts else []
            return [*_whole(command, "strong", look), *_whole([*parts, *rest], "faint", look)]
        if self._hunks:
            path = str(arguments.get("file_path", ""))
            added, removed = diff.counted_lines(self._hunks)
            head = f"{visible(path)}  +{added} -{removed}"
            drawn = diff.drawn(
                self._hunks, path, look.width - 2, look.theme, MOST_LINES, wraps=True
            )
            return [f"  {head}", *(f"  {line}" for line in drawn)]
        change, rest_of = change_lines(self._tool, arguments)
        return _whole([_data(rest_of), *change], "", look)


def edited_key(tool: str, arguments: dict[str, Any]) -> str:
    """The argument that a person may write anew: the command, or the new text."""
    keys = {"Bash": "command", "Write": "content", "Edit": "new_string"}
    key = keys.get(tool, "")
    return key if isinstance(arguments.get(key), str) else ""


def _around(question: Question, reach: str) -> list[str]:
    """Where it would run, what it touches besides, and what of the net it reaches."""
    proposal = question.proposal
    lines = [f"  in {visible(proposal.cwd)}"] if proposal.cwd else []
    writes = [visible(effect.path) for effect in proposal.effects if isinstance(effect, Writes)]
    hosts = [visible(effect.host) for effect in proposal.effects if isinstance(effect, Connects)]
    outside = any(isinstance(effect, Runs) and effect.outside for effect in proposal.effects)
    if writes and proposal.tool not in ("Edit", "Write", "MultiEdit"):
        lines.append(f"  writes {_several(writes)}")
    if hosts:
        lines.append(f"  network: {_several(hosts)}")
    if outside:
        lines.append("  outside of the sandbox: with all of your rights, the network included")
    elif reach:
        lines.append(f"  {reach}")
    return lines


def _several(names: list[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more


def _told(found: "Explanation | None", question: Question) -> list[str]:
    if found is None:
        return ["Nothing more is known."]
    lines = [f"Decided by: {visible(found.layer)}. {visible(found.reason)}"]
    if found.proven is False:
        lines.append("Not all of it could be understood: no allow rule covers it.")
    for rule in found.considered[:6]:
        fits = "fits" if rule.matched else "does not fit"
        place = f" ({visible(rule.path)}:{rule.line})" if rule.path else ""
        lines.append(f"{rule.list} {visible(rule.text)} {fits}{place}")
    if found.permits:
        lines.append(f"Rules that would permit it: {', '.join(map(visible, found.permits[:3]))}")
    return lines


def _whole(lines: list[str], role: str, look: Look) -> list[str]:
    """Broken where they are too long, never cut."""
    rows = [row for line in lines for row in wrapped([Span(line, role)], look.width - 2)]
    return [f"  {painted(row, look.theme)}" for row in rows]


def _more(lines: list[str], most: int) -> list[str]:
    left = len(lines) - most
    return [f"  … {left} more lines: all of it stands above"] if left > 0 else []


def _data(arguments: dict[str, Any]) -> str:
    return visible(encode(arguments).decode())
