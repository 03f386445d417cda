"""What came of a delegated plan: one text for the model, one record for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from detent.tools.base import ROOM
from detent.tools.delegation.conducting import Work
from detent.tools.delegation.sharing import shares, within
from detent.tools.delegation.telling import all_told, came_to, data_of, told, totals_of
from detent.types.agents import AgentRecord, GroupEnded

FOR_THE_FILE = 300
"""Characters that tell where the whole of it is."""

Records = Mapping[int, AgentRecord]


class Report(Struct, frozen=True):
    text: str
    """With answers cut so that all have room."""
    whole: str
    data: dict[str, Any]


def report_of(work: Work, records: Records, groups: Mapping[int, GroupEnded]) -> Report:
    heads, bodies = zip(*_pieces(work, records, groups), strict=True)
    left = ROOM - FOR_THE_FILE - sum(len(head) + 3 for head in heads)
    rooms = shares([len(body) for body in bodies], left)
    cut = [within(body, room) for body, room in zip(bodies, rooms, strict=True)]
    return Report(_joined(heads, cut), _joined(heads, bodies), _data(work, records, groups))


def _joined(heads: tuple[str, ...], bodies: tuple[str, ...] | list[str]) -> str:
    pieces = zip(heads, bodies, strict=True)
    return "\n\n".join(f"{head}\n{body}" if body else head for head, body in pieces if head)


def _pieces(
    work: Work, records: Records, groups: Mapping[int, GroupEnded]
) -> Iterator[tuple[str, str]]:
    """Headings, each with what stands below it."""
    yield _summary(records), ""
    for number, group in enumerate(work.plan.groups):
        yield _of_group(group.name, groups[number]), ""
        for index in group.children:
            yield _of_child(records[index]), came_to(records[index])
    yield _advice(work, records), ""


def _summary(records: Records) -> str:
    children = list(records.values())
    done = sum(child.state == "completed" for child in children)
    return f"{done} of {len(children)} completed; in all {all_told(children)}."


def _of_group(name: str, ended: GroupEnded) -> str:
    counts = f"{ended.completed} completed, {ended.failed} failed, {ended.skipped} skipped"
    batches = f"{ended.batches} {'batch' if ended.batches == 1 else 'batches'}"
    largest = f", the largest of {ended.largest_batch}" if ended.batches else ""
    return f"# group {name} ({ended.strategy}): {counts}; {batches}{largest}"


def _of_child(record: AgentRecord) -> str:
    has_run = record.agent and not record.never_began
    ran = f" ({record.agent}; {told(record)})" if has_run else ""
    return f"## {record.name}: {record.state}{ran}"


def _advice(work: Work, records: Records) -> str:
    states = {record.state for record in records.values()}
    if states == {"completed"}:
        return ""
    retry = ' and "retry_failed": true' if "failed" in states else ""
    return f'To go on with the rest: delegate_agent with "resume_group_id": "{work.call}"{retry}.'


def _data(work: Work, records: Records, groups: Mapping[int, GroupEnded]) -> dict[str, Any]:
    return {
        "callId": work.call,
        "groups": [
            {
                "id": groups[number].group,
                "name": group.name,
                "strategy": group.strategy,
                "completed": groups[number].completed,
                "failed": groups[number].failed,
                "skipped": groups[number].skipped,
                "batches": groups[number].batches,
                "largestBatch": groups[number].largest_batch,
                "durationMs": groups[number].ms,
                "children": [_child_data(index, records[index]) for index in group.children],
            }
            for number, group in enumerate(work.plan.groups)
        ],
        **totals_of(list(records.values())),
    }


def _child_data(index: int, record: AgentRecord) -> dict[str, Any]:
    return {**data_of(record), "childIndex": index}
