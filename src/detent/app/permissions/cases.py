"""Permission cases, one JSON object per line: rules, a mode, a call, and what must come of it."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import Struct

from detent.app.permissions.calls import NotTaken, Proposer
from detent.app.permissions.policies import decided
from detent.app.permissions.staging import staged
from detent.app.settings.permissions import permissions_of
from detent.app.settings.record import Settings, Source
from detent.gate.terms import Policy, RuleSet, Workspace, parse_mode
from detent.types.errors import BadInput
from detent.types.verdicts import Allow, Ask, Verdict

Answer = Literal["allow", "ask", "deny"]
HOME = re.compile(r"/home/dev(?![\w.-])")
"""Stands for the home folder in every text of a case."""


class CaseRules(Struct, frozen=True):
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


class CaseFiles(Struct, frozen=True):
    symlinks: dict[str, str] = {}
    """By their path below the working folder, where each leads to."""


class Case(Struct, frozen=True):
    id: str
    mode: str
    cwd: str
    tool: str
    must: Answer
    rules: CaseRules
    category: str = ""
    command: str | None = None
    input: dict[str, Any] | None = None
    fs: CaseFiles = CaseFiles()
    why: str = ""


class Result(Struct, frozen=True):
    case: Case
    decision: Answer
    rule: str | None
    """The text of the rule that decided."""
    reason: str


def word_of(verdict: Verdict) -> Answer:
    return "allow" if isinstance(verdict, Allow) else "ask" if isinstance(verdict, Ask) else "deny"


def run_cases(data: bytes, name: str, home: str = "") -> list[Result]:
    """`home` is made where it is missing; without one it all happens in a folder that is removed
    again. Nothing is ever made outside of it."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not lines:
        raise BadInput(f"{name}: there are no cases in it")
    proposer = Proposer()
    with _folder(home) as root, _at_home(root):
        return [_run(line, f"{name}:{number}", root, proposer) for number, line in lines]


@contextmanager
def _folder(home: str) -> Iterator[str]:
    if home:
        try:
            os.makedirs(home, exist_ok=True)
        except OSError as error:
            raise BadInput(f"--home {home}: {error.strerror}") from None
        yield os.path.realpath(home)
        return
    made = tempfile.mkdtemp(prefix="detent-cases-")
    try:
        yield os.path.realpath(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _at_home(home: str) -> Iterator[None]:
    """Tools ask the environment what `~` is."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = home
    try:
        yield
    finally:
        os.environ.pop("HOME")
        if before is not None:
            os.environ["HOME"] = before


def _run(line: bytes, where: str, home: str, proposer: Proposer) -> Result:
    """Folders and links are of one case only: the next may want a link where a folder was.

    A case that cannot be tried counts as denied and says why; the others are tried all the same.
    """
    case = _read(line, where, home)
    try:
        with staged(home) as stage:
            stage.folder(case.cwd)
            for link, target in case.fs.symlinks.items():
                stage.link(os.path.join(case.cwd, link), target)
            return _judge(case, home, proposer)
    except BadInput as error:
        return Result(case, "deny", None, f"{where}: not tried: {error}")


def _read(line: bytes, where: str, home: str) -> Case:
    try:
        case = msgspec.convert(_moved(msgspec.json.decode(line), home), Case)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: not a case: {error}") from None
    if (case.input if case.tool != "Bash" else case.command) is None:
        field = "command" if case.tool == "Bash" else "input"
        raise BadInput(f"{where}: not a case: {case.tool} needs the field `{field}`")
    return case


def _moved(value: Any, home: str) -> Any:
    """With the home folder of the cases replaced in every text."""
    match value:
        case str():
            return HOME.sub(lambda _: home, value)
        case list():
            return [_moved(each, home) for each in value]
        case dict():
            return {_moved(key, home): _moved(each, home) for key, each in value.items()}
    return value


def _judge(case: Case, home: str, proposer: Proposer) -> Result:
    given = {"command": case.command} if case.tool == "Bash" else case.input or {}
    try:
        proposal = proposer.propose(case.tool, given, case.cwd)
    except NotTaken as error:
        return Result(case, "deny", None, str(error))
    workspace = Workspace(case.cwd, (os.path.realpath(case.cwd),), home)
    policy = Policy(_rules(case), parse_mode(case.mode), workspace)
    decision = decided(policy, proposal)
    rule = decision.rule.text if decision.rule else None
    verdict = decision.verdict
    return Result(case, word_of(verdict), rule, verdict.reason or verdict.source)


def _rules(case: Case) -> RuleSet:
    """As if they stood in the settings of a project that is trusted."""
    rules = {name: list(getattr(case.rules, name)) for name in ("allow", "deny", "ask")}
    path = os.path.join(case.cwd, ".detent", "settings.json")
    source = Source("project", path, {"permissions": rules}, True, folder=case.cwd, is_trusted=True)
    found = permissions_of(source, Settings())
    return RuleSet(allow=found.allow, ask=found.ask, deny=found.deny)
