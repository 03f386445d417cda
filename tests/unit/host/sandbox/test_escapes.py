"""Ways out, tried against the real kernel, for each backend."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from .conftest import Cell, need_own_signals

CONNECT = """
import socket, sys
family, kind, *address = sys.argv[1:]
made = socket.socket(getattr(socket, family), getattr(socket, kind))
made.settimeout(2)
if family == "AF_UNIX":
    made.connect(address[0].replace("@", chr(0)))
else:
    made.connect((address[0], int(address[1])))
made.send(b"hello")
print("reached")
"""


def test_what_may_be_done_is_done(cell: Cell) -> None:
    ran = cell.bash("echo one > new; mkdir -p a/b; mv new a/b/; cat a/b/new; echo x > /dev/null")
    assert (ran.code, ran.output) == (0, "one\n")
    assert (cell.work / "a/b/new").read_text() == "one\n"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {outside}/new",
        "echo x >> {outside}/old",
        ": > {outside}/old",
        "echo x > ../outside/new",
        "ln -s {outside} link; echo x > link/new",
        "ln {outside}/old hard && echo x > hard",
        "mv {outside}/old .",
        "rm -f {outside}/old",
        "mkdir {outside}/folder",
        "truncate -s 0 {outside}/old",
        "cp /bin/true {outside}/old",
        "mknod {outside}/pipe p",
        "ln -s x {outside}/link",
    ],
)
def test_nothing_is_written_outside(cell: Cell, command: str) -> None:
    ran = cell.bash(command.format(outside=cell.outside))
    assert ran.code != 0
    assert sorted(os.listdir(cell.outside)) == ["old"]
    assert (cell.outside / "old").read_text() == "old"


def test_a_read_only_profile_writes_nothing_but_its_own_folders(cell: Cell) -> None:
    ran = cell.bash(
        'echo x > new || echo refused; echo t > "$TMPDIR/t" && cat "$TMPDIR/t"', kind="read-only"
    )
    assert ran.output.endswith("refused\nt\n")
    assert os.listdir(cell.work) == []


def test_a_link_that_is_swapped_leads_nowhere_else(cell: Cell) -> None:
    """Between a check and its use somebody makes a folder a link: the kernel looks at the place."""
    command = """
        mkdir real
        (while [ ! -e stop ]; do
            rm -rf swap; mkdir swap; rmdir swap; ln -s {outside} swap; rm swap
        done) &
        for i in $(seq 300); do echo x > swap/new; done 2>/dev/null
        touch stop; wait
    """
    cell.bash(command.format(outside=cell.outside))
    assert sorted(os.listdir(cell.outside)) == ["old"]


@pytest.mark.parametrize("place", ["build", "deep/build"])
def test_a_link_in_place_of_a_writable_folder_leads_nowhere(cell: Cell, place: str) -> None:
    """The next command gets another sandbox, for which all places are looked up again."""
    (cell.work / place).mkdir(parents=True)
    parent = os.path.dirname(place)
    swap = f"cd {cell.work} && mv {parent or place} old && mkdir -p ./{parent} && "
    swap += f"ln -s {cell.outside} {place} && mkdir -p .vscode && echo swapped"
    new = cell.outside / "new"
    ran = cell.bash(swap, f"echo x > {new}; ls", writable=(str(cell.work / place),))
    assert not new.exists() and "old" in ran.output


def test_a_secret_deep_in_the_workspace_is_not_read_by_moving_what_is_above(bwrap: Cell) -> None:
    secret = bwrap.work / "conf" / "deep" / ".env"
    secret.parent.mkdir(parents=True)
    secret.write_text("the key")
    moves = "mv conf old; mv conf/deep conf/old; mkdir -p conf/deep; echo > conf/deep/.env"
    ran = bwrap.bash(moves, "cat */.env */*/.env; ls", denied_reads=(str(secret),))
    assert "the key" not in ran.output and "conf" in ran.output


def test_no_device_can_be_made(cell: Cell) -> None:
    ran = cell.bash("mknod disk b 7 0; mknod memory c 1 1; ls")
    assert ran.output.splitlines()[-1:] not in (["disk"], ["memory"])
    assert not (cell.work / "disk").exists() and not (cell.work / "memory").exists()


OPEN_DEVICES = """
import os, stat
usual = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}
for name in set(os.listdir("/dev")) - usual:
    path = "/dev/" + name
    mode = os.lstat(path).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            print(path)
        except OSError:
            pass
print("end")
"""


def test_no_disk_or_other_device_can_be_opened(cell: Cell) -> None:
    """Root owns them, and needs no privilege to open them."""
    assert cell.python(OPEN_DEVICES).output == "end\n"


def test_a_secret_is_not_read(cell: Cell) -> None:
    there = cell.secret
    ran = cell.bash(
        f"cat {there}/key; (cd {there}; cat key); ln -s {there} l; cat l/key;"
        f"cat /proc/self/root{there}/key"
    )
    assert "the key" not in ran.output


def test_a_secret_file_among_others_is_not_read(cell: Cell) -> None:
    (cell.outside / "token").write_text("the key")
    ran = cell.bash(
        f"cat {cell.outside}/token {cell.outside}/old",
        denied_reads=(str(cell.outside / "token"), "/nowhere/at/all"),
    )
    assert "the key" not in ran.output and "old" in ran.output


@pytest.mark.parametrize(
    "command",
    [
        "mount -o remount,rw /",
        "mount -o remount,rw,bind /",
        "mount -t tmpfs none .",
        "mount --bind {work} {outside}",
        "umount -l /proc",
        "umount {work}",
        "pivot_root . .",
        "chroot . /bin/true",
        "unshare -U true",
        "unshare -Ur true",
        "unshare -rm sh -c 'mount -o remount,rw /'",
        "nsenter -t 1 -m true",
    ],
)
def test_the_view_of_the_machine_stays(cell: Cell, command: str) -> None:
    ran = cell.bash(command.format(work=cell.work, outside=cell.outside))
    assert ran.code != 0, ran.output


@pytest.mark.parametrize("name", ["core_pattern", "modprobe", "hostname", "sysrq"])
def test_the_kernel_cannot_be_told_anything(cell: Cell, name: str) -> None:
    """Opened only. Root without a privilege still owns these files."""
    ran = cell.python(f"import os; os.open('/proc/sys/kernel/{name}', os.O_WRONLY)")
    assert ran.code != 0
    assert cell.bash("echo x > /sys/kernel/mm/ksm/run").code != 0


def test_no_privilege_is_left_or_to_be_had(cell: Cell) -> None:
    ran = cell.bash("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; su -c id nobody")
    facts = dict(line.split(":\t") for line in ran.output.splitlines() if ":\t" in line)
    sets = ["CapEff", "CapPrm", "CapInh", "CapAmb"]
    if os.geteuid() == 0 or cell.backend == "bwrap":
        sets.append("CapBnd")  # all others can lower it only in a user namespace
    assert {facts[name] for name in sets} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1" and facts["Seccomp"] == "2"


def test_no_other_process_is_looked_into(cell: Cell) -> None:
    """Neither the first process nor one of the same user; for the agent see `test_traps.py`."""
    mark = os.urandom(8).hex()
    with subprocess.Popen(["sleep", "60"], env={"SECRET": mark}) as bystander:
        try:
            ran = cell.bash(
                f"cat /proc/{os.getpid()}/environ /proc/{bystander.pid}/environ /proc/1/environ;"
                f"cat /proc/[0-9]*/environ; cat /proc/{bystander.pid}/maps"
            )
        finally:
            bystander.kill()
    assert mark not in ran.output


ATTACH = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
print("attached" if libc.ptrace(16, int(sys.argv[1]), 0, 0) == 0 else "refused")
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
into = ctypes.create_string_buffer(8)
mine = Vector(ctypes.addressof(into), 8)
theirs = Vector(int(sys.argv[2]), 8)
got = libc.process_vm_readv(int(sys.argv[1]), ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
print("read" if got > 0 else "refused")
"""


def test_no_process_is_traced(cell: Cell) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        try:
            maps = Path(f"/proc/{bystander.pid}/maps").read_text()
            start = int(maps.partition("-")[0], 16)
            ran = cell.python(ATTACH, str(bystander.pid), str(start))
            inside = cell.bash("sleep 60 & gdb -p $! -batch -ex 'print 1' 2>&1; kill $!")
        finally:
            bystander.kill()
    assert ran.output == "refused\nrefused\n"
    assert "ptrace: Operation not permitted" in inside.output or "not found" in inside.output


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_nothing_on_the_network_is_reached(cell: Cell, family: str, kind: str) -> None:
    here = "127.0.0.1" if family == "AF_INET" else "::1"
    with socket.socket(getattr(socket, family), getattr(socket, kind)) as outside:
        outside.bind((here, 0))
        if kind == "SOCK_STREAM":
            outside.listen()
        outside.setblocking(False)
        port = str(outside.getsockname()[1])
        cell.python(CONNECT, family, kind, here, port)
        with pytest.raises(BlockingIOError):
            outside.accept() if kind == "SOCK_STREAM" else outside.recv(10)


def test_neither_curl_nor_the_shell_gets_out(cell: Cell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        outside.setblocking(False)
        port = outside.getsockname()[1]
        ran = cell.bash(
            f"curl -m 3 -sS http://127.0.0.1:{port}/; echo x > /dev/tcp/127.0.0.1/{port};"
            f"echo x > /dev/udp/127.0.0.1/{port}; curl -m 3 -sS http://1.1.1.1/; true"
        )
        with pytest.raises(BlockingIOError):
            outside.accept()
    assert "curl: (7)" in ran.output


@pytest.mark.parametrize("abstract", [False, True])
def test_no_service_is_reached_through_a_unix_socket(cell: Cell, abstract: bool) -> None:
    name = f"@{os.urandom(8).hex()}" if abstract else str(cell.work / "service")
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(name.replace("@", "\0"))
        outside.listen()
        ran = cell.python(CONNECT, "AF_UNIX", "SOCK_STREAM", name)
        assert "reached" not in ran.output
        assert "PermissionError" in ran.output
    pair = cell.python("import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))")
    assert pair.output == "b'x'\n", "two ends of one process are nobody's service"


def test_unix_sockets_can_be_permitted(cell: Cell) -> None:
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(str(cell.work / "service"))
        outside.listen()
        ran = cell.python(
            CONNECT, "AF_UNIX", "SOCK_STREAM", str(cell.work / "service"), allow_unix_sockets=True
        )
    assert ran.output == "reached\n"


def test_abstract_sockets_of_others_stay_out_of_reach_even_then(cell: Cell) -> None:
    name = f"@{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(name.replace("@", "\0"))
        outside.listen()
        ran = cell.python(CONNECT, "AF_UNIX", "SOCK_STREAM", name, allow_unix_sockets=True)
    assert "reached" not in ran.output


def test_nobody_outside_is_signalled(cell: Cell) -> None:
    need_own_signals(cell)
    with subprocess.Popen(["sleep", "60"]) as bystander:
        try:
            ran = cell.bash(f"kill -0 {bystander.pid} || kill -0 {os.getpid()} || echo refused")
            assert ran.output.endswith("refused\n")
        finally:
            bystander.kill()


LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    resource.prlimit(int(sys.argv[1]), resource.RLIMIT_CPU, (1, 1))
except OSError:
    print("refused")
"""


def test_nobody_outside_is_limited(cell: Cell) -> None:
    """Whoever has used up the time that is left to him is ended."""
    with subprocess.Popen(["sleep", "60"]) as bystander:
        try:
            assert cell.python(LIMIT, str(bystander.pid)).output == "refused\n"
        finally:
            bystander.kill()


def test_nobody_listens_at_another_terminal(cell: Cell) -> None:
    master, slave = os.openpty()
    try:
        ran = cell.bash(f"exec 3<>{os.ttyname(slave)} && echo typed")
        assert "typed" not in ran.output and ran.code != 0
    finally:
        os.close(master)
        os.close(slave)


NUMBERS = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 5)
    print(number, ctypes.get_errno())
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")
def test_calls_that_lead_out_are_refused(cell: Cell) -> None:
    """io_uring, bpf, keyctl, open_by_handle_at, userfaultfd, pidfd_getfd, the new mounts; and by
    their numbers of the other way to call a 64-bit kernel."""
    numbers = [425, 426, 427, 321, 250, 248, 304, 323, 438, 428, 430, 442, 246, 175]
    ran = cell.python(NUMBERS, *map(str, numbers))
    assert ran.output.splitlines() == [f"{number} 1" for number in numbers]
    other = [0x40000000 + number for number in (101, 165)]
    ran = cell.python(NUMBERS, *map(str, other))
    assert ran.output.splitlines() == [f"{number} 38" for number in other]


CALL_32 = r"""
#include <stdio.h>
int main(void) {
    long got;
    __asm__ volatile ("int $0x80" : "=a"(got) : "a"(20));
    printf("%ld\n", got);
    return 0;
}
"""


@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="only there are there two kernels in one"
)
def test_the_calls_of_32_bit_are_no_way_around(cell: Cell, tmp_path: Path) -> None:
    source, program = tmp_path / "call.c", cell.work / "call"
    source.write_text(CALL_32)
    try:
        subprocess.run(["cc", "-o", program, source], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no C compiler")
    ran = cell.bash("./call")
    assert ran.output == "" and ran.code not in (0, 1), "killed"


def test_bubblewrap_keeps_permissions_outside_too(bwrap: Cell) -> None:
    """Landlock does not see any of these: its `permissions` promise is not made."""
    old = bwrap.outside / "old"
    before = old.stat()
    ran = bwrap.bash(
        f"chmod 777 {old}; chown 1:1 {old}; touch {old}; setfattr -n user.x -v y {old}; true"
    )
    assert ran.output.count("Read-only file system") >= 3
    after = old.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime_ns) == (
        before.st_mode, before.st_uid, before.st_mtime_ns
    )  # fmt: skip


def test_bubblewrap_shows_only_its_own_processes_and_temporary_files(bwrap: Cell) -> None:
    ran = bwrap.bash("ls /proc | grep -c '^[0-9]'; ls -A /run; echo x > /tmp/mine")
    count, *_ = ran.output.split()
    assert int(count) < 10
    assert not Path("/tmp/mine").exists()
