"""The gate of a session: its rules, folders and mode, and who stands behind it."""

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.grounds import Grounds
from detent.app.journal import Journal
from detent.app.options import Options
from detent.app.recorder import Recorder
from detent.app.settings.record import Settings
from detent.context.account import Account
from detent.gate.gate import Gatekeeper
from detent.gate.terms import Mode, Origin, Rule, RuleSet, Workspace, parse_mode
from detent.ports import Classifier, Proposal
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Reads
from detent.types.errors import BadInput
from detent.types.events import Entry, Notice, Switched
from detent.types.verdicts import Allow

HOLDING = ("plan", "dontAsk")
"""Modes in which less runs than in any other."""


def gate_of(
    grounds: Grounds,
    rules: RuleSet,
    workspace: Workspace,
    journal: Journal,
    recorder: Recorder,
    account: Account,
) -> Gatekeeper:
    options, settings = grounds.options, grounds.settings
    gate = Gatekeeper(
        workspace,
        mode=permitted_mode(options.permission_mode or settings.mode or "default", settings),
        rules=rules,
        hooks=options.hooks,
        hooks_first=settings.gate_order == "hooks_first",
        saved=lambda: options.allow_unsaved or not recorder.unsaved,
        report=lambda text: recorder.hint(Notice(text, "warning")),
        canonical=canonical_name,
        store=_rule_store(grounds, recorder),
    )
    gate.limits = grounds.limits
    gate.takes_allow_rules = not settings.managed_rules_only
    gate.classifier = options.classifier or _classifier(grounds, journal, recorder, account)
    if not options.permission_mode and journal.log.entries:
        _go_on(gate, journal.log.entries)
    return gate


def _go_on(gate: Gatekeeper, entries: Sequence[Entry]) -> None:
    """A mode that holds back lasts until somebody leaves it."""
    from detent.app.kept_choices import kept_mode

    kept = kept_mode(entries)
    if kept in HOLDING and gate.mode != "plan":
        gate.mode = parse_mode(kept)  # the way out of a plan leads to the mode that is set


def rules_of(options: Options, settings: Settings, cwd: str) -> RuleSet:
    def of_flags(texts: tuple[str, ...]) -> tuple[Rule, ...]:
        if not texts:
            return ()
        from detent.gate.rules import parse_rule

        origin = Origin("flag", folder=cwd)
        return tuple(replace(parse_rule(text, canonical_name), origin=origin) for text in texts)

    allowed = of_flags(options.allowed_tools)
    return RuleSet(
        allow=(*(() if settings.managed_rules_only else allowed), *settings.allow),
        ask=settings.ask,
        deny=(*of_flags(options.disallowed_tools), *settings.deny),
    )


def workspace_of(grounds: Grounds, outputs: Callable[[], tuple[str, ...]]) -> Workspace:
    cwd = grounds.cwd
    added = [os.path.join(cwd, folder) for folder in grounds.options.add_dirs]
    for folder in added:
        if not os.path.isdir(folder):
            raise BadInput(f"there is no folder {folder} to add")
    declared = [
        place for folder in grounds.settings.directories if (place := _there(folder, grounds))
    ]
    roots = tuple(os.path.realpath(folder) for folder in (cwd, *added, *declared))
    return Workspace(cwd, roots, grounds.own, readable=outputs)


def missing_folders(grounds: Grounds) -> list[str]:
    """Settings are for more than one machine: what is not there on this one is left out."""
    return [
        f"permissions.additionalDirectories: there is no folder {folder}"
        for folder in grounds.settings.directories
        if not _there(folder, grounds)
    ]


def quiet_facts(grounds: Grounds) -> Iterator[str]:
    """What is as the user has set it, and could surprise all the same."""
    options, settings = grounds.options, grounds.settings
    is_auto = (options.permission_mode or settings.mode) == "auto"
    if is_auto and not (options.classifier or settings.auto_model):
        yield "mode auto asks as mode default does: autoMode.model names no model to decide"
    wishes = settings.sandbox
    if (options.sandbox or (wishes and wishes.backend)) == "off":
        yield "commands run without a sandbox: it is switched off"


def _there(folder: str, grounds: Grounds) -> str:
    """The place of a folder that settings name; empty when there is none."""
    below_home = f"{folder}/".startswith("~/")
    place = os.path.join(*((grounds.own, folder[2:]) if below_home else (grounds.cwd, folder)))
    return place if os.path.isdir(place) else ""


def permitted_mode(text: str, settings: Settings) -> Mode:
    mode = parse_mode(text)
    if mode == "bypassPermissions" and settings.no_bypass:
        raise BadInput("bypassPermissions is not to be had: disableBypassPermissionsMode is set")
    return mode


def _classifier(
    grounds: Grounds, journal: Journal, recorder: Recorder, account: Account
) -> Classifier | None:
    options, settings = grounds.options, grounds.settings
    if not settings.auto_model:
        return None
    from detent.app.classifying import ModelClassifier
    from detent.app.models import prices
    from detent.loop.spending import Purse

    own = replace(options, model=settings.auto_model, fallback_models=(), thinking_budget=0)
    return ModelClassifier(
        lambda: grounds.model(replace(own, max_budget_usd=account.budget.dollars)),
        Purse(account, prices(settings), recorder.emit, "classifier"),
        lambda: journal.log.entries,
        grounds.clock,
        settings.auto_guidance,
    )


def _rule_store(grounds: Grounds, recorder: Recorder) -> Callable[[str, str, str], Awaitable[None]]:
    """Keeps the rules that people agree to in their settings."""

    async def store(kind: Any, rule: str, scope: Any) -> None:
        import asyncio

        from detent.app.settings.storing import NotStored, RuleStore

        settings = grounds.settings
        rules = RuleStore(grounds.where, settings.trusted_folders, grounds.own)
        try:
            kept, path = await asyncio.to_thread(rules.store, kind, rule, scope)
        except NotStored as error:
            recorder.hint(Notice(str(error), "warning"))
            return
        text = f"{kept} is kept in {path}"
        if (tell := getattr(grounds.options.approver, "tell_kept", None)) is not None:
            tell(text)  # who has just answered wants to see it
        else:
            recorder.hint(Notice(text))

    return store


def mode_switch(
    gate: Gatekeeper, recorder: Recorder, settings: Settings
) -> Callable[[str], Awaitable[str]]:
    """Empty is the way back from plan mode."""

    async def switch(mode: str) -> str:
        try:
            wanted = permitted_mode(mode or gate.usual_mode, settings)
        except BadInput as error:
            recorder.hint(Notice(f"the mode stays {gate.mode}: {error}", "warning"))
            return gate.mode
        if wanted != gate.mode:
            gate.mode = wanted
            await recorder.emit(Switched(mode=wanted))
        return wanted

    return switch


def free_reading(gate: Gatekeeper) -> Callable[[str, str], bool]:
    """Whether Read would open a file unasked, for tools that find files by themselves."""

    def is_free(path: str, cwd: str) -> bool:
        reading = Proposal(Call("", "Read", ""), "Read", {}, (Reads(path),), cwd)
        return isinstance(gate.judge(reading), Allow)

    return is_free
