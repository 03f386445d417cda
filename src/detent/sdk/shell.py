"""What came of a command of the person's own: see `Session.shell`."""

from detent.app.persons_shell import ShellRan

__all__ = ["ShellRan"]
