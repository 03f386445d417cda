"""The composition root: options in, a working session out. The one place that knows everybody."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from detent.app.approvers import DenyingApprover, is_person
from detent.app.desk import DeskMaker, KeptFiles
from detent.app.engine import Engine
from detent.app.fittings import base_of, for_tools, limits_of, power_of
from detent.app.gating import (
    free_reading,
    gate_of,
    missing_folders,
    mode_switch,
    rules_of,
    workspace_of,
)
from detent.app.grounds import Grounds, grounds_of
from detent.app.inbox import Queue
from detent.app.journal import Journal, open_journal
from detent.app.models import prices
from detent.app.options import Options
from detent.app.prompting import Prompt, git_of, kinds_for, lookout_of, surroundings_of
from detent.app.recorder import Recorder
from detent.app.reminders import Composed, MemoryFiles
from detent.app.shaping import shaping_of
from detent.app.toolbox import fitting, held_back, tools_of, unavailable, with_form
from detent.app.workshop import Shop, outputs_folders
from detent.context.account import Account
from detent.context.conversation import Conversation
from detent.context.tokens import family_of
from detent.gate.terms import RuleSet, Workspace
from detent.loop.kit import Kit
from detent.ports import Checkpoints, Model, Toolbox
from detent.types.agents import AgentStarted
from detent.types.budget import Budget, Spent
from detent.types.events import Entry, Notice

if TYPE_CHECKING:
    from detent.app.agents.kinds.record import Kinds
    from detent.app.agents.staff import Staff
    from detent.app.checkpoints.keeper import FileKeeper
    from detent.app.sandboxing import SessionSandbox
    from detent.context.task_budget import TaskBudget


def assemble(options: Options) -> Engine:
    grounds = grounds_of(options)
    settings, clock, git = grounds.settings, grounds.clock, git_of(grounds)
    rules = rules_of(options, settings, grounds.cwd)
    tools = tools_of(grounds, rules)
    toolbox, form = with_form(options, tools)
    journal = open_journal(options, grounds.cwd, grounds.home, clock.now)
    entries = journal.log.entries
    grounds = _going_on(grounds, entries)
    account, model = _account_and_model(grounds, journal)
    tools, toolbox = (fitting(box, options, model.window) for box in (tools, toolbox))
    if options.toolbox is None:
        toolbox = held_back(toolbox, form, settings, model.window, entries)
    conversation = Conversation(entries, family_of(model.name))
    recorder = Recorder(journal.log, conversation, options.observers, power_of(grounds, journal))
    workspace = workspace_of(grounds, lambda: outputs_folders(journal))
    gate = gate_of(grounds, rules, workspace, journal, recorder, account)
    inbox = Queue()
    shop = Shop(
        grounds,
        journal,
        tell=inbox.tell,
        holds=workspace.holds,
        reads_freely=free_reading(gate),
        switch_mode=mode_switch(gate, recorder, settings),
        sandbox=_sandbox(grounds, workspace, rules, journal, recorder),
    )
    around, kinds = surroundings_of(grounds, workspace, journal), kinds_for(grounds, toolbox)
    prompt = Prompt(grounds, rules, toolbox, gate.mode, around, kinds)
    memory = MemoryFiles(grounds, conversation, gate, recorder.warn)
    kit = Kit(
        model=model,
        toolbox=toolbox,
        gate=gate,
        approver=options.approver or DenyingApprover(),
        inbox=inbox,
        clock=clock,
        desk=DeskMaker(shop, journal.session, for_tools(grounds, workspace), entries),
        conversation=conversation,
        system=prompt.text(prompt.chosen()),
        emit=recorder.emit,
        hint=recorder.hint,
        checkpoints=_checkpoints(grounds, workspace, journal, recorder),
        reminders=Composed(memory, *lookout_of(grounds, shop, conversation, around, git)),
        limits=limits_of(grounds),
        shaping=shaping_of(options, settings, grounds.environ),
        price=prices(settings),
        account=account,
        task=_task(options),
        trace=options.trace,
        unsaved=lambda: "" if options.allow_unsaved else recorder.unsaved,
        form=form,
    )
    conversation.base = base_of(kit)
    engine = Engine(grounds, kit, journal, recorder, inbox, gate, shop)
    engine.memory, engine.git, engine.tools, engine.prompt = memory, git, tools, prompt
    shop.employ = lambda: staff_of(engine)
    _charge_those_left(engine)
    engine.notices += _to_be_told(engine, rules, toolbox)
    return engine


def _to_be_told(engine: Engine, rules: RuleSet, toolbox: Toolbox) -> list[str]:
    grounds = engine.grounds
    about = (*missing_folders(grounds), *_about_tools(grounds, rules, toolbox))
    about = (*about, *_about_keys(grounds), *_about_kinds(engine.kinds), *engine.prompt.notices)
    return [*about, *_listen(engine, grounds)]


def staff_of(engine: Engine) -> "Staff":
    """Who works for a session, from the first that is set to work on."""
    if engine.staff is None:
        from detent.app.agents.crew import Crew
        from detent.app.agents.staff import Staff

        engine.staff = Staff(engine, Crew(engine))
    return engine.staff


def _charge_those_left(engine: Engine) -> None:
    """What agents have spent that were cut off with the run before."""
    if any(isinstance(entry, AgentStarted) for entry in engine.journal.log.entries):
        from detent.app.agents.mending import folders_of, spent_by_those_left

        entries, price = engine.journal.log.entries, engine.kit.price
        engine.unended = spent_by_those_left(entries, folders_of(engine), price)
        if engine.unended != Spent():
            engine.kit.account.child(within=True).spend(engine.unended)


def _going_on(grounds: Grounds, entries: Sequence[Entry]) -> Grounds:
    """With the model that the session had, where this run names none."""
    if not entries:
        return grounds
    from detent.app.kept_choices import with_kept_model

    return with_kept_model(grounds, entries)


def _account_and_model(grounds: Grounds, journal: Journal) -> tuple[Account, Model]:
    """The log is given back where no session comes of it."""
    options = grounds.options
    try:
        account = _account(grounds, journal.log.entries)
        dollars = account.budget.dollars
        if dollars != options.max_budget_usd:  # settings and the log may limit them too
            options = replace(options, max_budget_usd=dollars)
        return account, grounds.model(options)
    except BaseException:
        journal.close()
        raise


def _account(grounds: Grounds, entries: Sequence[Entry]) -> Account:
    """Most sessions begin with nothing spent and no limit."""
    options, settings, environ = grounds.options, grounds.settings, grounds.environ
    given = (options.max_tokens, options.max_tool_calls, options.max_budget_usd, options.account)
    is_plain = not entries and options.budget == Budget() and not any(given)
    if is_plain and settings.spending is None and not environ.get("CLAUDE_COMPUTE_BUDGET"):
        return Account()
    from detent.app.budgeting import account_of

    return account_of(options, settings, environ, entries, prices(settings))


def _task(options: Options) -> "TaskBudget | None":
    if not options.task_budget:
        return None
    from detent.context.task_budget import TaskBudget

    return TaskBudget(options.task_budget)


def _listen(engine: Engine, grounds: Grounds) -> list[str]:
    """What hooks need to know, and those of the settings; gives what will not run of them."""
    engine.gate.asks_person = is_person(grounds.options.approver)
    engine.gate.source = "resume" if engine.journal.log.entries else "startup"
    if not grounds.settings.hooks:
        return []
    from detent.app.hooking import add_commands

    return add_commands(engine, grounds.settings.hooks, grounds.cwd)


def _about_keys(grounds: Grounds) -> tuple[str, ...]:
    """A file with keys that others can read is worth a word, whatever key is in use."""
    if not os.path.exists(f"{grounds.home}/keys.json"):
        return ()
    from detent.app.key_file import refusal

    return tuple(filter(None, (refusal(grounds.environ),)))


def _about_kinds(kinds: "Kinds | None") -> tuple[str, ...]:
    return () if kinds is None else kinds.notices


def _about_tools(grounds: Grounds, rules: RuleSet, toolbox: Toolbox) -> list[str]:
    """What the user should know of tools that were named and are not there."""
    options, notes = grounds.options, list[str]()
    if options.allowed_tools and grounds.settings.managed_rules_only:
        notes.append("--allowedTools is ignored; managed settings alone allow")
    if options.toolbox is None:
        notes += unavailable(grounds, rules, toolbox)
    if given := (*options.allowed_tools, *options.disallowed_tools):
        from detent.app.unheard import unheard

        notes += unheard(given, (spec.name for spec in toolbox.specs()))
    return notes


def _checkpoints(
    grounds: Grounds, workspace: Workspace, journal: Journal, recorder: Recorder
) -> Checkpoints:
    """Nothing is kept of a session that is not kept, or of files of another machine."""
    options, wishes = grounds.options, grounds.settings.undo
    if not options.persist or options.host is not None or (wishes and not wishes.enabled):
        return KeptFiles(None)

    def make() -> "FileKeeper":
        from detent.app.checkpoints.keeper import FileKeeper
        from detent.app.checkpoints.terms import Terms
        from detent.session.blobs import Blobs

        terms = Terms() if wishes is None else wishes.terms
        blobs = getattr(journal.log, "blobs", None) or Blobs(grounds.home)
        return FileKeeper(
            workspace.roots,
            grounds.home,
            terms,
            blobs,
            recorder.warn,
            kept.found,
        )

    kept = KeptFiles(make)
    return kept


def _sandbox(
    grounds: Grounds, workspace: Workspace, rules: RuleSet, journal: Journal, recorder: Recorder
) -> "Callable[[], SessionSandbox | None]":
    """Made with the first command."""

    def make() -> "SessionSandbox | None":
        from detent.app.sandboxing import sandbox_of

        sandbox = sandbox_of(grounds, workspace.roots, outputs_folders(journal), rules.deny)
        if sandbox is not None:
            wishes = grounds.settings.sandbox
            is_wanted = wishes is not None and bool(wishes.enabled or wishes.allowed_domains)
            level: Any = "warning" if is_wanted else "info"
            sandbox.tell = lambda text: recorder.hint(Notice(text, level))
        return sandbox

    return make
