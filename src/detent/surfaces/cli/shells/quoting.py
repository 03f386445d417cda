"""Our own texts, as they may stand in a script."""


def quoted(text: str) -> str:
    """For bash and zsh: between single quotes, whatever is in it."""
    return "'" + text.replace("'", "'\\''") + "'"


def quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
