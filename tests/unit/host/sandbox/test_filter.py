"""The seccomp program, run step by step: also for the machine that we are not on."""

from __future__ import annotations

import pytest

from detent.host.keeping import seccomp
from detent.host.keeping.seccomp import FORBIDDEN, LOOKED_INTO, MACHINES, Program, program

ALLOWED, REFUSED, UNKNOWN, KILLED = "allowed", "refused", "unknown", "killed"
VERDICTS = {
    seccomp.ALLOW: ALLOWED,
    seccomp.KILL: KILLED,
    seccomp.ERRNO | seccomp.EPERM: REFUSED,
    seccomp.ERRNO | seccomp.ENOSYS: UNKNOWN,
}
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK, AF_PACKET = 1, 2, 10, 16, 40, 17
DGRAM = 2


def verdict(code: Program, architecture: int, number: int, *arguments: int) -> str:
    words = {0: number, 4: architecture}
    for index in range(6):
        value = arguments[index] if index < len(arguments) else 0
        words[16 + 8 * index] = value & 0xFFFFFFFF
        words[20 + 8 * index] = value >> 32
    at = held = 0
    for _ in range(len(code)):
        what, yes, no, value = code[at]
        at += 1
        match what:
            case seccomp.LOAD:
                held = words[value]
            case seccomp.EQUAL:
                at += yes if held == value else no
            case seccomp.AT_LEAST:
                at += yes if held >= value else no
            case seccomp.ANY_BIT:
                at += yes if held & value else no
            case seccomp.RETURN:
                return VERDICTS[value]
    raise AssertionError("it does not end")


class Machine:
    def __init__(self, name: str) -> None:
        self.name = name
        self.architecture, self._column = MACHINES[name]

    def number(self, call: str) -> int:
        return {**FORBIDDEN, **LOOKED_INTO}[call][self._column]

    def ask(self, call: str, *arguments: int, families: tuple[int, ...] = ()) -> str:
        code = program(self.name, families)
        return verdict(code, self.architecture, self.number(call), *arguments)


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine(request.param)


@pytest.mark.parametrize("call", list(FORBIDDEN))
def test_what_leads_out_is_refused(machine: Machine, call: str) -> None:
    if machine.number(call) >= 0:
        assert machine.ask(call, families=(AF_INET,)) == REFUSED


def test_another_way_to_number_calls_is_none(machine: Machine) -> None:
    code = program(machine.name, ())
    assert verdict(code, 0x40000003, 20) == KILLED
    if machine.name == "x86_64":
        assert verdict(code, machine.architecture, 0x40000000 + 1) == UNKNOWN


def test_ordinary_calls_are_left_alone(machine: Machine) -> None:
    """read, write and so on: whatever is in no table."""
    code = program(machine.name, ())
    named = {machine.number(call) for call in (*FORBIDDEN, *LOOKED_INTO)}
    for number in set(range(463)) - named:
        assert verdict(code, machine.architecture, number, *[0xFFFFFFFF] * 6) == ALLOWED


def test_processes_are_made_but_not_namespaces(machine: Machine) -> None:
    assert machine.ask("clone", 0x1200011) == ALLOWED  # fork
    assert machine.ask("clone", 0x4111) == ALLOWED  # posix_spawn
    assert machine.ask("clone", 0x3D0F00) == ALLOWED  # a thread
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert machine.ask("clone", flag | 17) == REFUSED
    assert machine.ask("clone3") == UNKNOWN, "so that everybody takes the older one"


def test_nobody_types_into_a_terminal(machine: Machine) -> None:
    assert machine.ask("ioctl", 0, 0x5412) == REFUSED
    assert machine.ask("ioctl", 0, 0x541C) == REFUSED
    assert machine.ask("ioctl", 0, 0x100005412) == REFUSED, "the kernel looks at the lower half"
    assert machine.ask("ioctl", 0, 0x5401) == ALLOWED


def test_only_ones_own_limits_are_set(machine: Machine) -> None:
    assert machine.ask("prlimit64", 0, 7) == ALLOWED
    assert machine.ask("prlimit64", 1234, 7) == REFUSED


def test_only_the_families_that_are_named(machine: Machine) -> None:
    for families in ((), (AF_UNIX,), (AF_INET, AF_INET6), (AF_INET, AF_INET6, AF_NETLINK, AF_UNIX)):
        for family in (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK, AF_PACKET, 0, 31):
            wanted = ALLOWED if family in families else REFUSED
            assert machine.ask("socket", family, DGRAM, families=families) == wanted


def test_a_machine_that_it_does_not_know_gets_no_filter() -> None:
    with pytest.raises(OSError, match="no filter for sparc"):
        program("sparc", ())
