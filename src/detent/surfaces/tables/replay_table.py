"""What a replay came to, as people read it."""

from detent.sdk.replay import Report
from detent.surfaces.counting import counted
from detent.types.version import VERSION


def told(report: Report) -> list[str]:
    lines = [
        f"Session {report.session}: {counted(report.entries, 'entry', 'entries')}, "
        f"{report.made} came out again byte for byte, {report.given} taken as given "
        f"({counted(report.turns, 'turn')})."
    ]
    if report.bytes:
        lines.append(
            f"Of {report.bytes:,} bytes that came out again {report.inputs:,} are inputs: "
            "what the model said, results, times."
        )
    if report.unchecked:
        why = "; ".join(report.why_unchecked) or "no reason is known"
        number = counted(report.unchecked, "entry", "entries")
        lines.append(f"{number} could not be checked: {why}.")
    if (found := report.difference) is not None:
        where = f"entry {found.seq} ({found.type})" if found.seq else "behind the last entry"
        lines.append(f"It differs at {where}{f', {found.field}' if found.field else ''}:")
        lines += [f"  recorded  {found.recorded}", f"  now       {found.got}"]
        if report.version != VERSION:
            lines.append(f"It was recorded by version {report.version}; this is {VERSION}.")
    elif not report.unchecked:
        lines.append("Nothing differs.")
    return lines
