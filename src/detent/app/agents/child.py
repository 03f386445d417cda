"""A subagent as an engine of its own, on the grounds of its parent: what it shares, what it has."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.kinds.record import AgentKind
from detent.app.agents.naming import called
from detent.app.agents.permitting import denied_to, held_to
from detent.app.agents.tools import tools_for
from detent.app.desk import DeskMaker
from detent.app.engine import Engine
from detent.app.fittings import base_of, for_tools, limits_of, power_of
from detent.app.gating import free_reading
from detent.app.grounds import Grounds
from detent.app.inbox import Queue
from detent.app.journal import Journal
from detent.app.models import why_not
from detent.app.prompting import lookout_of, prompt_of, surroundings_of
from detent.app.recorder import Recorder
from detent.app.reminders import Composed, MemoryFiles
from detent.app.toolbox import held_back
from detent.app.workshop import Shop, outputs_folders
from detent.context.account import Account
from detent.context.books import Books
from detent.context.conversation import Conversation
from detent.context.tokens import family_of
from detent.gate.child import Child, ChildGate
from detent.gate.copying import counterpart
from detent.gate.terms import Mode, Workspace, parse_mode
from detent.loop.kit import Kit
from detent.ports import Code, Host, Model, Toolbox, Web
from detent.ports.delegation import Assignment
from detent.types.agents import Lineage
from detent.types.budget import Budget, Spent
from detent.types.events import Entry

if TYPE_CHECKING:
    from detent.app.confining import Confinement
    from detent.app.outputs import OutputFolder

INHERIT = ("", "inherit")


class Post(Struct, frozen=True):
    """A place for a child: whom it works for, as what, where, and for what."""

    root: Engine
    above: Engine
    kind: AgentKind
    lineage: Lineage
    assignment: Assignment
    folder: str
    """Where it works."""
    worktree: str = ""
    """The top of a folder of its own."""
    copy_of: str = ""
    """What that began as a copy of."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Its own: what the task says may hold back more than its kind does, never less."""
        given = dict.fromkeys((self.kind.mode, self.assignment.mode))
        return tuple(parse_mode(mode) for mode in given if mode)

    @property
    def name(self) -> str:
        return called(self.lineage, self.assignment)


class ChildShop(Shop):
    """The host, the web and the language servers are the parent's; jobs and outputs its own."""

    above: Shop
    reads_less = False
    """There are files that the parent may read and it may not."""

    @property
    def host(self) -> Host:
        return self.above.host

    @property
    def confinement(self) -> "Confinement":
        return self.above.confinement

    @property
    def web(self) -> Web:
        return self.above.web

    @property
    def code(self) -> Code:
        """What servers tell shows lines of other files."""
        return super().code if self.reads_less else self.above.code

    @property
    def outputs(self) -> "OutputFolder":
        """Of one that is not saved they lie where the session's do, which it may read."""
        return super().outputs if self.beside else self.above.outputs


class ChildEngine(Engine):
    has_own_model = False
    spent_before = Spent()
    """What its account had spent when this run of it began."""

    async def aclose(self) -> None:
        """Only what is its own."""
        try:
            if self.staff is not None:
                await self.staff.aclose()
            await self.gate.aclose()
            await self.shop.aclose()
        finally:
            if self.has_own_model:
                await self.kit.model.aclose()
            await self.recorder.settle()
            self.journal.close()


def engine_of(post: Post, journal: Journal) -> ChildEngine:
    """Raises BadInput where its model cannot be had."""
    above, entries = post.above, journal.log.entries
    grounds = _grounds(post)
    account = _account(post, entries)
    model = _model(post, grounds, account)
    conversation = Conversation(entries, family_of(model.name))
    power = power_of(grounds, journal, post.root.journal)
    recorder = Recorder(journal.log, conversation, power=power)
    workspace = _workspace(post, journal)
    gate = _gate(post, workspace, journal, recorder, lambda: shop.cwd)
    inbox = Queue()
    shop = ChildShop(
        grounds,
        journal,
        tell=inbox.tell,
        holds=workspace.holds,
        reads_freely=free_reading(gate),
        switch_mode=post.root.shop.switch_mode,  # a person who answers means the session
    )
    shop.above, shop.reads_less = above.shop, gate.reads_less
    memory = MemoryFiles(grounds, conversation, gate, lambda text: None)
    around = surroundings_of(grounds, workspace, journal)
    tools = tools_for(post.kind, above.tools)
    toolbox = held_back(tools, "", grounds.settings, model.window, entries)
    desk = DeskMaker(shop, journal.session, for_tools(grounds, workspace), entries)
    desk.agent = post.assignment.name or post.lineage.agent
    told_mode = above.gate.mode if post.kind.reads_only else gate.mode  # its own prompt says it
    kit = replace(
        _common(above.kit, grounds, recorder),
        model=model,
        toolbox=toolbox,
        gate=gate,
        inbox=inbox,
        desk=desk,
        conversation=conversation,
        system=_system(post, grounds, toolbox)
        or prompt_of(grounds, gate.rules, toolbox, told_mode, around, post.root.kinds),
        reminders=Composed(memory, *lookout_of(grounds, shop, conversation, around, None)),
        account=account,
    )
    conversation.base = base_of(kit)
    engine = ChildEngine(grounds, kit, journal, recorder, inbox, gate, shop)
    engine.has_own_model = model is not above.kit.model
    engine.memory, engine.tools = memory, tools
    engine.notices, engine.hints, engine.spent_before = [], (), account.spent
    if post.kind.hooks:
        from detent.app.agents.listening import add_hooks

        add_hooks(engine, post.root, post.kind)
    return engine


def _gate(
    post: Post,
    workspace: Workspace,
    journal: Journal,
    recorder: Recorder,
    cwd: Callable[[], str],
) -> ChildGate:
    allows = post.root.grounds.options.allow_unsaved
    child = Child(
        agent=post.lineage.agent,
        kind=post.kind.name,
        name=post.name,
        log=journal.path,
        cwd=cwd,
        modes=post.modes,
        deny=denied_to(post.kind, workspace.project),
        limits=held_to(post.kind, workspace.project),
        copy_of=post.copy_of,
    )
    return ChildGate(post.above.gate, workspace, child, lambda: allows or not recorder.unsaved)


def _common(kit: Kit, grounds: Grounds, recorder: Recorder) -> Kit:
    allows = grounds.options.allow_unsaved
    return replace(
        kit,
        emit=recorder.emit,
        hint=recorder.hint,
        limits=replace(limits_of(grounds), wrap_up=False),  # the session has the one last word
        task=None,
        form="",
        unsaved=lambda: "" if allows else recorder.unsaved,
    )


def _grounds(post: Post) -> Grounds:
    """The parent's, with what its kind and its task say."""
    grounds, kind, task = post.above.grounds, post.kind, post.assignment
    options = replace(
        grounds.options,
        effort=task.effort or kind.effort or grounds.options.effort,
        json_schema=None,
        system_prompt=kind.prompt or grounds.options.system_prompt,
        max_turns=_turns(post),
        task_budget=None,
        name="",
        keep_background=False,
    )
    return replace(grounds, options=options, cwd=post.folder)


def _turns(post: Post) -> int | None:
    """The least that is said: neither a file nor a model gives it more than the session has."""
    options, settings = post.above.grounds.options, post.above.grounds.settings
    said = (post.assignment.max_turns, post.kind.max_turns, options.max_turns or settings.max_turns)
    return min((most for most in said if most and most > 0), default=None)


def _account(post: Post, entries: Sequence[Entry]) -> Account:
    above, task = post.above.kit, post.assignment
    spent = Books(above.price).read(entries).total if entries else Spent()
    return above.account.child(
        Budget(), name=post.name, siblings=task.siblings, spent=spent, within=True
    )


def _model(post: Post, grounds: Grounds, account: Account) -> Model:
    """The parent's own, unless another is named, or another effort."""
    shared, options = post.above.kit.model, grounds.options
    settings, environ = grounds.settings, grounds.environ
    usual = environ.get("CLAUDE_CODE_SUBAGENT_MODEL") or settings.subagent_model
    wanted = next((n for n in (post.assignment.model, post.kind.model, usual) if n), "")
    is_other = wanted not in (*INHERIT, shared.name)
    if not isinstance(options.model, str):
        return shared  # of the caller's own making: there is no other
    if not is_other and options.effort == post.above.grounds.options.effort:
        return shared
    if is_other and not post.assignment.model and (fault := why_not(wanted, settings, environ)):
        why = f"{wanted} cannot be had ({fault})"
        post.root.recorder.warn(f"{post.name}: {why}; it has its parent's model")
        return shared  # files go from machine to machine
    named = wanted if is_other else options.model
    return grounds.model(replace(options, model=named, max_budget_usd=account.budget.dollars))


def _workspace(post: Post, journal: Journal) -> Workspace:
    above = post.above.gate.workspace
    roots = (post.worktree,) if post.worktree else above.roots

    def readable() -> tuple[str, ...]:
        return (*above.readable(), *outputs_folders(journal))

    copied = counterpart(above.project, post.copy_of, post.worktree) if post.worktree else ""
    project = (copied or post.folder) if post.worktree else above.project
    return Workspace(post.folder, roots, above.home, project=project, readable=readable)


def _system(post: Post, grounds: Grounds, toolbox: Toolbox) -> tuple[str, ...]:
    """The prompt of the session, to the byte, where nothing in it would be otherwise: then the
    provider has it in its cache. Empty where it has to be another one."""
    root = post.root
    same = not post.kind.prompt and not post.modes and grounds.cwd == root.grounds.cwd
    if not same or root.kit.form or toolbox.specs() != root.kit.toolbox.specs():
        return ()
    return root.kit.system
