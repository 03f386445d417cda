"""What subagents came to, in words for the model and as data for programs."""

from collections.abc import Sequence
from typing import Any

from detent.tools.files.texts import counted
from detent.types.agents import AgentRecord
from detent.types.budget import Spent

NOTHING_SAID = "(it ended without an answer)"


def told(record: AgentRecord) -> str:
    """`3 steps, 5 tool calls, 12,345 tokens, $0.0123, 4.2 s`"""
    return f"{all_told([record])}, {record.ms / 1000:.1f} s"


def all_told(records: Sequence[AgentRecord]) -> str:
    """The same of several, but for their times: they run beside each other."""
    spent = _spent(records)
    parts = (
        counted(sum(record.turns for record in records), "step"),
        counted(sum(record.tool_calls for record in records), "tool call"),
        counted(spent.usage.total, "token"),
        _price(spent),
    )
    return ", ".join(filter(None, parts))


def came_to(record: AgentRecord) -> str:
    """The answer, or why there is none; both, of one that did not come to its end."""
    answer = record.answer.strip()
    match record.state:
        case "completed":
            return answer or NOTHING_SAID
        case "running":
            return "It is still running."
        case "skipped":
            return f"Not begun: {record.stop_reason or record.error}."
    reasons = dict.fromkeys(filter(None, (record.cause, record.error)))
    why = f"[{': '.join((record.state, *reasons))}]"
    return f"{answer}\n\n{why}" if answer else why


def data_of(record: AgentRecord) -> dict[str, Any]:
    """As clients of the `Agent` tool know it."""
    return {
        "status": record.state,
        "agentId": record.agent,
        "agentType": record.kind,
        "name": record.name,
        "description": record.description,
        "content": [{"type": "text", "text": record.answer}] if record.answer else [],
        "error": record.error,
        "stopReason": record.stop_reason,
        "sessionPath": record.session_path,
        "worktree": record.worktree,
        "totalDurationMs": record.ms,
        **totals_of([record]),
    }


def totals_of(records: Sequence[AgentRecord]) -> dict[str, Any]:
    spent = _spent(records)
    usage = spent.usage
    return {
        "totalSteps": sum(record.turns for record in records),
        "totalToolUseCount": sum(record.tool_calls for record in records),
        "totalTokens": usage.total,
        "totalCostUsd": spent.dollars,
        "usage": {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
        },
    }


def _spent(records: Sequence[AgentRecord]) -> Spent:
    return sum((record.spent for record in records), Spent())


def _price(spent: Spent) -> str:
    """A price that nobody knows is not nothing; nothing is not worth a word."""
    if spent.dollars:
        return f"${spent.dollars:,.4f}"
    return "price unknown" if spent.unpriced else ""
