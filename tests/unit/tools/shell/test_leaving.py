"""A command that a call waits for goes on in the background, because a person wants it so."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.host.child import Child
from detent.host.local import LocalHost
from detent.ports import Desk, Finished, Leave
from detent.types.outcomes import Cut, Done, text_of

from .shells import Shells
from .test_jobs import until


class Leaving(Shells):
    """Whatever may be left can be left by `leave`."""

    leave: Leave
    shown: asyncio.Queue[str]

    def desk(self) -> Desk:
        return replace(super().desk(), leaving=self._offered)

    @contextmanager
    def _offered(self, leave: Leave) -> Iterator[None]:
        self.leave = leave
        yield


@pytest.fixture
def shells(tmp_path: Path) -> Leaving:
    found = Leaving(tmp_path)
    os.mkfifo(found.work / "go")
    return found


async def begun(shells: Leaving, **arguments: Any) -> asyncio.Task[Any]:
    """When it has printed something."""
    shown = shells.shown = asyncio.Queue()
    shells.show = shown.put_nowait
    task = asyncio.create_task(shells.acall("Bash", **arguments))
    await shown.get()
    return task


def printed(shells: Leaving, job: str = "job_1") -> str:
    found = shells.table.find(job)
    assert found is not None
    return Path(found.path).read_text()


async def let_go(shells: Leaving) -> None:
    await asyncio.to_thread((shells.work / "go").write_text, "more\n")


async def left(shells: Leaving, **arguments: Any) -> Done:
    task = await begun(shells, **arguments)
    assert shells.leave()
    outcome = await task
    assert isinstance(outcome, Done)
    return outcome


def test_the_call_ends_and_the_same_process_goes_on(shells: Leaving) -> None:
    async def story() -> None:
        outcome = await left(shells, command="echo $$; cat go; echo late >&2; exit 3")
        job = shells.table.find("job_1")
        assert job is not None and job.exit_code is None
        assert text_of(outcome) == (
            "The user has sent it to the background; there it goes on as job_1. What it has "
            f"printed, and will print, is in {job.path}. You will be told when it ends; TaskOutput "
            "shows what it prints, TaskStop ends it."
        )
        assert outcome.data is not None
        told = {name: outcome.data[name] for name in ("backgroundTaskId", "outputPath")}
        assert told == {"backgroundTaskId": "job_1", "outputPath": job.path}
        pid = int(printed(shells))
        os.kill(pid, 0)
        await let_go(shells)
        await until(lambda: shells.news)
        assert printed(shells) == f"{pid}\nmore\nlate\n"
        assert shells.shown.empty(), "the call shows nothing any more"

    shells.during(story)
    (news,) = shells.news
    assert news.startswith("[Background job job_1 (echo $$; cat go; echo late >&2; exit 3) ended")
    assert "Exit code 3." in news and news.endswith("> more\n> late")


def test_its_time_limit_counts_no_more(shells: Leaving, monkeypatch: pytest.MonkeyPatch) -> None:
    lifted: list[int] = []
    monkeypatch.setattr(Child, "lift_limit", lambda child: lifted.append(child.pid))

    async def story() -> None:
        await left(shells, command="echo $$; cat go")
        assert lifted == [int(printed(shells))]

    shells.during(story)


def test_a_limit_that_is_lifted_is_none() -> None:
    async def run() -> Finished:
        host = LocalHost()
        try:
            return await host.run(
                ["sleep", "0.3"],
                cwd="/",
                timeout=0.05,
                output=lambda data: None,
                begun=lambda running: running.lift_limit(),
            )
        finally:
            await host.aclose()

    assert asyncio.run(run()) == Finished(0)


def test_one_that_nobody_leaves_has_its_limit(shells: Leaving) -> None:
    outcome = shells.call("Bash", command="echo x; cat go", timeout=200)
    assert isinstance(outcome, Cut) and outcome.text == "x"


def test_much_that_was_printed_before_is_in_the_file_once(shells: Leaving) -> None:
    async def story() -> None:
        await left(shells, command="seq 50000; cat go; echo end")
        await let_go(shells)
        await shells.table.wait("job_1", 20)
        numbers = [str(number) for number in range(1, 50_001)]
        assert printed(shells).split() == [*numbers, "more", "end"]

    shells.during(story)


def test_it_ends_as_every_job_does(shells: Leaving) -> None:
    async def story() -> None:
        await left(shells, command="echo $$; exec sleep 60")
        job = await shells.table.stop("job_1")
        assert job.exit_code == -15
        with pytest.raises(ProcessLookupError):
            os.kill(int(printed(shells)), 0)

    shells.during(story)
    assert shells.news == []


def test_the_end_of_the_session_ends_it(shells: Leaving) -> None:
    async def story() -> int:
        await left(shells, command="echo $$; exec sleep 60")
        return int(printed(shells))

    pid = shells.during(story)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_cancelling_comes_too_late(shells: Leaving) -> None:
    async def story() -> None:
        task = await begun(shells, command="echo x; cat go; echo end")
        assert shells.leave()
        task.cancel()
        assert "job_1" in text_of(await task)
        await let_go(shells)
        await shells.table.wait("job_1", 20)
        assert printed(shells) == "x\nmore\nend\n"

    shells.during(story)


def test_a_folder_that_it_goes_to_is_its_own(shells: Leaving) -> None:
    (shells.work / "sub").mkdir()

    async def story() -> None:
        await left(shells, command="echo x; cat go; cd sub")
        await let_go(shells)
        assert (await shells.table.wait("job_1", 20)).exit_code == 0
        assert shells.shop.cwd == str(shells.work)

    shells.during(story)


def test_only_once_and_only_while_it_runs(shells: Leaving) -> None:
    async def story() -> None:
        task = await begun(shells, command="echo x; cat go")
        leave = shells.leave
        assert (leave(), leave()) == (True, False)
        await task
        assert len(shells.table.all()) == 1
        await shells.acall("Bash", command="echo x")
        assert shells.leave is not leave and not shells.leave()

    shells.during(story)


def test_without_a_file_for_its_output_it_stays(shells: Leaving) -> None:
    for folder in (shells.kept, shells.elsewhere):
        folder.write_text("in the way of the folder")

    async def story() -> None:
        task = await begun(shells, command="echo x; cat go; echo end")
        assert not shells.leave()
        await let_go(shells)
        assert text_of(await task) == "x\nmore\nend"

    shells.during(story)
