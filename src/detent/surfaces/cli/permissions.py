"""`detent permissions`: what the gate would say, and why."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from detent.sdk.permissions import (
    Change,
    Replay,
    Result,
    RuleResult,
    Score,
    Suggestion,
    check_file,
    explain,
    fault_of,
    replay,
    suggest,
)
from detent.surfaces.arguments import Arguments
from detent.surfaces.tables.explanation import explained
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.errors import BadInput

MISSING = {
    "explain": """needs one call, in quotes: detent permissions explain 'Bash(git push)'""",
    "test": "needs one FILE: cases as JSON lines, or a settings file",
}
MOST_CHARACTERS = 100


def permissions(words: tuple[str, ...], arguments: Arguments) -> int:
    as_json, sessions = arguments.on("--json"), arguments.list_of("--sessions")
    match words:
        case ("explain", call):
            found = explain(call, options_from(arguments))
            _print([found] if as_json else None, explained(found))
            return 0
        case ("test", path):
            return _test(path, arguments.value("--home"), as_json=as_json)
        case ("replay",):
            if not _names_a_policy(arguments):
                raise BadInput("replay needs the new policy: --settings JSON or FILE")
            changes = replay(options_from(arguments), sessions)
            _print([changes] if as_json else None, replayed(changes))
            return 0
        case ("suggest",):
            wanted = suggest(options_from(arguments), sessions)
            _print([_for_programs(wanted)] if as_json else None, suggested(wanted))
            return 0
    if words and words[0] in MISSING:
        raise BadInput(f"permissions {words[0]} {MISSING[words[0]]}")
    from detent.surfaces.cli.help import SUBCOMMANDS

    usage = SUBCOMMANDS["permissions"].rstrip()
    raise BadInput(usage if not words else f"{usage}\nnot {' '.join(words)!r}")


def _names_a_policy(arguments: Arguments) -> bool:
    values = ("--settings", "--setting-sources", "--permission-mode")
    lists = ("--allowedTools", "--disallowedTools")
    return any(map(arguments.values.get, values)) or any(map(arguments.list_of, lists))


def _print(objects: Iterable[object] | None, lines: Iterable[str]) -> None:
    """One object per line for programs, else lines for people."""
    if objects is None:
        sys.stdout.writelines(f"{visible(line, indent=6)}\n" for line in lines)
    else:
        sys.stdout.writelines(f"{encode(each).decode()}\n" for each in objects)


class CaseLine(Struct, frozen=True):
    id: str
    decision: str
    rule: str | None


def _test(path: str, home: str, *, as_json: bool) -> int:
    tested = check_file(path, home)
    if tested.score is None:
        _print(tested.of_rules if as_json else None, rules_tested(tested.of_rules))
        return 0 if all(each.must == each.matches for each in tested.of_rules) else 1
    lines = [CaseLine(each.case.id, each.decision, each.rule) for each in tested.results]
    objects = [*lines, tested.score] if as_json else None
    _print(objects, scored(tested.results, tested.score))
    return 0 if tested.score.right == tested.score.cases else 1


def scored(results: Iterable[Result], score: Score) -> Iterator[str]:
    for each in results:
        if fault := fault_of(each):
            case = each.case
            call = case.command if case.command is not None else encode(case.input).decode()
            by = f" by {each.rule}" if each.rule else f" ({each.reason})"
            yield f"{fault}  {case.id}  {case.tool}: {_short(call)}"
            yield f"    must {case.must}, got {each.decision}{by}; {case.why}"
    yield f"{score.right} of {score.cases} cases are right"
    yield (
        ", ".join(
            f"{name} {getattr(score, name)} ({score.rates[name]:.1%})"
            for name in ("unsafe", "weak", "noisy", "blunt")
        )
        + f"; weak in dontAsk {score.weak_in_dontAsk}"
    )


def rules_tested(results: Iterable[RuleResult]) -> Iterator[str]:
    wrong = total = 0
    for each in results:
        total += 1
        if each.must != each.matches:
            wrong += 1
            what = "does not match" if each.must else "matches, and must not:"
            yield f"{each.list} rule {each.rule} {what} {_short(each.input)}"
    yield f"{total - wrong} of {total} cases are right"


def replayed(found: Replay) -> Iterator[str]:
    alike = Counter(map(_change, found.changes))
    for (call, what), times in alike.items():
        yield f"{call} ({times} times)" if times > 1 else call
        yield f"    {what}"
    yield (
        f"{found.changed} of {found.calls} past calls would be decided otherwise: "
        f"{found.stricter} stricter, {found.looser} looser"
    )
    if found.unread:
        yield f"{found.unread} could not be judged: the tools of today do not take them"


def _change(each: Change) -> tuple[str, str]:
    by = f" by {each.rule}" if each.rule else f" ({each.reason})"
    what = f"was {each.was}; now {each.now}, would be {each.would_be}{by}"
    return f"{each.tool}: {_short(_main(each.input))}", what


def suggested(found: Suggestion) -> Iterator[str]:
    yield from encode_pretty(_settings(found))
    for each in found.rules:
        yield f"  {each.rule} permits {each.calls} of the approved calls"
    yield f"{found.covered} of {found.approved} approved calls are covered; {found.refused} refused"
    if found.uncovered:
        yield "No rule is offered for:"
        yield from (f"  {_short(name)}" for name in found.uncovered)


def encode_pretty(value: object) -> list[str]:
    from msgspec.json import format as formatted

    return formatted(encode(value)).decode().splitlines()


def _settings(found: Suggestion) -> dict[str, dict[str, list[str]]]:
    return {"permissions": {"allow": [each.rule for each in found.rules]}}


def _for_programs(found: Suggestion) -> dict[str, object]:
    return {
        "settings": _settings(found),
        "rules": found.rules,
        "approved": found.approved,
        "covered": found.covered,
        "refused": found.refused,
        "uncovered": found.uncovered,
    }


def _main(given: dict[str, object]) -> str:
    only = next(iter(given.values()), "") if len(given) == 1 else given.get("command")
    return only if isinstance(only, str) else encode(given).decode()


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
