"""How a program ended, in words."""

import signal


def ending(code: int) -> str:
    """`Exit code 3`, or the signal that killed it."""
    if code < 0:
        return f"Killed by {_signal_name(-code)}."
    if 128 < code <= 128 + signal.NSIG:
        return f"Exit code {code} (as after {_signal_name(code - 128)})."
    return f"Exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
