"""Asking the gate without running anything: why, what if, and which rules would do."""

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from detent.app.options import Options
from detent.app.permissions.calls import read_call
from detent.app.permissions.cases import Case, Result, run_cases
from detent.app.permissions.explaining import Explanation, RuleSeen
from detent.app.permissions.explaining import explain as _explain
from detent.app.permissions.own_cases import RuleResult, is_settings, run_own_cases
from detent.app.permissions.past import PastCall, past_calls
from detent.app.permissions.policies import policy_of
from detent.app.permissions.replaying import Change, Replay
from detent.app.permissions.replaying import replay as _replay
from detent.app.permissions.scoring import Score, fault_of, score
from detent.app.permissions.suggesting import Suggested, Suggestion
from detent.app.permissions.suggesting import suggest as _suggest
from detent.app.places import user_home
from detent.types.codec import arguments_object
from detent.types.errors import BadInput

__all__ = [
    "Case",
    "Change",
    "Explanation",
    "PastCall",
    "Replay",
    "Result",
    "RuleResult",
    "RuleSeen",
    "Score",
    "Suggested",
    "Suggestion",
    "Tested",
    "check_file",
    "explain",
    "fault_of",
    "replay",
    "suggest",
]


class Tested(Struct, frozen=True):
    """What a file of cases came to: one of the two lists, by the kind of file."""

    results: tuple[Result, ...] = ()
    score: Score | None = None
    of_rules: tuple[RuleResult, ...] = ()


def explain(call: str, options: Options) -> Explanation:
    """`call` is `TOOL(INPUT)`; the options say which folder, settings and mode."""
    tool, given = read_call(call)
    policy, grounds = policy_of(options)
    wishes = grounds.settings.sandbox
    return _explain(
        policy,
        tool,
        given,
        notices=grounds.settings.notices,
        by_sandbox=wishes is not None and wishes.auto_allow and options.sandbox != "off",
    )


def check_file(path: str, home: str = "") -> Tested:
    """Cases, one JSON object per line, or a settings file with `permissions.cases`."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot read {path}: {why}") from None
    values = arguments_object(data.decode(errors="replace")) or {}
    if is_settings(values):
        own = os.path.realpath(home or user_home(os.environ))
        return Tested(of_rules=tuple(run_own_cases(values, data, path, own)))
    results = run_cases(data, path, home)
    return Tested(tuple(results), score(results))


def replay(options: Options, sessions: Sequence[str] = ()) -> Replay:
    """Past calls under the policy of today, and under the one that the options make."""
    new, grounds = policy_of(options)
    usual = Options(cwd=options.cwd, trust=options.trust, environ=options.environ)
    today, _ = policy_of(replace(usual, managed_folders=options.managed_folders))
    return _replay(past_calls(grounds, sessions), today, new)


def suggest(options: Options, sessions: Sequence[str] = ()) -> Suggestion:
    policy, grounds = policy_of(options)
    return _suggest(past_calls(grounds, sessions), policy)
