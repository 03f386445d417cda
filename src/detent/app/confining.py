"""The session's sandbox as the host sees it: nothing of it is loaded before the first command."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detent.app.sandboxing import SessionSandbox
    from detent.host.child import Hold
    from detent.host.notes import Note


class Confinement:
    def __init__(self, make: "Callable[[], SessionSandbox | None]") -> None:
        """`make` gives None when the user wants no sandbox."""
        self._make = make

    @cached_property
    def sandbox(self) -> "SessionSandbox | None":
        return self._make()

    @property
    def scratch(self) -> str:
        return "" if self.sandbox is None else self.sandbox.scratch

    @property
    def temporary(self) -> str:
        if "sandbox" not in self.__dict__ or self.sandbox is None:
            return ""
        return self.sandbox.temporary

    @property
    def refused(self) -> Sequence[str]:
        if "sandbox" not in self.__dict__ or self.sandbox is None:
            return ()
        return self.sandbox.refused

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        descriptors: tuple[int, int, int],
        note: "Note | None" = None,
    ) -> "tuple[Hold, str]":
        if self.sandbox is not None:
            return await self.sandbox.spawn(argv, cwd, env, descriptors, note)
        from detent.host.processes import spawn_openly

        return await spawn_openly(argv, cwd, env, descriptors, note)

    async def aclose(self) -> None:
        if "sandbox" in self.__dict__ and self.sandbox is not None:
            await self.sandbox.aclose()
