"""System calls that no command needs and that lead out of a sandbox: refused by a BPF program."""

import os
import struct

from detent.host.keeping.kernel import PR_SET_SECCOMP, control

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

FILTER_MODE = 2
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

X32 = 0x40000000
"""Calls of the same processor under other numbers."""
NEW_NAMESPACES = 0x7E020000
FAKE_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: type into a terminal."""

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's word for it, and the column below."""

FORBIDDEN = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "unshare": (272, 97), "setns": (308, 268),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "lookup_dcookie": (212, 18),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "vhangup": (153, 58),
    "settimeofday": (164, 170), "clock_settime": (227, 112),
    "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, -1), "ioperm": (173, -1), "uselib": (134, -1),
}  # fmt: skip
LOOKED_INTO = {
    "clone": (56, 220), "clone3": (435, 435), "ioctl": (16, 29), "socket": (41, 198),
    "prlimit64": (302, 261),
}  # fmt: skip

Program = list[tuple[int, int, int, int]]


def forbid(families: "Collection[int]") -> None:
    """`families` of sockets stay, all others go. Privileges must have been dropped. Raises
    OSError."""
    import ctypes

    code = program(os.uname().machine, families)
    packed = b"".join(struct.pack("=HBBI", *step) for step in code)
    steps = ctypes.create_string_buffer(packed, len(packed))
    head = struct.pack("@HP", len(code), ctypes.addressof(steps))
    control(PR_SET_SECCOMP, FILTER_MODE, head)


def program(machine: str, families: "Collection[int]") -> Program:
    if machine not in MACHINES:
        raise OSError(ENOSYS, f"no filter for {machine}")
    architecture, column = MACHINES[machine]
    code: Program = [
        _load(ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        _return(KILL),
        _load(NUMBER),
    ]
    if column == 0:
        code += [(AT_LEAST, 0, 1, X32), _refuse(ENOSYS)]
    for numbers in FORBIDDEN.values():
        if numbers[column] >= 0:
            code += _when(numbers[column], [_refuse(EPERM)])
    cases = {
        "clone": [_argument(0), (ANY_BIT, 0, 1, NEW_NAMESPACES), _refuse(EPERM), _return(ALLOW)],
        # Its arguments are out of sight; all know the older call.
        "clone3": [_refuse(ENOSYS)],
        "ioctl": [_argument(1), *_none_of(FAKE_INPUT), _return(ALLOW)],
        "socket": _socket(families),
        # Of oneself only: one can end a process by what is left to it.
        "prlimit64": [_argument(0), (EQUAL, 1, 0, 0), _refuse(EPERM), _return(ALLOW)],
    }
    for name, steps in cases.items():
        code += _when(LOOKED_INTO[name][column], steps)
    return [*code, _return(ALLOW)]


def _socket(families: "Collection[int]") -> Program:
    steps: Program = [_argument(0)]
    ordered = sorted(families)
    for at, family in enumerate(ordered):
        steps.append((EQUAL, len(ordered) - at, 0, family))
    return [*steps, _refuse(EPERM), _return(ALLOW)]


def _none_of(values: "Collection[int]") -> Program:
    return [step for value in values for step in ((EQUAL, 0, 1, value), _refuse(EPERM))]


def _when(number: int, steps: Program) -> Program:
    """Each of them ends by returning, so the number is still loaded for the next."""
    return [(EQUAL, 0, len(steps), number), *steps]


def _load(at: int) -> tuple[int, int, int, int]:
    return LOAD, 0, 0, at


def _argument(index: int) -> tuple[int, int, int, int]:
    """Its lower half: all that we look at are ints for the kernel."""
    return _load(ARGUMENTS + 8 * index)


def _return(value: int) -> tuple[int, int, int, int]:
    return RETURN, 0, 0, value


def _refuse(error: int) -> tuple[int, int, int, int]:
    return _return(ERRNO | error)
