"""What the prompt says of permissions: the constraints as they are, and what to do about them."""

from msgspec import Struct

MOST_RULES = 20
NOBODY = "- Nobody can be asked: what is not permitted is refused. Say what you would need."
DESTRUCTIVE = "- Commit, push, publish, overwrite or delete only what the user asked for."
UNSAFE = "- Permission questions are off: what you do happens at once and is yours to judge."
NO_SHELL = (
    "- Commands cannot be run. Where the task needs one, name it and say that the user can permit "
    "it with a rule such as Bash(make test)."
)
NO_WRITES = "- Files cannot be written. Give changes as a patch in your answer."
PLANNING = "- Plan mode: read and think; nothing is written. End with the plan."
STRANGER = "- The user has not trusted this folder: what its settings permit does not count."


class Access(Struct, frozen=True):
    """What is known of permissions when the session begins."""

    mode: str = "default"
    tools: tuple[str, ...] = ()
    """Names of the tools that are offered."""
    denied: tuple[str, ...] = ()
    """Deny rules, as written."""
    asked: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    """Events that hooks listen to."""
    is_stranger: bool = False
    """The project's settings would widen something and are not trusted."""


def access_text(access: Access) -> str:
    lines = ["# Permissions", UNSAFE if access.mode == "bypassPermissions" else DESTRUCTIVE]
    if access.mode == "plan":
        lines.append(PLANNING)
    if access.mode == "dontAsk":
        lines.append(NOBODY)
    if access.tools and "Bash" not in access.tools:
        lines.append(NO_SHELL)
    if access.tools and not {"Edit", "Write"} & set(access.tools):
        lines.append(NO_WRITES)
    if access.denied:
        lines.append(f"- Refused by rule, also by another way: {_listed(access.denied)}.")
    if access.asked:
        lines.append(f"- The user is asked first: {_listed(access.asked)}.")
    if access.is_stranger:
        lines.append(STRANGER)
    return "\n".join(lines)


def _listed(rules: tuple[str, ...]) -> str:
    more = len(rules) - MOST_RULES
    return ", ".join(rules[:MOST_RULES]) + (f" and {more} more" if more > 0 else "")
