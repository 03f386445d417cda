"""Why a turn ended → the exit code of the contract."""

from detent.types.events import Reason

ERROR, USAGE, REFUSED, LIMIT, INCOMPLETE, UNFIT, UNAVAILABLE = 1, 2, 3, 4, 5, 6, 7
HUNG_UP, INTERRUPTED, READER_GONE, TERMINATED = 129, 130, 141, 143

_CODES: dict[Reason, int] = {
    "end_turn": 0,
    "api_error": ERROR,
    "blocking_limit": INCOMPLETE,
    "budget_exceeded": LIMIT,
    "hook_stopped": ERROR,
    "invalid_response": ERROR,
    "max_tokens": INCOMPLETE,
    "max_turns": LIMIT,
    "prompt_too_long": INCOMPLETE,
    "refusal": ERROR,
    "retries_exhausted": UNAVAILABLE,
    "schema_mismatch": UNFIT,
    "user_cancelled": INTERRUPTED,
}


def exit_code(reason: Reason, *, refused: bool, status: int | None = None) -> int:
    if reason in ("end_turn", "hook_stopped") and refused:
        return REFUSED
    if reason == "api_error" and status in (401, 403):
        return UNAVAILABLE
    return _CODES[reason]
