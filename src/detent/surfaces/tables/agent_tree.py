"""The agents of a session as a tree: how each went, what it cost."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from detent.sdk.agents_tree import AgentNode, AgentTree
from detent.surfaces.counting import counted
from detent.surfaces.tables.session_table import SHORT, label
from detent.surfaces.tables.widths import fitted, one_line, width_of
from detent.types.agents import AgentRecord, GroupEnded
from detent.types.budget import Spent

LEAST_NAME = 24
"""Columns that what an agent is about has at least, before its amounts are cut."""


class Brush(Struct, frozen=True):
    """What lines are made of."""

    fork: str
    last: str
    beside: str
    dot: str
    marks: dict[str, str]
    """By state."""


FINE = Brush(
    "├─ ", "└─ ", "│  ", "·",
    {"completed": "✓", "failed": "✗", "stopped": "■", "interrupted": "!", "skipped": "-",
     "running": "▶"},
)  # fmt: skip
PLAIN = Brush(
    "|- ", "`- ", "|  ", "|",
    {"completed": "+", "failed": "x", "stopped": "=", "interrupted": "!", "skipped": "-",
     "running": ">"},
)  # fmt: skip


def brush_for(encoding: str) -> Brush:
    """For a terminal that cannot show more, ASCII."""
    return FINE if encoding.lower().replace("-", "").startswith("utf") else PLAIN


class Group(Struct, frozen=True):
    """Children of one parent that were begun together."""

    id: str
    nodes: tuple[AgentNode, ...]
    ended: GroupEnded | None


def tree_lines(tree: AgentTree, width: int, brush: Brush = FINE) -> Iterator[str]:
    """In a terminal each fits into a line (a width of 0 is no limit)."""
    amounts = _amounts(tree.steps, tree.calls, tree.spent, round(tree.spent.seconds * 1000))
    head = f"{one_line(tree.session.id)[:SHORT]}  {label(tree.session)}"
    yield _line(head, amounts, width, brush)
    if tree.trouble:
        yield _fit(f"({tree.trouble})", width)
    if not tree.agents:
        yield "No agents have worked for it."
    yield from agent_lines(tree.agents, tree.groups, width, brush)


def agent_lines(
    nodes: Sequence[AgentNode],
    groups: Sequence[GroupEnded] = (),
    width: int = 0,
    brush: Brush = FINE,
    indent: str = "",
) -> Iterator[str]:
    """Those of one parent, and all below them."""
    yield from _drawn(_parts(nodes, groups), width, brush, indent)


def _drawn(
    parts: "Sequence[AgentNode | Group]", width: int, brush: Brush, indent: str
) -> Iterator[str]:
    for place, part in enumerate(parts):
        is_last = place == len(parts) - 1
        begin = indent + (brush.last if is_last else brush.fork)
        below = indent + ("   " if is_last else brush.beside)
        if isinstance(part, Group):
            head, amounts = _group(part)
            yield _line(begin + head, amounts, width, brush)
            yield from _drawn(part.nodes, width, brush, below)
        else:
            yield from _agent(part, begin, below, width, brush)


def _parts(nodes: Sequence[AgentNode], groups: Sequence[GroupEnded]) -> "list[AgentNode | Group]":
    """A group stands where the first of it began; one of which nobody could begin, at the end."""
    ended = {one.group: one for one in groups}
    parts: dict[tuple[str, str], list[AgentNode]] = {}
    for node in nodes:
        group = node.record.group_id
        parts.setdefault((group, "" if group else node.record.agent), []).append(node)
    for group in ended:
        parts.setdefault((group, ""), [])
    return [
        Group(id, tuple(sorted(of, key=_place)), ended.get(id)) if id else of[0]
        for (id, _), of in parts.items()
    ]


def _place(node: AgentNode) -> int:
    return node.record.child_index


def _agent(node: AgentNode, begin: str, below: str, width: int, brush: Brush) -> Iterator[str]:
    record = node.record
    place = f"[{record.child_index}] " if record.group_id else ""
    head = f"{begin}{brush.marks[record.state]} {place}{_called(record)}"
    amounts = _amounts(record.turns, record.tool_calls, record.spent, record.ms)
    if record.state == "running":
        amounts.pop()  # how long it took is known in the end
    if record.state != "completed":
        amounts = [_standing(record), *([] if record.never_began else amounts)]
    yield _line(head, amounts, width, brush)
    behind = below + (brush.beside if node.agents else "   ")
    kept = node.kept_worktree and f"its worktree is kept in {node.kept_worktree}"
    for text in (record.error, node.trouble, kept):
        if text:
            yield _fit(f"{behind}({one_line(text)})", width)
    yield from agent_lines(node.agents, node.groups, width, brush, below)


def _called(record: AgentRecord) -> str:
    """`explore  Look around (scout)`"""
    name = f"({record.name})" if record.name not in ("", record.description) else ""
    about = " ".join(filter(None, (record.description, name)))
    return one_line("  ".join(filter(None, (record.kind or "?", about))))


def _standing(record: AgentRecord) -> str:
    return one_line(f"{record.state}: {record.cause}") if record.cause else record.state


def _group(group: Group) -> tuple[str, list[str]]:
    """Its id is the call's, then its name."""
    ended, name = group.ended, one_line(group.id.rpartition("/")[2] or group.id)
    if ended is None:
        return f"group {name}", ["not ended"]
    amounts = [f"{ended.completed} completed"]
    amounts += [f"{ended.failed} failed"] if ended.failed else []
    amounts += [f"{ended.skipped} skipped"] if ended.skipped else []
    batches = counted(ended.batches, "batch", "batches")
    amounts += [f"{batches}, the largest {ended.largest_batch}", _time(ended.ms)]
    return f"group {name} ({one_line(ended.strategy)})", amounts


def _amounts(steps: int, calls: int, spent: Spent, ms: int) -> list[str]:
    tokens = counted(spent.usage.total, "token")
    return [counted(steps, "step"), counted(calls, "call"), tokens, _price(spent), _time(ms)]


def _price(spent: Spent) -> str:
    """One that nobody knows is not nothing."""
    is_unknown = spent.unpriced and not spent.dollars
    return "price unknown" if is_unknown else f"${spent.dollars:,.4f}"


def _time(ms: int) -> str:
    """`4.2 s`, `2 min 5 s`"""
    seconds = max(0, ms) / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"


def _line(head: str, amounts: Sequence[str], width: int, brush: Brush) -> str:
    """Where there is little room, what it is about gives way first, but not wholly."""
    behind = f" {brush.dot} ".join(("", *amounts)).rstrip()
    room = width - width_of(behind)
    if not width or width_of(head) <= room:
        return head + behind
    least = width_of(head) - width_of(head.lstrip("│├└─|`- ")) + LEAST_NAME
    return _fit(fitted(head, max(room, least)) + behind, width)


def _fit(line: str, width: int) -> str:
    return fitted(line, width) if width else line
