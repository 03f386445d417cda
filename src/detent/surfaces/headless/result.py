"""The result object: one record of what a turn did, cost and left behind."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from detent.sdk.session import new_uuid
from detent.sdk.summary import TurnSummary, summarise
from detent.types.agents import ChildChanged
from detent.types.codec import arguments_object, encode
from detent.types.effects import Runs, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Event,
    Lost,
    Nested,
    Reason,
    Reminded,
    Replied,
    TurnEnded,
)
from detent.types.files import Change
from detent.types.outcomes import Cut, Done, Refused
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.surfaces.headless.refused_below import RefusedBelow

Price = Callable[[str, Usage], float | None]

TERMINAL: dict[Reason, str] = {
    "end_turn": "completed",
    "budget_exceeded": "budget_exhausted",
    "hook_stopped": "hook_stopped",
    "invalid_response": "model_error",
    "max_tokens": "model_error",
    "refusal": "model_error",
    "retries_exhausted": "api_error",
    "schema_mismatch": "structured_output_retry_exhausted",
}
"""Our reasons in the words SDK clients know; the others are the same in both."""

SUBTYPES: dict[Reason, str] = {
    "end_turn": "success",
    "api_error": "success",
    "retries_exhausted": "success",
    "max_turns": "error_max_turns",
    "budget_exceeded": "error_max_budget_usd",
    "schema_mismatch": "error_max_structured_output_retries",
}
"""A failed request counts as `success` with `is_error`: that is how clients tell it apart."""


class TurnRecord:
    """Collects the events of a turn and makes the result of them."""

    def __init__(
        self, session: str, price: Price, models: Callable[[str], tuple[int, int]]
    ) -> None:
        self._session = session
        self._price = price
        self._models = models
        self._events: list[Event] = []
        self._below: list[tuple[str, Usage]] = []
        """What subagents were paid for, and to which model."""
        self._refused_below: RefusedBelow | None = None
        self._changed_below: dict[str, None] = {}
        """Files that they have changed."""
        self._wraps_up = self._is_wrapped_up = False
        """A spent budget allows one last answer; it has come."""

    def add(self, event: Event) -> None:
        """Only what the result needs is kept: a long answer must not be stored piece by piece."""
        if isinstance(event, Replied | CallStarted | CallEnded | Compacted | TurnEnded):
            self._events.append(event)
        elif isinstance(event, ChildChanged):
            self._changed_below.update(dict.fromkeys(_files(event.changed)))
        elif isinstance(event, Nested):
            self._look_below(event)
        if isinstance(event, Reminded) and event.source == "budget":
            self._wraps_up = True
        elif isinstance(event, Replied):
            self._is_wrapped_up = self._wraps_up

    def _look_below(self, event: Event) -> None:
        """What it costs, also of one that will never come to its end, or only after this turn; and
        what it was refused."""
        from detent.surfaces.headless.refused_below import RefusedBelow
        from detent.surfaces.wording.nesting import innermost

        agent, event = innermost(event)
        self._refused_below = self._refused_below or RefusedBelow()
        self._refused_below.look_at(agent, event)
        if isinstance(event, Replied | Lost | Classified | Compacted) and event.usage.total:
            self._below.append((event.model, event.usage))

    @property
    def ended(self) -> TurnEnded | None:
        last = self._events[-1] if self._events else None
        return last if isinstance(last, TurnEnded) else None

    def summary(self) -> TurnSummary:
        return summarise(self._events)

    def result(self, budget: dict[str, Any]) -> dict[str, Any]:
        ended, summary = self.ended, self.summary()
        assert ended is not None
        is_error = ended.reason != "end_turn"
        usage_by_model, cost, unknown = self._costs(ended)
        result: dict[str, Any] = {
            "type": "result",
            "subtype": _subtype(ended),
            "is_error": is_error,
            "result": self._said(ended),
            "stop_reason": summary.steps[-1].stop if summary.steps else None,
            "session_id": self._session,
            "uuid": new_uuid(),
            "num_turns": summary.iterations,
            "duration_ms": ended.ms,
            "duration_api_ms": ended.api_ms,
            "total_cost_usd": cost,
            "usage": wire_usage(summary.usage),
            "modelUsage": usage_by_model,
            "permission_denials": self._denials(),
            "terminal_reason": self._terminal(ended),
            "reason": ended.reason,
            "iterations": [self._iteration(step) for step in summary.steps],
            "auto_compaction": _compaction(summary.auto_compaction),
            "files_changed": self._files_changed(),
            "commands": self._commands(),
            "budget": budget,
        }
        if is_error:
            result["errors"] = [ended.error] if ended.error else []
            result["text"] = summary.text
        if ended.output is not UNSET:
            result["structured_output"] = ended.output
        if ended.status is not None:
            result["api_error_status"] = ended.status
        if unknown:
            result["cost_unknown"] = True
        return result

    def _said(self, ended: TurnEnded) -> str:
        """The answer; why there is none, where there is none. A spent budget may allow one."""
        answer = self.summary().text or _as_text(ended.output)
        is_answer = ended.reason == "end_turn" or self._is_wrapped_up
        return (answer if is_answer else ended.error) or ended.error or answer

    def _terminal(self, ended: TurnEnded) -> str:
        if ended.reason == "user_cancelled":
            running = any(isinstance(c.outcome, Cut) for c in self._ended_calls())
            return "aborted_tools" if running else "aborted_streaming"
        return TERMINAL.get(ended.reason, ended.reason)

    def _costs(self, ended: TurnEnded) -> tuple[dict[str, Any], float, bool]:
        """What came to no answer was paid for as well, and what subagents did."""
        by_model: dict[str, Usage] = {}
        dollars: dict[str, float] = {}
        unknown = False
        own = [*((s.model, s.usage) for s in ended.steps), *ended.lost.items()]
        for model, usage in [*own, *self._below]:
            by_model[model] = by_model.get(model, Usage()) + usage
            cost = self._price(model, usage)
            unknown = unknown or (cost is None and usage.total > 0)
            dollars[model] = dollars.get(model, 0.0) + (cost or 0.0)
        table = {
            model: self._model_usage(model, usage, dollars[model])
            for model, usage in by_model.items()
        }
        return table, round(sum(dollars.values()), 8), unknown

    def _model_usage(self, model: str, usage: Usage, dollars: float) -> dict[str, Any]:
        window, max_output = self._models(model)
        return {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadInputTokens": usage.cache_read,
            "cacheCreationInputTokens": usage.cache_write,
            "webSearchRequests": 0,
            "costUSD": round(dollars, 8),
            "contextWindow": window,
            "maxOutputTokens": max_output,
        }

    def _iteration(self, step: Any) -> dict[str, Any]:
        return {
            "step": step.step,
            "model": step.model,
            "stop_reason": step.stop,
            "usage": wire_usage(step.usage),
            "tool_calls": step.calls,
            "ms": step.ms,
        }

    def _ended_calls(self) -> list[CallEnded]:
        return [event for event in self._events if isinstance(event, CallEnded)]

    def _denials(self) -> list[dict[str, Any]]:
        inputs = {
            call.id: call.arguments
            for event in self._events
            if isinstance(event, Replied)
            for call in _calls(event)
        }
        own = [_denial(call, inputs.get(call.call_id, "{}")) for call in self.summary().refused]
        if (below := self._refused_below) is None:
            return own
        return [
            *own,
            *(
                _denial(call, below.arguments(agent, call.call_id)) | {"agent_id": agent}
                for agent, call in below.calls
            ),
        ]

    @property
    def refused(self) -> list[tuple[str, CallEnded]]:
        """With the subagent whose call it was, if it was one's."""
        below = () if self._refused_below is None else self._refused_below.calls
        return [*(("", call) for call in self.summary().refused), *below]

    def _files_changed(self) -> list[str]:
        finished = {e.call_id for e in self._ended_calls() if isinstance(e.outcome, Done)}
        changed: dict[str, None] = {}
        for event in self._events:
            if isinstance(event, CallStarted) and event.call_id in finished:
                changed.update((e.path, None) for e in event.effects if isinstance(e, Writes))
            elif isinstance(event, CallEnded):  # by a command, too
                changed.update(dict.fromkeys(_files(event.changed)))
        return list(changed | self._changed_below)

    def _commands(self) -> list[dict[str, Any]]:
        endings = {event.call_id: event.outcome for event in self._ended_calls()}
        commands = []
        for event in self._events:
            if not isinstance(event, CallStarted):
                continue
            for effect in event.effects:
                if isinstance(effect, Runs):
                    data = getattr(endings.get(event.call_id), "data", None) or {}
                    commands.append({"command": effect.command, "exit_code": data.get("exitCode")})
        return commands


def _subtype(ended: TurnEnded) -> str:
    """Clients take `error_max_budget_usd` for money; of other budgets they know no name."""
    if ended.reason == "budget_exceeded" and ended.limit not in ("", "dollars"):
        is_turns = ended.limit in ("turns", "requests")
        return "error_max_turns" if is_turns else "error_during_execution"
    return SUBTYPES.get(ended.reason, "error_during_execution")


def _as_text(output: Any) -> str:
    return "" if output is UNSET else encode(output).decode()


def _compaction(event: Compacted | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "trigger": event.trigger,
        "pre_tokens": event.before_tokens,
        "post_tokens": event.after_tokens,
        "messages": event.replaced,
        "by": event.by,
        "keeps_from": event.keeps_from,
        "notice": "older messages were replaced by a summary",
    }


def _calls(reply: Replied) -> Sequence[Any]:
    from detent.types.content import Call

    return [block for block in reply.content if isinstance(block, Call)]


def input_object(arguments: str) -> dict[str, Any]:
    """Arguments as clients want them: an object, also when the model wrote none."""
    given = arguments_object(arguments)
    return {"invalid_arguments": arguments} if given is None else given


def wire_usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }


def failed_result(session: str, message: str, reason: str) -> dict[str, Any]:
    """The result of a run that never got to a turn."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "result": message,
        "session_id": session,
        "uuid": new_uuid(),
        "num_turns": 0,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "total_cost_usd": 0.0,
        "usage": wire_usage(Usage()),
        "modelUsage": {},
        "permission_denials": [],
        "terminal_reason": "turn_setup_failed",
        "reason": reason,
        "errors": [message],
        "iterations": [],
        "auto_compaction": None,
        "files_changed": [],
        "commands": [],
        "budget": {"limits": {}, "used": {}},
    }


def _files(changes: Iterable[Change]) -> Iterator[str]:
    """Without folders that came or went with them."""
    for change in changes:
        if {change.before.kind, change.after.kind} - {"none", "folder"}:
            yield change.path


def _denial(call: CallEnded, arguments: str) -> dict[str, Any]:
    return {
        "tool_name": call.name,
        "tool_use_id": call.call_id,
        "tool_input": input_object(arguments),
        "reason": call.outcome.reason if isinstance(call.outcome, Refused) else "",
    }
