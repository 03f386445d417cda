"""What a command prints: bounded for the model, shown as it comes, whole in a file if long."""

from typing import Any

from detent.ports import Desk
from detent.tools.shell.pacing import Paced
from detent.tools.shell.spill import Spill
from detent.tools.shell.truncate import MOST, Kept, left_out

FLOOR = 1_000


def setting(desk: Desk, name: str, otherwise: int) -> int:
    """A positive number; anything else counts as not set."""
    value = desk.settings.get(name, "")
    return int(value) if value.isdecimal() and int(value) > 0 else otherwise


def output_limit(desk: Desk) -> int:
    """Characters of an output for the model."""
    return max(FLOOR, setting(desk, "bash_max_output_length", MOST))


class ShellOutput:
    """Three views of the output: each stream alone, and both as they arrived."""

    __slots__ = ("_is_left", "_limit", "both", "paced", "spill", "stderr", "stdout")

    def __init__(self, desk: Desk) -> None:
        self._limit = output_limit(desk)
        self.spill = Spill(lambda: desk.shop.outputs.create(f"Bash-{desk.call_id}"))
        self.stdout, self.stderr = Kept(self._limit), Kept(self._limit)
        self.both = Kept(self._limit, self.spill.feed)
        self.paced = Paced(desk.progress)
        self._is_left = False

    def leave(self) -> str:
        """Nobody waits for it here any more: all that came, and will come, goes to a file. Gives
        its path, empty where there can be none."""
        self.spill.feed(self.both.held())
        if self.spill.fault:
            return ""
        self._is_left = True
        self.paced.close()
        return self.spill.path

    def out(self, chunk: bytes) -> None:
        self.stdout.feed(chunk)
        self._arrived(chunk)

    def err(self, chunk: bytes) -> None:
        self.stderr.feed(chunk)
        self._arrived(chunk)

    def _arrived(self, chunk: bytes) -> None:
        if self._is_left:
            self.spill.feed(chunk)
            return
        self.both.feed(chunk)
        self.paced.feed(chunk)

    def text(self, beside: int) -> str:
        """For the model, with room for so many characters more in its result."""
        most = self._limit - beside
        if not self.both.exceeds(most):
            return self.both.text(most).rstrip("\n")
        if held := self.both.held():
            self.spill.feed(held)
        self.spill.close()
        where = self.spill.where(self.both.seen)
        return self.both.text(most, left_out(where)).rstrip("\n")

    def streams(self) -> tuple[str, str]:
        """Output and errors, each alone."""
        return self.stdout.text(self._limit), self.stderr.text(self._limit)

    def data(self, exit_code: int) -> dict[str, Any]:
        """After `text`, which may put the whole into a file."""
        stdout, stderr = self.streams()
        found: dict[str, Any] = {
            "stdout": stdout,
            "stderr": stderr,
            "interrupted": False,
            "isImage": False,
            "exitCode": exit_code,
        }
        if self.spill.path:
            found |= {
                "persistedOutputPath": self.spill.path,
                "persistedOutputSize": self.spill.size,
            }
        return found

    def close(self) -> None:
        self.paced.close()
        self.spill.close()
