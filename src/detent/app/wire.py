"""The composition root: options in, a working session out. The one place that knows everybody."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from detent.app.approvers import DenyingApprover, is_person
from detent.app.desk import DeskMaker
from detent.app.gating import (
    free_reading,
    gate_of,
    missing_folders,
    mode_switch,
    permitted_mode,
    quiet_facts,
    rules_of,
    workspace_of,
)
from detent.app.grounds import Grounds, grounds_of
from detent.app.inbox import Queue
from detent.app.journal import Journal, open_journal, opening
from detent.app.models import facts_of, prices
from detent.app.options import Options
from detent.app.prompting import git_of, lookout_of, prompt_of, surroundings_of
from detent.app.recorder import Recorder, to_nobody
from detent.app.reminders import Composed, MemoryFiles
from detent.app.shaping import shaping_of, starts_calls_early
from detent.app.toolbox import held_back, toolbox_of, unavailable
from detent.app.workshop import Shop, outputs_folders
from detent.context.account import Account
from detent.context.bounds import MOST_CHARACTERS, MOST_WANTED
from detent.context.conversation import Conversation
from detent.context.tokens import family_of, of_system, of_tools
from detent.gate.gate import Gatekeeper
from detent.gate.paths import SECRET_GLOBS
from detent.gate.terms import RuleSet, Workspace
from detent.loop.kit import Kit
from detent.loop.limits import MOST_FORCED_CONTINUATIONS, Limits
from detent.ports import Model, Toolbox
from detent.types.budget import Budget
from detent.types.events import Budgeted, Entry, Event, Notice, Switched, TurnEnded

if TYPE_CHECKING:
    from detent.app.git_state import Git
    from detent.app.sandboxing import SessionSandbox
    from detent.context.task_budget import TaskBudget


class Engine:
    """A wired session: the kit of its turns, and the parts a session steers them with."""

    memory: MemoryFiles
    git: "Git | None" = None
    """Asked ahead; what nobody came to want is ended with the session."""

    def __init__(
        self,
        grounds: Grounds,
        kit: Kit,
        journal: Journal,
        recorder: Recorder,
        inbox: Queue,
        gate: Gatekeeper,
        shop: Shop,
    ) -> None:
        self.kit = kit
        self.journal = journal
        self.recorder = recorder
        self.inbox = inbox
        self.gate = gate
        self.shop = shop
        self.notices: list[str] = [*journal.notices, *grounds.settings.notices]
        self.hints: tuple[str, ...] = (*grounds.settings.hints, *quiet_facts(grounds))
        self.facts = facts_of(grounds.settings)
        """What is known of a model by its name."""
        self.parting: list[Event] = []
        """What was to be told when nobody read any more: hooks at the end of the session."""
        self._grounds = grounds
        self._options = grounds.options
        self._is_sandbox_checked = False
        self._kept = _kept_budget(journal.log.entries)
        """What the log says that may be spent."""

    def set_budget(self, budget: Budget) -> None:
        """Counts at once. A turn that runs does not wait for it to be read."""
        from detent.app.budgeting import checked, permitted

        model = self.kit.model
        budget = permitted(budget, self._options, self._grounds.settings)
        budget = checked(budget, getattr(model, "names", (model.name,)), self.kit.price)
        self.kit.account.budget = budget
        if not self.journal.is_new and self.kit.account.budget != self._kept:
            self._kept = self.kit.account.budget
            self.recorder.record(Budgeted(budget=self._kept))

    def set_mode(self, mode: str) -> None:
        self.gate.mode = permitted_mode(mode, self._grounds.settings)

    @property
    def cwd(self) -> str:
        return self.shop.cwd

    async def switch_model(self, name: str) -> None:
        """Another model from the next turn on; the log says so."""
        await self._reopen(replace(self._options, model=name))
        await self.recorder.emit(Switched(model=self.kit.model.name))

    async def set_thinking(self, budget: int | None) -> None:
        """Another budget for thinking from the next turn on."""
        await self._reopen(replace(self._options, thinking_budget=budget))

    async def _reopen(self, options: Options) -> None:
        priced = replace(options, max_budget_usd=self.kit.account.budget.dollars)
        model, old = self._grounds.model(priced), self.kit.model
        self._options, self.kit = options, replace(self.kit, model=model)
        if model is not old:  # a model of the caller's own making stays what it is
            await old.aclose()

    @property
    def turns(self) -> int:
        return sum(isinstance(entry, TurnEnded) for entry in self.journal.log.entries)

    async def begin(self) -> None:
        """The first entry is written with the first prompt, not before."""
        await self._check_sandbox()
        if self.journal.is_new:
            self.journal.is_new = False
            await self.recorder.emit(opening(self.journal.session, self.cwd))
        if self.kit.account.budget != self._kept:
            self._kept = self.kit.account.budget
            await self.recorder.emit(Budgeted(budget=self._kept))

    async def _check_sandbox(self) -> None:
        """Before anything happens, where the user insists on one or goes by it; else it is tried
        with the first command. Raises BadInput."""
        wishes, flag = self._grounds.settings.sandbox, self._options.sandbox
        insists = flag in ("bwrap", "landlock") or (wishes is not None and wishes.is_required)
        goes_by = wishes is not None and wishes.auto_allow
        if not (insists or goes_by) or self._is_sandbox_checked:
            return
        from detent.app.sandboxing import checked, wishes_of

        self._is_sandbox_checked = True
        backend = await checked(self.shop.confinement.sandbox, wishes_of(self._grounds))
        self.gate.trusts_sandbox = goes_by and backend != "none"

    async def aclose(self) -> None:
        if self.git is not None:
            self.git.end()
        try:
            self.recorder.attach(to_nobody, self.parting.append)
            if self.gate.has_opened and self.gate.hears("session_ended"):
                from detent.app.hooking import say_goodbye

                await say_goodbye(self.gate, self.recorder)
            await self.gate.aclose()
            if self.gate.classifier is not None:
                await self.gate.classifier.aclose()
            await self.shop.aclose()
        finally:
            await self.kit.model.aclose()
            self.journal.close()


def assemble(options: Options) -> Engine:
    grounds = grounds_of(options)
    git = git_of(grounds)
    settings, clock = grounds.settings, grounds.clock
    rules = rules_of(options, settings, grounds.cwd)
    toolbox, form = toolbox_of(grounds, rules)
    journal = open_journal(options, grounds.cwd, grounds.home, clock.now)
    entries = journal.log.entries
    account, model = _account_and_model(grounds, journal)
    if options.toolbox is None:
        toolbox = held_back(toolbox, form, settings, model.window, entries)
    family = family_of(model.name)
    conversation = Conversation(entries, family)
    recorder = Recorder(journal.log, conversation, options.observers)
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
        reminders=Composed(memory, *lookout_of(grounds, shop, conversation, around, git)),
        limits=_limits(grounds),
        shaping=shaping_of(options, settings, grounds.environ),
        price=prices(settings),
        account=account,
        task=_task(options),
        trace=options.trace,
        form=form,
    )
    conversation.base = of_system(kit.system, family) + of_tools(toolbox.specs(), family)
    engine = Engine(grounds, kit, journal, recorder, inbox, gate, shop)
    engine.memory, engine.git = memory, git
    engine.notices += (*missing_folders(grounds), *_about_tools(grounds, rules, toolbox))
    engine.notices += _listen(engine, grounds)
    return engine


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


def _kept_budget(entries: Sequence[Entry]) -> Budget:
    kept = (entry.budget for entry in reversed(entries) if isinstance(entry, Budgeted))
    return next(kept, Budget())


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
