"""`detent agents`: which there are, one of them in full, and who worked for whom in a session."""

from detent.sdk.agents import agents_of, the_agent
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import terminal_width, write, write_for_people
from detent.surfaces.tables.agent_table import agent_lines, told_in_full
from detent.surfaces.wishes import options_from
from detent.types.codec import encode
from detent.types.errors import BadInput


def agents(words: tuple[str, ...], arguments: Arguments) -> int:
    match words:
        case () | ("list",):
            return _list(arguments)
        case ("show", name):
            return _show(name, arguments)
        case ("show", *_):
            raise BadInput("detent agents show takes one NAME")
        case ("tree", *rest):
            from detent.surfaces.cli.agents_tree import tree

            return tree(tuple(rest), arguments)
        case _:
            said = " ".join(words)
            raise BadInput(f"detent agents takes list, show NAME or tree [SESSION]; not {said!r}")


def _list(arguments: Arguments) -> int:
    found = agents_of(options_from(arguments))
    if arguments.on("--json"):
        return write([encode(found).decode()])
    return write_for_people(agent_lines(found, terminal_width()))


def _show(name: str, arguments: Arguments) -> int:
    kind = the_agent(name, options_from(arguments))
    if arguments.on("--json"):
        return write([encode(kind).decode()])
    return write_for_people(told_in_full(kind))
