"""What a session tells its model of itself: the prompt, and what is looked at as it goes on."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from detent.app.agents.kinds.finding import BUILT_IN, are_others, kinds_of
from detent.app.grounds import Grounds
from detent.app.journal import Journal
from detent.app.options import Options
from detent.app.surroundings import Lookout, git_ahead, look_around, wants_git
from detent.app.workshop import Shop
from detent.context.conversation import Conversation
from detent.context.prompt import build_prompt, section
from detent.context.prompt.access import Access
from detent.context.prompt.facts import Facts, Named, Style, Surroundings
from detent.gate.terms import RuleSet, Workspace
from detent.ports import Toolbox
from detent.types.events import Opened

if TYPE_CHECKING:
    from detent.app.agents.kinds.record import Kinds
    from detent.app.git_state import Git

USUAL_STYLE = "default"
DELEGATES = frozenset({"Agent", "delegate_agent"})
"""Tools that start agents."""


def surroundings_of(grounds: Grounds, workspace: Workspace, journal: Journal) -> Surroundings:
    """The day is the one when the session was opened: resumed, it sends the same prompt."""
    opened = next((e.at for e in journal.log.entries if isinstance(e, Opened)), 0.0)
    folders = workspace.roots[1:]
    return look_around(grounds.cwd, opened or grounds.clock.now(), grounds.environ, folders)


def prompt_of(
    grounds: Grounds,
    rules: RuleSet,
    toolbox: Toolbox,
    mode: str,
    around: Surroundings,
    kinds: "Kinds | None" = None,
    style: Style | None = None,
) -> tuple[str, ...]:
    options = grounds.options
    access = Access(
        mode=mode,
        tools=tuple(spec.name for spec in toolbox.specs()),
        denied=tuple(rule.text for rule in rules.deny),
        asked=tuple(rule.text for rule in rules.ask),
        hooks=tuple(dict.fromkeys(hook.event for hook in grounds.settings.hooks)),
        is_stranger=grounds.settings.is_stranger,
    )
    form = section("form") if options.json_schema is not None else ""
    return build_prompt(
        Facts(
            around,
            access,
            agents=_agents(access.tools, kinds),
            plugins=_plugins(options),
            style=style,
        ),
        custom=options.system_prompt,
        override=options.override_system_prompt,
        append="\n\n".join(filter(None, (options.append_system_prompt, form))),
    )


class Prompt:
    """A session's own, made anew when somebody takes another style. All else in it stays as the
    session began: what changes meanwhile is told by reminders."""

    def __init__(
        self,
        grounds: Grounds,
        rules: RuleSet,
        toolbox: Toolbox,
        mode: str,
        around: Surroundings,
        kinds: "Kinds | None",
    ) -> None:
        self._grounds, self._rules, self._toolbox = grounds, rules, toolbox
        self._mode, self._around = mode, around
        self.kinds = kinds
        wishes = grounds.settings.interface
        self.style = (wishes.output_style if wishes is not None else "") or USUAL_STYLE
        """As it was written, whether there is such a style or not."""
        self.notices: tuple[str, ...] = ()

    def chosen(self) -> Style | None:
        """What the settings wish for; files are looked at only where they do."""
        if self.style.strip().casefold() == USUAL_STYLE:
            return None
        from detent.app.styles.finding import styles_of

        known = styles_of(self._grounds)
        style, self.notices = known.named(self.style), known.notices
        if style is None:
            names = ", ".join(one.name for one in known.found)
            note = (
                f"there is no output style {self.style[:80]!r}, so none counts; there are {names}"
            )
            self.notices = (*self.notices, note)
            return None
        return style.for_prompt

    def text(self, style: Style | None) -> tuple[str, ...]:
        rules, toolbox, mode = self._rules, self._toolbox, self._mode
        return prompt_of(self._grounds, rules, toolbox, mode, self._around, self.kinds, style)


def git_of(grounds: Grounds) -> "Git | None":
    wanted = wants_git(grounds.environ, grounds.settings.tells_git)
    if not wanted or grounds.options.override_system_prompt:
        return None
    return git_ahead(grounds.cwd, grounds.environ)


def lookout_of(
    grounds: Grounds,
    shop: Shop,
    conversation: Conversation,
    around: Surroundings,
    git: "Git | None",
) -> tuple[Lookout, ...]:
    """None where the user's own prompt is all that the model is to know."""
    if grounds.options.override_system_prompt:
        return ()
    environ, now = grounds.environ, grounds.clock.now
    wanted = wants_git(environ, grounds.settings.tells_git)
    return (
        Lookout(
            conversation,
            lambda: shop.cwd,
            now,
            around.date,
            environ,
            tells_git=wanted,
            git=git,
        ),
    )


def kinds_for(grounds: Grounds, toolbox: Toolbox) -> "Kinds | None":
    """The agents that can be started, where there is a tool for it, and others than those that are
    always there."""
    if not delegates(spec.name for spec in toolbox.specs()) or not are_others(grounds):
        return None
    return kinds_of(grounds)


def delegates(tools: Iterable[str]) -> bool:
    """Whether one of them starts agents."""
    return not DELEGATES.isdisjoint(tools)


def _agents(tools: tuple[str, ...], kinds: "Kinds | None") -> tuple[Named, ...]:
    if not delegates(tools):
        return ()
    if kinds is None:
        return tuple(Named(name, about) for name, about in BUILT_IN.items())
    return tuple(Named(kind.name, kind.description) for kind in kinds.all())


def _plugins(options: Options) -> tuple[Named, ...]:
    if not options.plugin_dirs or options.toolbox is not None:
        return ()
    from detent.app.extensions.plugin_tools import plugin_summaries

    return plugin_summaries(options.plugin_dirs)
