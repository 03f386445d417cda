"""The composition root: options in, a working session out. The one place that knows everybody."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from detent.app.approvers import DenyingApprover, is_person
from detent.app.desk import DeskMaker, KeptFiles
from detent.app.engine import Engine
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
from detent.app.prompting import git_of, lookout_of, prompt_of, surroundings_of
from detent.app.recorder import Recorder
from detent.app.reminders import Composed, MemoryFiles
from detent.app.shaping import shaping_of, starts_calls_early
from detent.app.toolbox import held_back, toolbox_of, unavailable
from detent.app.workshop import Shop, outputs_folders
from detent.context.account import Account
from detent.context.bounds import MOST_CHARACTERS, MOST_WANTED
from detent.context.conversation import Conversation
from detent.context.tokens import family_of, of_system, of_tools
from detent.gate.paths import SECRET_GLOBS
from detent.gate.terms import RuleSet, Workspace
from detent.loop.kit import Kit, Unkept
from detent.loop.limits import MOST_FORCED_CONTINUATIONS, Limits
from detent.ports import Checkpoints, Model, Toolbox
from detent.types.budget import Budget
from detent.types.events import Entry, Notice

if TYPE_CHECKING:
    from detent.app.checkpoints.keeper import FileKeeper
    from detent.app.durability import Power
    from detent.app.sandboxing import SessionSandbox
    from detent.context.task_budget import TaskBudget


def assemble(options: Options) -> Engine:
    grounds = grounds_of(options)
    git = git_of(grounds)
    settings, clock = grounds.settings, grounds.clock
    rules = rules_of(options, settings, grounds.cwd)
    toolbox, form = toolbox_of(grounds, rules)
    journal = open_journal(options, grounds.cwd, grounds.home, clock.now)
    entries = journal.log.entries
    grounds = _going_on(grounds, entries)
    account, model = _account_and_model(grounds, journal)
    if options.toolbox is None:
        toolbox = held_back(toolbox, form, settings, model.window, entries)
    family = family_of(model.name)
    conversation = Conversation(entries, family)
    recorder = Recorder(journal.log, conversation, options.observers, _power(grounds, journal))
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
    around = surroundings_of(grounds, workspace, journal)
    memory = MemoryFiles(
        grounds, conversation, gate, lambda text: recorder.hint(Notice(text, "warning"))
    )
    kit = Kit(
        model=model,
        toolbox=toolbox,
        gate=gate,
        approver=options.approver or DenyingApprover(),
        inbox=inbox,
        clock=clock,
        desk=DeskMaker(shop, journal.session, _for_tools(grounds, workspace), entries),
        conversation=conversation,
        system=prompt_of(grounds, rules, toolbox, gate.mode, around),
        emit=recorder.emit,
        hint=recorder.hint,
        checkpoints=_checkpoints(grounds, workspace, journal, recorder),
        reminders=Composed(memory, *lookout_of(grounds, shop, conversation, around, git)),
        limits=_limits(grounds),
        shaping=shaping_of(options, settings, grounds.environ),
        price=prices(settings),
        account=account,
        task=_task(options),
        trace=options.trace,
        unsaved=lambda: "" if options.allow_unsaved else recorder.unsaved,
        form=form,
    )
    conversation.base = of_system(kit.system, family) + of_tools(toolbox.specs(), family)
    engine = Engine(grounds, kit, journal, recorder, inbox, gate, shop)
    engine.memory, engine.git = memory, git
    engine.notices += (*missing_folders(grounds), *_about_tools(grounds, rules, toolbox))
    engine.notices += _listen(engine, grounds)
    return engine


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


def _power(grounds: Grounds, journal: Journal) -> "Power | None":
    """Where the user wants a power cut to take nothing back."""
    if (grounds.options.durability or grounds.settings.durability) != "power":
        return None
    from detent.app.durability import Power

    return Power(journal.log)


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


def _output_wanted(environ: Mapping[str, str]) -> int:
    """Characters of a command's output that the user wants the model to see; 0 is not said."""
    text = environ.get("BASH_MAX_OUTPUT_LENGTH", "")
    return min(int(text), MOST_WANTED) if text.isdecimal() else 0


def _limits(grounds: Grounds) -> Limits:
    options, settings = grounds.options, grounds.settings
    forced, spending = settings.stop_continuations, settings.spending
    return Limits(
        steps=options.max_turns or settings.max_turns or None,
        seconds=options.max_seconds or None,
        output=options.max_output_tokens or None,
        wrap_up=(options.on_budget or (spending.on_budget if spending else "")) == "wrap_up",
        early_calls=starts_calls_early(settings, grounds.environ),
        forced=MOST_FORCED_CONTINUATIONS if forced is None else forced,
        concurrency=options.max_tool_concurrency or settings.max_tool_concurrency or 10,
        characters=max(MOST_CHARACTERS, _output_wanted(grounds.environ)),
        tool_seconds={n: s for n, s in settings.tool_timeouts.items() if n != "Bash"},
    )


def _for_tools(grounds: Grounds, workspace: Workspace) -> dict[str, str]:
    """What a tool may know of the settings, as texts."""
    environ = grounds.environ
    names = {
        "BASH_DEFAULT_TIMEOUT_MS": "bash_default_timeout_ms",
        "BASH_MAX_TIMEOUT_MS": "bash_max_timeout_ms",
    }
    given = {ours: environ[theirs] for theirs, ours in names.items() if environ.get(theirs)}
    if wanted := _output_wanted(environ):
        given["bash_max_output_length"] = str(wanted)
    if seconds := grounds.settings.tool_timeouts.get("Bash"):  # it keeps its own, and its output
        limit = str(max(1, round(seconds * 1000)))
        given |= {"bash_default_timeout_ms": limit, "bash_max_timeout_ms": limit}
    places = _writable(grounds, workspace.roots)
    given["sandbox_writable"] = "\n".join(places)
    return {**given, "search_excludes": "\n".join(SECRET_GLOBS)}


def _writable(grounds: Grounds, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Where a sandbox lets commands write."""
    wishes = grounds.settings.sandbox
    if wishes is None:
        return roots
    from detent.app.settings.sandbox import writable_places

    return writable_places(wishes, roots, grounds.cwd, grounds.own)


def _checkpoints(
    grounds: Grounds, workspace: Workspace, journal: Journal, recorder: Recorder
) -> Checkpoints:
    """Nothing is kept of a session that is not kept, or of files of another machine."""
    options, wishes = grounds.options, grounds.settings.undo
    if not options.persist or options.host is not None or (wishes and not wishes.enabled):
        return Unkept()

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
            lambda text: recorder.hint(Notice(text, "warning")),
        )

    return KeptFiles(make)


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
