"""How a session stands: the facts that a person wants at a glance, and that are nowhere else."""

import os

from detent.app.engine import Engine
from detent.app.settings.worktree import small_text
from detent.app.surroundings import repository_root

SHORT_COMMIT = 8


def branch_of(folder: str) -> str:
    """What HEAD says, read as data; the beginning of the commit where no branch is checked out,
    and empty where there is no repository."""
    root = repository_root(folder)
    if root is None:
        return ""
    git = os.path.join(root, ".git")
    if os.path.isfile(git):  # a worktree, or a submodule
        git = os.path.join(root, small_text(git).removeprefix("gitdir:").strip())
    head = small_text(os.path.join(git, "HEAD"))
    if head.startswith("ref: "):
        return head.removeprefix("ref: ").removeprefix("refs/heads/")
    return head[:SHORT_COMMIT]


async def sandbox_of(engine: Engine) -> str:
    """What holds commands, as far as it is known: nothing is tried out to tell it."""
    from detent.app.sandboxing import wishes_of

    wishes = wishes_of(engine.grounds)
    if wishes.backend == "off":
        return "off"
    made = vars(engine.shop.confinement).get("sandbox")
    if made is not None and made.known is not None:
        return str(made.known)
    return f"{wishes.backend} (chosen with the first command)"


def reach_of(engine: Engine) -> str:
    """What a command may touch beside what it says, in a line: nothing is tried out to tell it."""
    from detent.app.sandboxing import wishes_of

    wishes = wishes_of(engine.grounds)
    made = vars(engine.shop.confinement).get("sandbox")
    if wishes.backend == "off" or (made is not None and made.known == "none"):
        return "no sandbox: it may write and connect wherever you may"
    hosts = ", ".join(wishes.allowed_domains[:4]) or "none"
    return f"in the sandbox: writes in the folder only; network: {hosts}"
