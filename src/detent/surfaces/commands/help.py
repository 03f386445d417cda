"""`/help`: all commands by subject, and more about each."""

from collections.abc import Iterable, Iterator

from detent.surfaces.commands.table import GROUPS, Command

WIDEST = 26
"""Characters of a name and what it takes; where that is longer, what it does stands below."""

MORE = {
    "agents": """\
Shows who works for the session, and for whom those work in turn, with what each has cost.
  /agents stop ID       ends one; whoever it works for is told
  /agents send ID TEXT  says something to one; one that has ended goes on with it""",
    "budget": """\
Alone it shows what was spent, what may be and what is left. A limit counts at once, also for a
turn that runs, and is kept with the session.
  /budget usd 5         at most five dollars in all
  /budget tokens none   no limit on tokens any more
  /budget strict on     nothing is sent that could take more than is left""",
    "bug": """\
Writes a report below $DETENT_HOME/reports: version, system, which settings are made (not to what),
the last errors, and where the log is. Nothing that was said is in it, unless you want it to be.
  /bug TEXT             TEXT is what went wrong, in your words
  /bug --with-log TEXT  with a copy of the session's log: everything that was said and read""",
    "clear": """\
Goes back to before the first prompt: the model knows nothing of what was said. Files, budget, mode
and model stay as they are. The log keeps every word; /redo takes it back until the next prompt.""",
    "compact": """\
The older conversation is told in short by the model, now. What you write behind it is what the
summary must keep. `detent uncompact` brings everything back.""",
    "context": """\
The window as a bar, what each kind of content takes of it, and the largest single blocks.""",
    "cost": """\
Model calls, tokens and dollars of the whole session, earlier runs of it included.""",
    "diff": """\
A unified diff of what calls have changed, commands and subagents included, as the log keeps it:
what was undone is not in it, and what you changed yourself is not either.
  /diff                 of the last turn that changed files
  /diff turn 3          of the third prompt
  /diff session         of all of it
  /diff 7               of step 7""",
    "doctor": """\
Model, sandbox, settings and programs, tried out as `detent doctor` does.""",
    "effort": """\
Alone it tells how much the model is asked to think. Another level counts from the next turn on.
  /effort high          one of low, medium, high, xhigh, max
  /effort default       what the settings and the provider say""",
    "export": """\
The ending of FILE says what it becomes: Markdown, a page, or everything as JSON. Without one it is
Markdown, in this folder. A file that is there is never replaced.
  /export notes.html""",
    "fork": """\
A new session that knows what this one knows; this one stays as it is.
  /fork                 from here, in the same folder
  /fork 4               as it was after step 4, in a copy of the folder with the files of then""",
    "help": """\
  /help diff            more about one command""",
    "hooks": """\
Every hook that settings declare, by event, with its file, and why one does not run.""",
    "init": """\
Looks at the project's files, as data, and writes an AGENTS.md: how to set up, build, test and find
one's way. One that is there stays, and you are told what it does not say.""",
    "mcp": """\
Names the servers that .mcp.json and settings here declare. They are not started: MCP is not part of
this version.""",
    "memory": """\
CLAUDE.md, AGENTS.md and what they import: which are read, what each costs, and why it counts.""",
    "mode": """\
Alone it lists the modes. Another one counts at once.
  /mode plan            one of those of the list""",
    "model": """\
Alone it tells which is in use and which can be had here. Another one counts from the next turn on;
it has to read the whole conversation anew, and you are told about what that costs.
  /model sonnet         by alias, by name, or PROVIDER/NAME""",
    "permissions": """\
Alone it lists the rules that count, with the file and the line of each, the strictest first.
  /permissions explain Bash(git push)  what would be decided, why, and what would permit it""",
    "redo": """\
Brings back what the last /undo or /rewind took, files and chat alike.""",
    "rename": """\
The name stands in lists, and sessions are found by it: detent -r NAME.""",
    "replay": """\
Runs the loop once more on what the log holds, without model, tools and network, and tells where
something comes out otherwise.""",
    "resume": """\
Lists sessions, the newest first. `detent -r ID` goes on with one.
  /resume all           of every folder""",
    "rewind": """\
Alone it lists the prompts of the session.
  /rewind 3             what going back to before prompt 3 means
  /rewind 3 both        does it; chat or files does one of both""",
    "search": """\
All of the words must be there, each may go on; what is in quotes must be there as it is.""",
    "skills": """\
Names the skills that lie in .detent/skills and .claude/skills. They are not read: skills are not
part of this version.""",
    "status": """\
What is set, what is used and where the log is. Asks nobody.""",
    "tasks": """\
Commands in the background, agents, and the list of tasks that all agents of the session share.
  /tasks stop ID        ends a command or an agent
  /tasks output ID      the last lines of what it has printed, or said""",
    "todos": """\
The list as it stands in the log, what was rewound left out.""",
    "undo": """\
What you have changed since stays as it is, and is named. /redo takes it back.
  /undo 4               to before step 4; `detent undo --list` names the steps""",
    "usage": """\
Model calls, tokens and dollars of the whole session, earlier runs of it included.""",
}


def all_of_them(commands: Iterable[Command]) -> Iterator[str]:
    by: dict[str, list[Command]] = {group: [] for group in GROUPS}
    for command in commands:
        by.setdefault(command.group, []).append(command)
    for group, those in by.items():
        if those:
            yield f"{group.capitalize()}:"
            for command in sorted(those, key=lambda one: one.name):
                yield from _line(command)
    yield "/help COMMAND tells more about one."


def _line(command: Command) -> Iterator[str]:
    if len(command.usage) <= WIDEST:
        yield f"  {command.usage:{WIDEST}}  {command.about}"
        return
    yield f"  {command.usage}"
    yield f"  {'':{WIDEST}}  {command.about}"


def one_of_them(command: Command) -> Iterator[str]:
    yield f"{command.usage}"
    yield f"{command.about}."
    if more := command.more or MORE.get(command.name, ""):
        yield ""
        yield more
    needs = ["needs a model"] if command.needs_model else ["needs no model"]
    needs += [] if command.while_running else ["waits until a turn has ended"]
    yield ""
    yield f"It {' and '.join(needs)}."
