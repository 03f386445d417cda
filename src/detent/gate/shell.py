"""Shell commands, read strictly: only what is understood completely is ever called proven.

This first form knows words, quotes, `&&`, `||`, `;`, `|`, newlines and harmless redirections.
Everything else (expansions, substitutions, globs, groups, here-documents) is not provable, and
what is not provable is never allowed silently.
"""

LONGEST = 10_000
_OPERATORS = ("&&", "||", ";", "|", "\n")
_HARMLESS_REDIRECTIONS = ("2>&1", "1>&2", "2>/dev/null", ">/dev/null", "&>/dev/null")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-^")
_WRAPPERS = frozenset({"timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin"})
_DEEP_WRAPPERS = _WRAPPERS | {
    "sudo", "doas", "env", "exec", "setsid", "watch", "flock", "ionice", "xargs", "busybox", "eval",
}  # fmt: skip

Command = tuple[str, ...]
"""One simple command as its words, quotes removed."""


def prove(text: str) -> tuple[Command, ...] | None:
    """All simple commands of a text, or None when any part of it is not understood."""
    if len(text) > LONGEST or any(char < " " and char not in "\t\n" for char in text):
        return None
    commands: list[Command] = []
    words: list[str] = []
    position = 0
    while position < len(text):
        if text[position] in " \t":
            position += 1
        elif skipped := _starts(text, position, _HARMLESS_REDIRECTIONS):
            position += skipped
        elif skipped := _starts(text, position, _OPERATORS):
            if words:
                commands.append(tuple(words))
            words = []
            position += skipped
        else:
            word, position = _word(text, position)
            if word is None:
                return None
            words.append(word)
    if words:
        commands.append(tuple(words))
    return tuple(commands) or None


def _starts(text: str, position: int, marks: tuple[str, ...]) -> int:
    return next((len(mark) for mark in marks if text.startswith(mark, position)), 0)


def _word(text: str, position: int) -> tuple[str | None, int]:
    """One word and where it ends; None when it holds anything that is not literal."""
    parts: list[str] = []
    while position < len(text):
        char = text[position]
        if char in _PLAIN:
            parts.append(char)
            position += 1
        elif char in "'\"":
            end = text.find(char, position + 1)
            inner = text[position + 1 : end]
            if end < 0 or (char == '"' and any(special in inner for special in "$`\\!")):
                return None, position
            parts.append(inner)
            position = end + 1
        elif char in " \t\n;|" or text.startswith("&&", position):
            break
        else:
            return None, position
    word = "".join(parts)
    return word, position


def suspects(text: str) -> list[Command]:
    """Everything in a text that might be a simple command: over-approximated, for deny and ask."""
    for mark in ("&&", "||", "|&", ";", "|", "&", "\n", "(", ")", "{", "}", "`", "$(", "<(", ">("):
        text = text.replace(mark, "\n")
    found: list[Command] = []
    for line in text.split("\n"):
        words = [word.replace("\\", "").replace("'", "").replace('"', "") for word in line.split()]
        while words:
            while words and "=" in words[0] and words[0].split("=")[0].isidentifier():
                words = words[1:]
            if not words:
                break
            name = words[0].rpartition("/")[2]
            found.append((name, *words[1:]))
            words = words[1:] if _may_wrap(name, words) else []
    return found


def _may_wrap(name: str, words: list[str]) -> bool:
    """A program that runs its arguments: each later word may begin the real command."""
    shells = {"sh", "bash", "zsh", "dash"}
    return len(words) > 1 and (name in _DEEP_WRAPPERS | shells | {"find"} or name.startswith("-"))


def unwrapped(command: Command) -> Command:
    """What a proven command runs behind the wrappers that an allow rule may look through."""
    while command and command[0] in _WRAPPERS:
        rest = command[1:]
        if command[0] == "timeout" and rest and rest[0][:1].isdigit():
            rest = rest[1:]
        elif rest and rest[0].startswith("-"):
            return command
        command = rest
    return command
