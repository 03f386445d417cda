"""A shell command of the person, as the model reads of it with the next prompt."""

from detent.sdk.shell import ShellRan
from detent.types.content import SHELL, Text


def as_note(ran: ShellRan) -> Text:
    head = f"The user ran: {ran.command}\nExit code: {ran.exit_code}"
    return Text(f"{SHELL}{head}\n{ran.output}\n</shell>")
