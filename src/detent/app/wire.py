"""The composition root: options in, a working session out. The one place that knows everybody."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec.structs import replace

from detent.app.approvers import DenyingApprover
from detent.app.config import Settings
from detent.app.desk import DeskMaker
from detent.app.grounds import Grounds, grounds_of
from detent.app.inbox import Queue
from detent.app.journal import Journal, open_journal, opening
from detent.app.models import facts_of, prices, unpriced
from detent.app.options import Options
from detent.app.recorder import Recorder
from detent.app.surroundings import look_around
from detent.app.toolbox import held_back, toolbox_of, unavailable
from detent.app.workshop import Shop, outputs_folders
from detent.context.bounds import MOST_CHARACTERS, MOST_WANTED
from detent.context.conversation import Conversation
from detent.context.prompt import build_prompt, section
from detent.gate.gate import Gatekeeper
from detent.gate.paths import SECRET_GLOBS
from detent.gate.terms import Rule, RuleSet, Workspace, parse_mode
from detent.loop.kit import Kit
from detent.loop.limits import Limits
from detent.ports import Proposal, Toolbox
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Reads
from detent.types.errors import BadInput
from detent.types.events import Entry, Notice, Switched, TurnEnded
from detent.types.usage import Usage
from detent.types.verdicts import Allow


class Engine:
    """A wired session: the kit of its turns, and the parts a session steers them with."""

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
        self.facts = facts_of(grounds.settings)
        """What is known of a model by its name."""
        self._grounds = grounds
        self._options = grounds.options

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
        model, old = self._grounds.model(options), self.kit.model
        self._options, self.kit = options, replace(self.kit, model=model)
        if model is not old:  # a model of the caller's own making stays what it is
            await old.aclose()

    @property
    def turns(self) -> int:
        return sum(isinstance(entry, TurnEnded) for entry in self.journal.log.entries)

    async def begin(self) -> None:
        """The first entry is written with the first prompt, not before."""
        if self.journal.is_new:
            self.journal.is_new = False
            await self.recorder.emit(opening(self.journal.session, self.cwd))

    async def aclose(self) -> None:
        try:
            await self.shop.aclose()
        finally:
            await self.kit.model.aclose()
            self.journal.close()


def assemble(options: Options) -> Engine:
    grounds = grounds_of(options)
    settings, clock = grounds.settings, grounds.clock
    rules = _rules(options, settings)
    toolbox, form = toolbox_of(grounds, rules)
    mode = parse_mode(options.permission_mode or settings.mode or "default")
    model = grounds.model(options)
    price = prices(settings)
    if options.max_budget_usd and price(model.name, Usage(input=1)) is None:
        raise BadInput(unpriced(model.name))
    journal = open_journal(options, grounds.cwd, grounds.home, clock.now)
    entries = journal.log.entries
    if options.toolbox is None:
        toolbox = held_back(toolbox, form, settings, model.window, entries)
    conversation = Conversation(entries)
    recorder = Recorder(journal.log, conversation, options.observers)
    workspace = _workspace(grounds, lambda: outputs_folders(journal))
    gate = Gatekeeper(
        workspace,
        mode=mode,
        rules=rules,
        hooks=options.hooks,
        hooks_first=settings.gate_order == "hooks_first",
        saved=lambda: not journal.log.trouble,
        report=lambda text: recorder.hint(Notice(text, "warning")),
        canonical=canonical_name,
    )
    if not options.permission_mode and _was_planning(entries):
        gate.mode = "plan"  # the way out leads to the mode that is set
    inbox = Queue()
    shop = Shop(
        grounds,
        journal,
        tell=inbox.tell,
        holds=workspace.holds,
        reads_freely=_free_reading(gate),
        switch_mode=_mode_switch(gate, recorder),
    )
    kit = Kit(
        model=model,
        toolbox=toolbox,
        gate=gate,
        approver=options.approver or DenyingApprover(),
        inbox=inbox,
        clock=clock,
        desk=DeskMaker(shop, journal.session, _for_tools(grounds), entries),
        conversation=conversation,
        system=_system(options, grounds.cwd, mode, clock.now()),
        emit=recorder.emit,
        hint=recorder.hint,
        limits=_limits(grounds),
        price=price,
        trace=options.trace,
        form=form,
    )
    engine = Engine(grounds, kit, journal, recorder, inbox, gate, shop)
    engine.notices += _about_tools(grounds, rules, toolbox)
    return engine


def _about_tools(grounds: Grounds, rules: RuleSet, toolbox: Toolbox) -> list[str]:
    """What the user should know of tools that were named and are not there."""
    options, notes = grounds.options, list[str]()
    if options.toolbox is None:
        notes += unavailable(grounds, rules, toolbox)
    if given := (*options.allowed_tools, *options.disallowed_tools):
        from detent.app.unheard import unheard

        notes += unheard(given, (spec.name for spec in toolbox.specs()))
    return notes


def _was_planning(entries: Sequence[Entry]) -> bool:
    """Whether an earlier part of the session ended in plan mode: no plan was approved since."""
    modes = (e.mode for e in reversed(entries) if isinstance(e, Switched) and e.mode)
    return next(modes, "") == "plan"


def _mode_switch(gate: Gatekeeper, recorder: Recorder) -> Callable[[str], Awaitable[str]]:
    """Empty is the way back from plan mode."""

    async def switch(mode: str) -> str:
        wanted = parse_mode(mode or gate.usual_mode)
        if wanted != gate.mode:
            gate.mode = wanted
            await recorder.emit(Switched(mode=wanted))
        return wanted

    return switch


def _free_reading(gate: Gatekeeper) -> Callable[[str, str], bool]:
    """Whether Read would open a file unasked, for tools that find files by themselves."""

    def is_free(path: str, cwd: str) -> bool:
        reading = Proposal(Call("", "Read", ""), "Read", {}, (Reads(path),), cwd)
        return isinstance(gate.judge(reading), Allow)

    return is_free


def _workspace(grounds: Grounds, outputs: Callable[[], tuple[str, ...]]) -> Workspace:
    cwd = grounds.cwd
    further = (*grounds.options.add_dirs, *grounds.settings.directories)
    for folder in further:
        if not os.path.isdir(os.path.join(cwd, folder)):
            raise BadInput(f"there is no folder {folder} to add")
    roots = tuple(os.path.realpath(os.path.join(cwd, folder)) for folder in (cwd, *further))
    return Workspace(cwd, roots, grounds.own, readable=outputs)


def _rules(options: Options, settings: Settings) -> RuleSet:
    def parsed(*lists: tuple[str, ...]) -> tuple[Rule, ...]:
        if not any(lists):
            return ()
        from detent.gate.rules import parse_rule

        return tuple(parse_rule(text, canonical_name) for texts in lists for text in texts)

    return RuleSet(
        allow=parsed(options.allowed_tools, settings.allow),
        ask=parsed(settings.ask),
        deny=parsed(options.disallowed_tools, settings.deny),
    )


def _compact_threshold(environ: Mapping[str, str]) -> int | None:
    """A value that is no positive number counts as none."""
    text = environ.get("CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS", "")
    return int(text) if text.isdigit() and int(text) else None


def _output_wanted(environ: Mapping[str, str]) -> int:
    """Characters of a command's output that the user wants the model to see; 0 is not said."""
    text = environ.get("BASH_MAX_OUTPUT_LENGTH", "")
    return min(int(text), MOST_WANTED) if text.isdecimal() else 0


def _limits(grounds: Grounds) -> Limits:
    options, settings = grounds.options, grounds.settings
    return Limits(
        steps=options.max_turns or settings.max_turns or None,
        calls=options.max_tool_calls or None,
        tokens=options.max_tokens or None,
        seconds=options.max_seconds or None,
        dollars=options.max_budget_usd or None,
        output=options.max_output_tokens or None,
        compact_at=options.auto_compact_input_tokens or _compact_threshold(grounds.environ),
        wrap_up=options.on_budget == "wrap_up",
        reactive=settings.reactive_compact,
        early_calls=settings.early_calls,
        concurrency=options.max_tool_concurrency or settings.max_tool_concurrency or 10,
        characters=max(MOST_CHARACTERS, _output_wanted(grounds.environ)),
        tool_seconds={n: s for n, s in settings.tool_timeouts.items() if n != "Bash"},
    )


def _system(options: Options, cwd: str, mode: str, now: float) -> tuple[str, ...]:
    form = section("form") if options.json_schema is not None else ""
    return build_prompt(
        look_around(cwd, mode, now),
        custom=options.system_prompt,
        override=options.override_system_prompt,
        append="\n\n".join(filter(None, (options.append_system_prompt, form))),
    )


def _for_tools(grounds: Grounds) -> dict[str, str]:
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
    return {**given, "search_excludes": "\n".join(SECRET_GLOBS)}
