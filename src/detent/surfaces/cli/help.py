"""What `detent --help` and `detent SUBCOMMAND --help` print."""

from collections.abc import Iterable, Iterator

from detent.surfaces.cli.flags import FLAGS, OWN, Flag

HEAD = "detent: a coding agent for the terminal. Every step holds."
CALLS = (
    ("detent", "an interactive session in this folder"),
    ('detent "fix the failing test"', "the same, begun with a prompt"),
    ("detent -c", "go on with the newest session here; -r: with another"),
    ('detent -p "make the failing test pass"', "one turn, print the answer, exit"),
    ('git diff | detent -p "review this"', "stdin is context, the prompt the instruction"),
)
"""What people begin with."""
ABOUT = {
    "init": "write an AGENTS.md from what the files of this repository tell",
    "doctor": "what works here, tried out, and what to do where it does not",
    "demo": "see it work in a scratch repository",
    "models": "the models that can be used here",
    "sessions": "the sessions of this folder; search in all of them",
    "undo": "put back what the last step did to files",
    "redo": "do again what was undone",
    "fork": "go on from another step, in a copy of the folder",
    "replay": "run a session again from its log: is all the same?",
    "context": "what the next request holds, and what it takes",
    "uncompact": "bring back what was left out to save room",
    "memory": "the memory files that count here, and why",
    "agents": "the agents there are; who did what in a session",
    "permissions": "what the gate would say of a call, and why",
    "trust": "what this folder's files would do; trust them",
    "completion": "a script that completes commands in your shell",
    "man": "this as a manual page: detent man | man -l -",
    "version": "the version",
}
"""The subcommands, those first that one needs first."""
KEYS = (
    ("/  @  !  #", "a command, a file, a shell command, something to remember"),
    ("enter, tab", "send; while it works: say it after the current call, or queue it"),
    ("esc", "interrupt; twice: go back to an earlier prompt"),
    ("shift+tab", "the next permission mode"),
    ("ctrl+c twice", "leave; what to type to come back is printed"),
    ("?", "all keys; /help lists the commands"),
)
"""Those without which one cannot do; the session lists all."""
HEADINGS = {
    "--print": "A run, and its model",
    "--cwd": "Where, and in what form",
    "--permission-mode": "What may run",
    "--max-turns": "Limits of one turn",
    "--max-budget-usd": "Limits of the session, kept when it is resumed (0 or none lifts one)",
    "--system-prompt": "Prompt and settings",
    "--continue": "Sessions",
    "--theme": "The interactive session",
    "--record": "Other",
}
"""What stands above a flag and those that follow it."""

EXIT_CODES = """
Exit codes: 0 done · 1 error · 2 usage · 3 a call was refused for want of permission ·
4 budget or turn limit · 5 incomplete · 6 no answer fitted the schema · 7 model unavailable ·
129 hung up · 130 interrupted · 141 nobody reads the output · 143 terminated
"""


SUBCOMMANDS = {
    "sessions": """\
detent sessions [list] [--all]      the sessions of this folder, or all, the newest first
detent sessions show SESSION        its turns, what it changed, what it cost
detent sessions search WORDS        where something was said or done, in all of them, or with --cwd
                                    in one folder. Words may go on: pars finds parser; '"two words"'
                                    are found as they are. Exit code 1: none
detent sessions name SESSION NAME   call it so; --remove takes the name away
detent sessions delete SESSION…     by id or name, with its outputs; asks, or takes --yes
detent sessions delete --older-than AGE   those that nobody used for so long, here or with --all
detent sessions export [SESSION]    to stdout, or --output FILE, whose name tells the form (.md,
                                    .html, .json). It holds everything: look before you share it
detent sessions import PATH…        transcripts of Claude Code (~/.claude/projects) or JSON exports;
                                    files or folders. Exit code 1: one could not be read
detent sessions reindex             make the index anew

SESSION is an id or the beginning of one, a name, or words that only that session holds.
""",
    "agents": """\
detent agents [list]         the agents that there are here: where from, which model and tools;
                             those that another of the same name stands before are marked
detent agents show NAME      all about one, with its prompt
detent agents tree [SESSION] who worked for whom in a session, how it went, what it cost
""",
    "models": """\
detent models                the models that can be used here
detent models json           the same, for programs
detent models check          exit code 1 when there is none
detent models pull           get the model that runs on this machine
detent models remove         remove it
""",
    "demo": """\
detent demo [--scripted]     see it work in a scratch repository
""",
    "trust": """\
detent trust [DIR]           what the files of a folder would do; asks whether to trust them
""",
    "doctor": """\
detent doctor                what works here, tried out: model, git, ripgrep, terminal, settings,
                             memory, language servers, MCP, sessions, sandbox; and what to do where
                             something does not. Exit code 1: something that is asked for
""",
    "init": """\
detent init [DIR]            write an AGENTS.md after looking at a folder: its languages, how it is
                             set up, built and tested, its layout and conventions. No model is
                             asked, nothing is run. One that is there stays: exit code 1, and what
                             it does not say is shown
""",
    "completion": """\
detent completion bash       a script for your shell: bash, zsh or fish
    bash   echo 'source <(detent completion bash)' >> ~/.bashrc
    zsh    detent completion zsh > ~/.zfunc/_detent    (a folder of your fpath)
    fish   detent completion fish > ~/.config/fish/completions/detent.fish
""",
    "man": """\
detent man                   the manual page: detent man | man -l -
""",
    "memory": """\
detent memory                the memory files that count here (CLAUDE.md, AGENTS.md, rules):
                             whether each is read, why, and its tokens
""",
    "context": """\
detent context [SESSION]     what the next request of a session holds: where each block is from,
                             why it is there, what it takes; without SESSION, the newest of
                             this folder. Asks nobody, writes nothing. Flags that the run had
                             (--tools, --append-system-prompt …) count here, too.
""",
    "undo": """\
detent undo [STEP]           put files back to what they were before the last step that changed any,
                             or before STEP; of the newest session of this folder. What you changed
                             yourself since stays as it is, and is shown: exit code 1.
""",
    "redo": """\
detent redo                  take back the last undo or rewind; of the newest session of this folder
""",
    "replay": """\
detent replay [SESSION]      run the loop once more from the log of a session, without model, tools
                             and network, and say whether the same comes out. SESSION is an id, a
                             name, words or a log file; without it, the newest of this folder
""",
    "fork": """\
detent fork [SESSION]        a new session from a step of another, by default the newest of this
                             folder, with the files of that step: in a copy of the folder, or with
                             --in-place in the folder itself. With --prompt it goes on at once, and
                             flags of a run (--permission-mode …) count.
""",
    "uncompact": """\
detent uncompact [SESSION]   bring back what was shortened or summed up in a session to save
                             room; without SESSION, the newest of this folder. Exit code 0
                             also where there is nothing to undo.
""",
    "permissions": """\
detent permissions takes:
  explain 'TOOL(INPUT)'             the decision on a call, and every rule that was looked at
  test FILE [--home DIR]            cases with what must come of them, or a settings file
  replay --settings NEW [--sessions ID]   which past calls would be decided otherwise
  suggest [--sessions ID]           the fewest rules that permit what was approved
""",
}
TAKEN = {
    "agents": (
        "--cwd", "--settings", "--setting-sources", "--agents", "--plugin-dir", "--trust", "--json",
    ),
    "sessions": (
        "--cwd", "--all", "--limit", "--json", "--yes", "--older-than", "--remove", "--format",
        "--output", "--dry-run",
    ),
    "demo": ("--model", "--scripted"),
    "trust": ("--cwd", "--yes", "--list", "--remove"),
    "doctor": ("--cwd", "--model", "--settings", "--sandbox", "--trust", "--json"),
    "init": ("--dry-run", "--yes", "--json", "--cwd"),
    "completion": (),
    "man": (),
    "memory": ("--cwd", "--settings", "--setting-sources", "--trust", "--json"),
    "context": (
        "--at", "--all", "--summary", "--prompt", "--json", "--cwd", "--model", "--settings",
        "--setting-sources", "--trust",
    ),
    "undo": (
        "--list", "--turn", "--interrupted", "--merge", "--dry-run", "--session", "--yes",
        "--json", "--cwd",
    ),
    "redo": ("--dry-run", "--session", "--json", "--cwd"),
    "replay": ("--verify", "--speed", "--json", "--cwd"),
    "fork": (
        "--at", "--prompt", "--into", "--in-place", "--model", "--yes", "--json", "--cwd",
        "--output-format",
    ),
    "uncompact": ("--last", "--json", "--cwd", "--settings", "--setting-sources", "--trust"),
    "permissions": (
        "--cwd", "--settings", "--setting-sources", "--permission-mode", "--allowedTools",
        "--disallowedTools", "--sessions", "--home", "--trust", "--json",
    ),
}  # fmt: skip
"""Flags that mean something there."""


def help_text(subject: str = "") -> str:
    """Of a subcommand, where it is one."""
    if subject in SUBCOMMANDS:
        flags = _lines(flags_of(subject))
        return SUBCOMMANDS[subject] + (f"\nFlags:\n{flags}" if flags else "")
    return _usage() + "".join(_grouped()) + EXIT_CODES


def flags_of(subject: str) -> list[Flag]:
    """As they are told of there."""
    known = {flag.name: flag for flag in (*FLAGS, *OWN.get(subject, ()))}
    return [known[name] for name in TAKEN.get(subject, ())]


def sections() -> Iterator[tuple[str, list[Flag]]]:
    """The flags of a run that people are offered, below their headings."""
    heading, flags = "", list[Flag]()
    for flag in FLAGS:
        if flag.name in HEADINGS:
            if flags:
                yield heading, flags
            heading, flags = HEADINGS[flag.name], []
        if flag.help and not flag.only:
            flags.append(flag)
    yield heading, flags


def _usage() -> str:
    calls = "".join(f"  {call:<42} {about}\n" for call, about in CALLS)
    commands = "".join(f"  detent {name:<14} {about}\n" for name, about in ABOUT.items())
    keys = "".join(f"  {key:<14} {about}\n" for key, about in KEYS)
    return (
        f"{HEAD}\n\n{calls}\n{commands}\n"
        "detent SUBCOMMAND --help lists the flags of a subcommand. --x y and --x=y are the same.\n"
        f"\nKeys of the session:\n{keys}"
    )


def _grouped() -> Iterator[str]:
    for heading, flags in sections():
        yield f"\n{heading}:\n{_lines(flags)}"


def _lines(flags: Iterable[Flag]) -> str:
    lines = []
    for flag in flags:
        names = ", ".join((*flag.aliases, flag.name) if flag.aliases else (flag.name,))
        label = f"{names} {flag.metavar}".strip()
        pad = " " * (34 - len(label)) if len(label) < 34 else "\n" + " " * 36
        lines.append(f"  {label}{pad}{flag.help}\n")
    return "".join(lines)
