"""The composition root: options in, a working session out. The one place that knows everybody."""

import os
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from detent.app.approvers import DenyingApprover
from detent.app.clock import SystemClock
from detent.app.config import Settings, load_sources, merge
from detent.app.desk import DeskMaker
from detent.app.inbox import Queue
from detent.app.journal import Journal, open_journal, opening
from detent.app.models import facts_of, known_models, names_in_use, open_model, prices, unpriced
from detent.app.options import Options
from detent.app.places import detent_home, user_home
from detent.app.recorder import Recorder
from detent.app.surroundings import look_around
from detent.context.conversation import Conversation
from detent.context.prompt import build_prompt, section
from detent.gate.gate import Gatekeeper
from detent.gate.paths import SECRET_GLOBS
from detent.gate.terms import Rule, RuleSet, Workspace, parse_mode
from detent.host.local import LocalHost
from detent.loop.kit import Kit
from detent.loop.limits import Limits
from detent.models.catalog import ModelFacts
from detent.ports import Model, Tool, Toolbox
from detent.tools.registry import Registry, canonical_name
from detent.types.errors import BadInput
from detent.types.events import Notice, Switched, TurnEnded
from detent.types.usage import Usage


class Engine:
    """A wired session: the kit of its turns, and the parts a session steers them with."""

    def __init__(
        self,
        kit: Kit,
        journal: Journal,
        recorder: Recorder,
        inbox: Queue,
        gate: Gatekeeper,
        options: Options,
        open_model: Callable[[Options], Model],
        facts: Callable[[str], ModelFacts],
    ) -> None:
        self.kit = kit
        self.journal = journal
        self.recorder = recorder
        self.inbox = inbox
        self.gate = gate
        self.cwd = kit.desk.cwd
        self.notices: list[str] = list(journal.notices)
        self._options = options
        self._open_model = open_model
        self.facts = facts
        """What is known of a model by its name."""

    async def switch_model(self, name: str) -> None:
        """Another model from the next turn on; the log says so."""
        await self._reopen(replace(self._options, model=name))
        await self.recorder.emit(Switched(model=self.kit.model.name))

    async def set_thinking(self, budget: int | None) -> None:
        """Another budget for thinking from the next turn on."""
        await self._reopen(replace(self._options, thinking_budget=budget))

    async def _reopen(self, options: Options) -> None:
        model, old = self._open_model(options), self.kit.model
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
        await self.kit.model.aclose()
        self.journal.close()


def assemble(options: Options) -> Engine:
    environ = os.environ if options.environ is None else options.environ
    cwd = working_folder(options.cwd)
    own, home = user_home(environ), detent_home(environ)
    sources = load_sources(cwd, home, own, options.setting_sources, options.settings)
    settings = merge(sources, trusted=options.trust)
    clock = options.clock or SystemClock()
    rules = _rules(options, settings)
    toolbox, form = _with_form(options, options.toolbox or _toolbox(options, rules))
    mode = parse_mode(options.permission_mode or settings.mode or "default")
    model = open_model(options, settings, environ, clock)
    price = prices(settings)
    if options.max_budget_usd and price(model.name, Usage(input=1)) is None:
        raise BadInput(unpriced(model.name))
    journal = open_journal(options, cwd, home, clock.now)
    conversation = Conversation(journal.log.entries)
    recorder = Recorder(journal.log, conversation, options.observers)
    gate = Gatekeeper(
        Workspace(cwd, _workspace_roots(cwd, (*options.add_dirs, *settings.directories)), own),
        mode=mode,
        rules=rules,
        hooks=options.hooks,
        saved=lambda: not journal.log.trouble,
        report=lambda text: recorder.hint(Notice(text, "warning")),
        canonical=canonical_name,
    )
    inbox = Queue()
    kit = Kit(
        model=model,
        toolbox=toolbox,
        gate=gate,
        approver=options.approver or DenyingApprover(),
        inbox=inbox,
        clock=clock,
        desk=DeskMaker(
            cwd,
            options.host or _host(options, settings, environ),
            journal.session,
            _for_tools(environ),
            journal.log.entries,
        ),
        conversation=conversation,
        system=_system(options, cwd, mode, clock.now()),
        emit=recorder.emit,
        hint=recorder.hint,
        limits=_limits(options, settings, environ),
        price=price,
        trace=options.trace,
        form=form,
    )

    def reopen(changed: Options) -> Model:
        return open_model(changed, settings, environ, clock)

    engine = Engine(kit, journal, recorder, inbox, gate, options, reopen, facts_of(settings))
    engine.notices += settings.notices
    return engine


def _host(options: Options, settings: Settings, environ: Mapping[str, str]) -> LocalHost:
    """Children get the user's environment, but not the keys to the models in use."""

    def withheld() -> frozenset[str]:
        from detent.app.keys import key_variables

        in_use = (name.partition("/")[0] for name in names_in_use(options, settings, environ))
        return key_variables(known_models(settings), *in_use)

    return LocalHost(withheld=withheld, passed=settings.pass_env)


def working_folder(wanted: str) -> str:
    try:
        folder = os.path.realpath(wanted) if wanted else os.getcwd()
        os.scandir(folder).close()
    except OSError as error:
        raise BadInput(f"cannot work in {wanted or 'this folder'}: {error.strerror}") from None
    try:
        folder.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the name of the folder is not UTF-8 text: {folder!a}") from None
    return folder


def _workspace_roots(cwd: str, further: tuple[str, ...]) -> tuple[str, ...]:
    for folder in further:
        if not os.path.isdir(os.path.join(cwd, folder)):
            raise BadInput(f"there is no folder {folder} to add")
    return tuple(os.path.realpath(os.path.join(cwd, folder)) for folder in (cwd, *further))


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


def _toolbox(options: Options, rules: RuleSet) -> Toolbox:
    """A tool that is denied as a whole is not offered to the model at all."""
    extra: list[Tool] = [*options.custom_tools]
    if options.plugin_dirs:
        from detent.app.extensions.plugin_tools import plugin_tools

        extra += plugin_tools(options.plugin_dirs)
    denied = {rule.tool for rule in rules.deny if not rule.what}
    try:
        registry = Registry(options.tools, extra)
        if denied:
            offered = [spec.name for spec in registry.specs() if spec.name not in denied]
            return Registry(offered, [tool for tool in extra if tool.spec.name not in denied])
    except ValueError as error:
        raise BadInput(str(error)) from None
    return registry


def _with_form(options: Options, toolbox: Toolbox) -> tuple[Toolbox, str]:
    """With a schema one tool more: the one that takes the final answer, and its name."""
    if options.json_schema is None:
        return toolbox, ""
    from detent.tools.structured_output import Beside, StructuredOutput

    tool = StructuredOutput(options.json_schema)
    return Beside(toolbox, tool), tool.spec.name


def _compact_threshold(environ: Mapping[str, str]) -> int | None:
    """A value that is no positive number counts as none."""
    text = environ.get("CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS", "")
    return int(text) if text.isdigit() and int(text) else None


def _limits(options: Options, settings: Settings, environ: Mapping[str, str]) -> Limits:
    return Limits(
        steps=options.max_turns or settings.max_turns or None,
        calls=options.max_tool_calls or None,
        tokens=options.max_tokens or None,
        seconds=options.max_seconds or None,
        dollars=options.max_budget_usd or None,
        output=options.max_output_tokens or None,
        compact_at=options.auto_compact_input_tokens or _compact_threshold(environ),
        wrap_up=options.on_budget == "wrap_up",
        reactive=settings.reactive_compact,
        early_calls=settings.early_calls,
        concurrency=options.max_tool_concurrency or settings.max_tool_concurrency or 10,
    )


def _system(options: Options, cwd: str, mode: str, now: float) -> tuple[str, ...]:
    form = section("form") if options.json_schema is not None else ""
    return build_prompt(
        look_around(cwd, mode, now),
        custom=options.system_prompt,
        override=options.override_system_prompt,
        append="\n\n".join(filter(None, (options.append_system_prompt, form))),
    )


def _for_tools(environ: Mapping[str, str]) -> dict[str, str]:
    names = {
        "BASH_DEFAULT_TIMEOUT_MS": "bash_default_timeout_ms",
        "BASH_MAX_TIMEOUT_MS": "bash_max_timeout_ms",
    }
    given = {ours: environ[theirs] for theirs, ours in names.items() if environ.get(theirs)}
    return {**given, "search_excludes": "\n".join(SECRET_GLOBS)}
