"""What a hook command's end means: exit codes, output, time."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.gate.hooks import HookAnswer
from detent.gate.hooks.kinds import KINDS
from detent.gate.hooks.reading import BadAnswer, capped, read_answer
from detent.types.codec import decode_any

NOT_STARTED = (126, 127)
"""What a shell says of a command that is not there or cannot be run."""


class Ran(Struct, frozen=True):
    exit_code: int | None = None
    """None: it did not come to an end of its own."""
    stdout: str = ""
    stderr: str = ""
    trouble: str = ""
    """Why it did not."""


def meaning(ran: Ran, event: str) -> tuple[HookAnswer, str]:
    """Its answer, and what went wrong, as the rest of a sentence about the hook."""
    if ran.exit_code is None:
        return HookAnswer(), ran.trouble
    kind = KINDS[event]
    answer, fault = _said(ran.stdout, event)
    if ran.exit_code == 2:
        return _blocking(ran, answer, event)
    if answer.decision == "deny" and not kind.decides:
        answer, fault = replace(answer, decision="none"), f"cannot block {event}: {answer.reason}"
    if ran.exit_code in NOT_STARTED:
        return HookAnswer(), f"could not be run (exit code {ran.exit_code}): {_first(ran.stderr)}"
    if ran.exit_code != 0:
        return answer, f"failed with exit code {ran.exit_code}: {_first(ran.stderr)}"
    is_text = ran.stdout.strip() and not ran.stdout.lstrip().startswith("{")
    if is_text and kind.takes_text:
        return HookAnswer(context=capped(ran.stdout.strip())), ""
    return answer, fault


def _blocking(ran: Ran, answer: HookAnswer, event: str) -> tuple[HookAnswer, str]:
    """Nothing that it printed undoes it."""
    reason = answer.reason or capped(ran.stderr.strip()) or "A hook blocked it and gave no reason."
    if not KINDS[event].blocks:
        return replace(answer, decision="none"), f"cannot block {event}: {reason}"
    return replace(answer, decision="deny", reason=reason, arguments=None), ""


def _said(stdout: str, event: str) -> tuple[HookAnswer, str]:
    if not stdout.lstrip().startswith("{"):
        return HookAnswer(), ""
    try:
        said = decode_any(stdout)
    except (ValueError, RecursionError) as error:
        return HookAnswer(), f"printed JSON that cannot be read: {error}"
    try:
        return read_answer(_as_table(said), event), ""
    except BadAnswer as error:
        return HookAnswer(), str(error)


def _as_table(said: Any) -> Mapping[str, Any]:
    if not isinstance(said, dict):
        raise BadAnswer("printed JSON that is no object")
    return said


def _first(stderr: str) -> str:
    """Enough to find the fault; a whole log is not for a line."""
    text = stderr.strip()[:500]
    return text or "it said nothing on stderr"
