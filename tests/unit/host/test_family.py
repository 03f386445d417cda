"""Who is below a process: both ways to find out, and what the other side may import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from detent.host import nursery
from detent.host.keeping import family

from .conftest import parent, soon


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """With two children, in a session of its own."""
    argv = ["bash", "-c", "sleep 600 & sleep 600 & wait"]
    with subprocess.Popen(argv, start_new_session=True) as process:
        try:
            yield process
        finally:
            family.send(family.members() & below(process.pid), 9)


def below(pid: int) -> set[int]:
    return {pid} | {other for other in family.members() if other == pid or parent(other) == pid}


@pytest.mark.parametrize("has_lists", [True, False])
def test_members_are_found_with_and_without_the_kernels_lists(
    shell: subprocess.Popen[bytes], has_lists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert soon(lambda: len(below(shell.pid)) == 3)
    expected = below(shell.pid)
    if not has_lists:
        monkeypatch.setattr(family, "LIST", "/proc/none/{}/{}")
    assert expected <= family.members()
    assert not expected & family.members(spared={shell.pid})


def test_each_is_met_before_its_children(shell: subprocess.Popen[bytes]) -> None:
    assert soon(lambda: len(below(shell.pid)) == 3)
    met: list[int] = []
    family.members(meet=met.append)
    inner = below(shell.pid) - {shell.pid}
    assert all(met.index(shell.pid) < met.index(pid) for pid in inner)


def test_the_other_side_imports_next_to_nothing() -> None:
    """The first command waits for it."""
    code = nursery.PROGRAM.replace("main()", "print(*sorted(sys.modules))")
    argv = [sys.executable, "-I", "-S", "-c", code, nursery.ROOT]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "detent.host.keeping.keeper" in loaded
    assert not loaded & {"enum", "re", "typing", "contextlib", "signal", "socket", "asyncio"}
