"""What lives in a sandbox ends with its command, its host or its agent, and leaves nothing."""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from detent.host.local import LocalHost
from detent.host.nursery import Cell as Order
from detent.host.nursery import NoNursery, Nursery
from detent.host.sandbox.profile import Profile, SandboxFailed
from detent.host.sandbox.sandbox import Sandbox
from detent.ports import Running

from ..conftest import DAEMON, Marked, Pieces, open_descriptors, parent, runs, soon
from .conftest import GUARD, Cell, bash, holder, need, run
from .test_traps import agent

HORDE = """
trap '' TERM
python3 -c "$1" daemon &
setsid sh -c 'trap "" TERM; touch session; sleep 600; true' &
while ! [ -e daemon ] || ! [ -e session ]; do sleep 0.02; done
echo ready
sleep 600
"""


def horde(cell: Cell) -> list[str]:
    return ["bash", "-c", HORDE, "-", DAEMON]


def test_cancelling_ends_everything_in_it(cell: Cell, marked: Marked) -> None:
    async def tell(host: LocalHost) -> None:
        out = Pieces()
        run = host.run(
            horde(cell), cwd=str(cell.work), timeout=None, output=out, env=marked.env, confined=True
        )
        task = asyncio.create_task(run)
        assert await out.first() == b"ready\n"
        assert len(marked.pids()) >= 3
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert marked.pids() == []
        assert (await bash(host, "echo again", str(cell.work))).output == "again\n"

    cell.story(tell)


async def asleep(host: LocalHost, cell: Cell, marked: Marked) -> Running:
    """A job that is up and would run for long."""
    out = Pieces()
    job = await host.start(
        ["bash", "-c", "echo up; sleep 600"],
        cwd=str(cell.work),
        output=out,
        env=marked.env,
        confined=True,
    )
    await out.first()
    return job


def test_a_job_goes_on_beside_other_commands_and_ends_with_the_host(
    cell: Cell, marked: Marked
) -> None:
    async def tell(host: LocalHost) -> None:
        job = await asleep(host, cell, marked)
        assert (await bash(host, "echo beside", str(cell.work))).output == "beside\n"
        assert marked.pids() and job.pid > 0
        assert getattr(job, "sandbox", cell.backend) == cell.backend

    cell.story(tell)
    assert marked.are_gone()


def test_nothing_outlives_an_agent_that_is_killed(
    cell: Cell, marked: Marked, temporary: Path
) -> None:
    (cell.work / "run").write_text(HORDE.replace('"$1"', f"'{DAEMON}'"))
    command = f"cd {cell.work}; {marked.name}=1 bash run"
    with agent(cell, command, "stay") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert len(marked.pids()) >= 3
        below = _below(process.pid)
        assert below
        process.kill()
        assert marked.are_gone(within=5)
        assert soon(lambda: not any(map(runs, below)), within=5), "nor does what held them"
    # It could not tidy up. Whoever needs a sandbox next does.
    left = os.listdir(temporary)
    assert len(left) == 1
    if cell.backend == "bwrap":
        assert (cell.work / ".detent").is_dir()
    cell.bash("true")
    assert os.listdir(temporary) == []
    assert not (cell.work / ".detent").exists()


def _below(pid: int) -> list[int]:
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [one for one in found if one != pid and _is_below(one, pid)]


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = parent(pid)
        except OSError:
            return False
    return False


def test_when_it_is_killed_its_commands_go_and_the_next_one_gets_another(
    cell: Cell, marked: Marked
) -> None:
    async def tell(host: LocalHost) -> None:
        job = await asleep(host, cell, marked)
        os.kill(holder(host), signal.SIGKILL)
        ended = await asyncio.wait_for(job.end(), 10)
        assert ended.exit_code < 0
        assert marked.are_gone(within=5)
        assert soon(lambda: not runs(holder(host)))
        ran = await bash(host, "echo again", str(cell.work))
        assert (ran.output, ran.sandbox) == ("again\n", cell.backend)

    cell.story(tell)


def test_a_command_that_ends_those_who_hold_it_ends_with_them(cell: Cell, marked: Marked) -> None:
    """By their numbers only: should the sandbox ever not hold, a test must not end a machine."""

    async def tell(host: LocalHost) -> None:
        parents = (
            "keeper=$PPID; nursery=$(ps -o ppid= -p $keeper); guard=$(ps -o ppid= -p $nursery)"
        )
        kill = f"{parents}; kill -9 $guard; kill -9 $nursery $keeper; sleep 60"
        argv = ["bash", "-c", f"{GUARD} && {{ {kill}; }}"]
        finished = await host.run(
            argv, cwd=str(cell.work), timeout=30, output=len, env=marked.env, confined=True
        )
        assert finished.exit_code == -signal.SIGKILL
        assert marked.are_gone(within=5)
        assert soon(lambda: not runs(holder(host)))
        ran = await bash(host, "echo again", str(cell.work))
        assert (ran.output, ran.sandbox) == ("again\n", cell.backend)

    cell.story(tell)


def test_files_for_a_while_stay_between_commands(cell: Cell) -> None:
    ran = cell.bash("echo kept > $TMPDIR/file; mktemp > name", "cat $TMPDIR/file; test -f $(<name)")
    assert (ran.code, ran.output) == (0, "kept\n")


def test_what_is_hard_to_remove_is_removed(cell: Cell) -> None:
    """`temporary` looks at what is left."""
    assert cell.bash("mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod -R a-w $TMPDIR/a").code == 0


def test_the_scratch_folder_is_shared_with_the_agent_only(cell: Cell) -> None:
    async def tell(host: LocalHost) -> tuple[bytes, int]:
        scratch = host.scratch
        await bash(host, f"echo left > {scratch}/note", str(cell.work))
        return await host.read(f"{scratch}/note", 9), os.stat(scratch).st_mode & 0o777

    assert cell.story(tell) == (b"left\n", 0o700)


def test_a_folder_that_is_not_to_be_seen_is_no_place_to_stand(cell: Cell) -> None:
    async def tell(host: LocalHost) -> None:
        with pytest.raises(OSError, match="nowhere"):
            await bash(host, "true", str(cell.outside / "nowhere"))
        ran = await bash(host, "pwd; echo x > x || echo refused", str(cell.outside))
        assert ran.output.startswith(f"{cell.outside}\n") and ran.output.endswith("refused\n")

    cell.story(tell)


def test_two_profiles_at_once(cell: Cell) -> None:
    """Of two hosts, and one after the other of one."""
    other = replace(cell.profile, roots=(str(cell.outside),))

    async def main() -> None:
        one, two = cell.host(), LocalHost(sandbox=Sandbox.unproven(cell.backend, other))
        write = f"echo x > {cell.work}/a; echo x > {cell.outside}/a; true"
        await asyncio.gather(bash(one, write, "/"), bash(two, write.replace("/a", "/b"), "/"))
        assert sorted(_names(cell.work)) == ["a"]
        assert sorted(_names(cell.outside)) == ["b", "old"]
        assert one._sandbox is not None
        one._sandbox.profile = replace(cell.profile, kind="read-only")
        await bash(one, f"echo x > {cell.work}/c; true", "/")
        assert sorted(_names(cell.work)) == ["a"]
        assert len(one._sandbox._nurseries) == 1, "the one before rests"
        await one.aclose()
        await two.aclose()

    asyncio.run(main())


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not path.name.startswith(".")]


def test_no_descriptor_stays_open(cell: Cell) -> None:
    cell.bash("true")
    before = open_descriptors()
    for _ in range(3):
        cell.bash("true", "true")
    assert open_descriptors() == before


def test_what_a_command_inherits_is_its_three_streams(cell: Cell) -> None:
    ran = cell.bash("ls /proc/self/fd | wc -l")  # and the one that ls reads with
    assert ran.output == "4\n"


def test_a_program_outside_the_sandbox_is_as_free_as_ever(cell: Cell) -> None:
    async def tell(host: LocalHost) -> None:
        await bash(host, "true", "/")
        ran = await bash(host, f"echo x > {cell.outside}/free", "/", confined=False)
        assert (ran.code, ran.sandbox) == (0, "")

    cell.story(tell)
    assert (cell.outside / "free").exists()


def test_without_a_sandbox_a_confined_command_says_so() -> None:
    async def main() -> None:
        host = LocalHost()
        ran = await run(host, ["true"], "/")
        assert ran.sandbox == "none"
        chosen = LocalHost(sandbox=Sandbox(Profile(roots=("/",)), wanted="none"))
        assert (await run(chosen, ["true"], "/")).sandbox == "none"
        await chosen.aclose()
        await host.aclose()

    asyncio.run(main())


def test_the_direct_way_says_so_too(directly: None) -> None:
    """Where there is no nursery there is no sandbox, and `auto` takes none."""

    async def main() -> tuple[str, int]:
        host = LocalHost(sandbox=Sandbox(Profile(roots=("/",))))
        await bash(host, "true", "/", confined=False)  # finds out that there is none
        ran = await run(host, ["bash", "-c", "exit 3"], "/")
        await host.aclose()
        return ran.sandbox, ran.code

    assert asyncio.run(main()) == ("none", 3)


def test_what_cannot_be_confined_is_not_run(bwrap: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was there when it was tried, and is not any more."""
    monkeypatch.setattr("detent.host.sandbox.sandbox.found_bwrap", lambda: "/nowhere/bwrap")

    async def tell(host: LocalHost) -> None:
        with pytest.raises(SandboxFailed, match=r"could not be started: .*No such file"):
            await bash(host, "touch ran", str(bwrap.work))

    bwrap.story(tell)
    assert not (bwrap.work / "ran").exists()


def test_the_reason_is_that_of_the_one_who_failed(
    bwrap: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "detent.host.sandbox.sandbox.command", lambda *_, **__: ("/usr/bin/bwrap", "--no-such")
    )

    async def tell(host: LocalHost) -> None:
        with pytest.raises(SandboxFailed, match="Unknown option --no-such"):
            await bash(host, "touch ran", str(bwrap.work))

    bwrap.story(tell)


def test_a_nursery_that_cannot_confine_itself_holds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need("landlock")
    monkeypatch.setattr(
        "detent.host.sandbox.sandbox.Sandbox._landlock", lambda self, places: Order((), b"")
    )

    async def main() -> None:
        host = LocalHost(sandbox=Sandbox.unproven("landlock", Profile(roots=("/",))))
        with pytest.raises(SandboxFailed, match="could not be started"):
            await bash(host, "true", "/")
        await host.aclose()

    asyncio.run(main())


def test_a_nursery_that_did_not_confine_itself_is_not_taken_for_one(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it is ready, as one does that was not asked to."""
    plain = "import sys; sys.path.append(sys.argv[1]); import os; os.dup2(3, 0); del sys.argv[2:];"
    monkeypatch.setattr(
        "detent.host.nursery.PROGRAM",
        plain + "from detent.host.keeping.nursery import main; main()",
    )

    async def tell(host: LocalHost) -> None:
        with pytest.raises(SandboxFailed, match="could not be started: ready"):
            await bash(host, "touch ran", str(cell.work))

    cell.story(tell)
    assert not (cell.work / "ran").exists()


def test_a_nursery_says_why_it_could_not_be_confined() -> None:
    """Here because the orders want a port that nobody may listen on."""

    async def main() -> None:
        orders = {"landlock": False, "listen": 70_000, "families": []}
        nursery = Nursery(cell=Order((), marshal.dumps(orders)))
        with pytest.raises(NoNursery, match=r"port must be 0-65535|it ended"):
            await nursery.spawn(["true"], "/", {}, (0, 1, 2))

    asyncio.run(main())
