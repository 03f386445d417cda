"""System calls that Python does not know."""

import ctypes
import errno
import os

PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION = 0x20080522

_LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: "int | bytes | None") -> int:
    """Raises OSError."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _checked(_LIBC.syscall(ctypes.c_long(number), *words))


def control(option: int, *arguments: "int | bytes | ctypes.Array[ctypes.c_char]") -> int:
    """`prctl`. Raises OSError."""
    words = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in arguments]
    words += [ctypes.c_ulong(0)] * (4 - len(words))
    return _checked(_LIBC.prctl(option, *words))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def become_unreadable() -> None:
    """Nobody of the same user may look into our memory and environment, or trace us."""
    control(PR_SET_DUMPABLE, 0)


def drop_privileges() -> None:
    """For good: not even a program that would have more when it starts gives them back."""
    control(PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(64):
        try:
            if control(PR_CAPBSET_READ, capability):
                control(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # this kernel has no more of them
                break
            if os.geteuid() == 0:  # to all others a program cannot give any now
                raise
    control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = CAPABILITY_VERSION.to_bytes(4, "little") + bytes(4)
    if _LIBC.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")
