"""Texts made fit to be shown: no control characters, no more than is wanted of them."""

import time

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_NAMED = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HARMLESS: dict[int, int | str] = {**_CONTROLS, **{code: f"[U+{code:04X}]" for code in _NAMED}}
"""Escape sequences would be obeyed by a terminal, and others show text in another order."""


def harmless(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_HARMLESS)


def shortened(text: str, lines: int, characters: int) -> str:
    """Its beginning and its end, and how much lies between."""
    found = text.split("\n")
    if len(found) > lines:
        head, tail = found[: lines - lines // 3], found[len(found) - lines // 3 :]
        left_out = len(found) - len(head) - len(tail)
        text = "\n".join([*head, f"[… {left_out} lines left out …]", *tail])
    if len(text) > characters:
        half = characters // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
    return text


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at)) if 0 < at < 1e11 else ""


def tokens(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"
