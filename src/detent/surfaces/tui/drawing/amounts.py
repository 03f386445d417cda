"""Amounts in as few columns as they can be told in."""


def tokens(count: int) -> str:
    """`940`, `1.2k`, `3.4M`"""
    if count < 1_000:
        return str(count)
    size, unit = (count / 1_000, "k") if count < 999_950 else (count / 1_000_000, "M")
    return f"{size:.1f}".removesuffix(".0") + unit


def seconds(count: float) -> str:
    """`0.4s`, `12s`, `3m 05s`, `1h 02m`"""
    if count < 10:
        return f"{max(0.0, count):.1f}s"
    whole = int(count)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3_600}h {whole % 3_600 // 60:02}m"


def dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 10 else f"${amount:.4f}"


def bar(done: float, width: int = 20) -> str:
    """How much of a known length is done, from 0 to 1."""
    full = round(max(0.0, min(1.0, done)) * width)
    return "█" * full + "░" * (width - full)
