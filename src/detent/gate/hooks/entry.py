"""A hook as settings declare it."""

from msgspec import Struct


class HookEntry(Struct, frozen=True):
    event: str
    command: str = ""
    """For the shell; with `args` the program itself."""
    args: tuple[str, ...] | None = None
    matcher: str = ""
    only_if: str = ""
    """A permission rule: only calls that might fall under it."""
    seconds: float | None = None
    """None is what is usual for the event."""
    fail_closed: bool = False
    """Whatever goes wrong with it is a denial."""
    beside: bool = False
    """Nobody waits for it, and it decides nothing."""
    label: str = ""
    """What people read while it runs, or when it is broken."""
    kind: str = "command"
    """Others are declared in settings, but not run."""
    origin: str = ""
    """The file."""

    @property
    def what_runs(self) -> tuple[object, ...]:
        """Two that agree in this run once. How long it may take and what a fault means count: a
        careless declaration must not take the place of a strict one."""
        return (self.command, self.args, self.seconds, self.fail_closed, self.beside)

    @property
    def name(self) -> str:
        return self.label or " ".join((self.command, *(self.args or ())))
