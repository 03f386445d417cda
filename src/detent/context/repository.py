"""What the model is told of a git repository, and when it has to be told again."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from detent.context.bounds import harmless_line

LONGEST_STATUS = 2_000
LONGEST_AGAIN = 600
"""What is told anew with a later prompt costs each time; the model can ask git for more."""
LONGEST_NAME = 200
LONGEST_SUBJECT = 100


class Repository(Struct, frozen=True):
    root: str
    branch: str = ""
    """Empty: no branch is checked out."""
    default: str = ""
    """The branch that others start from; empty where it is not known."""
    commits: tuple[str, ...] = ()
    """The last ones: a short id and the subject."""
    changes: tuple[str, ...] = ()
    """As `git status --short` has them."""
    is_cut: bool = False
    """There are more changes than these."""
    trouble: str = ""
    """Why nothing is known of its changes."""


def due_texts(repository: Repository | None, told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is to be told under which name, given what the model can read of earlier tellings."""
    if repository is None:
        return
    if (standing := standing_text(repository)) != told.get("git"):
        yield "git", standing
    first = changes_text(repository, LONGEST_STATUS)
    again = changes_text(repository, LONGEST_AGAIN)
    before = told.get("git status")
    if before not in (first, again):
        yield "git status", first if before is None else again


def standing_text(repository: Repository) -> str:
    """The branch and the last commits: what follows from HEAD."""
    branch = harmless_line(repository.branch, LONGEST_NAME)
    head = f"on branch {branch}" if branch else "no branch checked out"
    lines = [f"Git repository {harmless_line(repository.root, 4_096)}, {head}"]
    if repository.default and repository.default != repository.branch:
        lines[0] += f" (default branch: {harmless_line(repository.default, LONGEST_NAME)})"
    if repository.commits:
        lines.append("Recent commits:")
        lines += [harmless_line(commit, LONGEST_SUBJECT) for commit in repository.commits]
    return _told(lines)


def changes_text(repository: Repository, most: int) -> str:
    """The status, cut at whole lines; that it is cut is said."""
    if repository.trouble:
        return _told([f"git status: {repository.trouble}"])
    if not repository.changes:
        return _told(["git status: clean"])
    lines, length = list[str](), 0
    for change in repository.changes:
        line = harmless_line(change, LONGEST_NAME)
        length += len(line) + 1
        if length > most:
            break
        lines.append(line)
    if repository.is_cut or len(lines) < len(repository.changes):
        left = len(repository.changes) - len(lines)
        lines.append(f"… and {'at least ' if repository.is_cut else ''}{max(left, 1)} more")
    return _told(["git status:", *lines])


def _told(lines: list[str]) -> str:
    return "\n".join(("<surroundings>", *lines, "</surroundings>"))
