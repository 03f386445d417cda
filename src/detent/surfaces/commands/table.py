"""Which slash commands there are, as data: none of them is loaded before it is wanted."""

from collections.abc import Sequence

from msgspec import Struct

HOME = "detent.surfaces.commands"
GROUPS = ("conversation", "context and cost", "model and permissions", "files", "work", "program")
"""In the order in which help tells of them."""


class Command(Struct, frozen=True):
    name: str
    about: str
    takes: str = ""
    """What may stand behind it, as help shows it."""
    needs_model: bool = False
    """Without it, it works with no key and no network."""
    group: str = "program"
    while_running: bool = False
    """May be used while a turn runs."""
    module: str = ""
    """Where it is done, `MODULE` or `MODULE:FUNCTION`; empty is `run` in our module of its name. A
    surface that does one by itself never asks."""
    more: str = ""
    """What help says of it alone, where that is not in our own book."""

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.takes}".rstrip()

    @property
    def place(self) -> tuple[str, str]:
        """Its module, and the function there."""
        module, _, function = self.module.partition(":")
        return module or f"{HOME}.{self.name}", function or "run"


TALK, COST, TERMS, FILES, WORK, PROGRAM = GROUPS

COMMANDS = (
    Command(
        "agents",
        "Who works for the session, and what came of it",
        "[stop ID|send ID TEXT]",
        group=WORK,
        while_running=True,
    ),
    Command(
        "budget",
        "What the session may spend and has spent",
        "[WHAT AMOUNT|none]",
        group=COST,
        while_running=True,
    ),
    Command(
        "bug",
        "Write down what is needed to look into a fault; sends nothing",
        "[--with-log] [TEXT]",
        while_running=True,
    ),
    Command("clear", "Begin the chat anew; files stay as they are", group=TALK),
    Command(
        "compact",
        "Tell the older conversation in short",
        "[what to keep]",
        needs_model=True,
        group=TALK,
    ),
    Command(
        "context",
        "What the next request holds, and what that takes",
        group=COST,
        while_running=True,
    ),
    Command(
        "cost",
        "What the session has spent, by what it was for",
        group=COST,
        while_running=True,
    ),
    Command(
        "diff",
        "What the session has changed in files",
        "[turn [N]|session|STEP]",
        group=FILES,
        while_running=True,
    ),
    Command("doctor", "Whether everything works here, tried out", while_running=True),
    Command("effort", "How much the model thinks, or how much from now on", "[LEVEL]", group=TERMS),
    Command(
        "export",
        "Write the session to a file: .md, .html or .json",
        "[FILE]",
        group=TALK,
        while_running=True,
    ),
    Command("fork", "Go on from here, or from a step, in a new session", "[STEP]", group=TALK),
    Command("help", "This list, or more about one of them", "[COMMAND]", while_running=True),
    Command(
        "hooks", "Hooks by event: where each stands, whether it runs", group=TERMS,
        while_running=True,
    ),
    Command("init", "Write an AGENTS.md after a look at the project", group=COST),
    Command(
        "mcp", "MCP servers that files here name", group=TERMS, while_running=True
    ),
    Command(
        "memory",
        "Memory files: what each costs, and why it counts",
        group=COST,
        while_running=True,
    ),
    Command(
        "mode", "Permission modes, or another one from now on", "[MODE]", group=TERMS,
        while_running=True,
    ),
    Command("model", "The model in use and those to be had, or another one", "[NAME]", group=TERMS),
    Command(
        "permissions",
        "Rules in force and where they stand, or why a call is asked about",
        "[explain TOOL(INPUT)]",
        group=TERMS,
        while_running=True,
    ),
    Command("redo", "Take back the last /undo or /rewind", group=FILES, module=f"{HOME}.undo:redo"),
    Command("rename", "What the session is called from now on", "NAME", group=TALK,
            while_running=True),
    Command("replay", "Whether the session comes out again from its log", group=TALK),
    Command(
        "resume", "Sessions to go on with: of this folder, or all", "[all]", group=TALK,
        while_running=True,
    ),
    Command(
        "rewind",
        "Go back to a prompt: the chat, the files, or both",
        "[N [chat|files|both]]",
        group=FILES,
        module=f"{HOME}.undo:rewind",
    ),
    Command(
        "search", "Where words stand, in all sessions", "WORDS", group=TALK, while_running=True
    ),
    Command("skills", "Skills that lie here", group=TERMS, while_running=True),
    Command(
        "status",
        "Session, model, mode, folder, cost and log at a glance",
        while_running=True,
    ),
    Command(
        "tasks",
        "What runs in the background, and the tasks that agents share",
        "[stop ID|output ID]",
        group=WORK,
        while_running=True,
    ),
    Command("todos", "What is to do, as the model keeps it", group=WORK, while_running=True),
    Command("undo", "Put files back to before the last step, or a step", "[STEP]", group=FILES),
    Command(
        "usage", "The same as /cost", group=COST, while_running=True, module=f"{HOME}.cost"
    ),
)  # fmt: skip
NAMES = tuple(command.name for command in COMMANDS)


def known(extra: Sequence[Command] = ()) -> dict[str, Command]:
    """By name. What a surface adds comes before ours: it may do one of them in its own way."""
    return {one.name: one for one in (*COMMANDS, *extra)}
