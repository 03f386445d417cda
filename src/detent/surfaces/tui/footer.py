"""The line below the text box: mode, model, how full the window is, what it has cost."""

from detent.sdk.session import Job, Session
from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.drawing.amounts import dollars, seconds, tokens
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.drawing.live import Numbers
from detent.surfaces.tui.header import model_of
from detent.surfaces.tui.screen.spans import clipped

MODES = {
    "default": "asks before it acts",
    "acceptEdits": "accepts edits",
    "plan": "plans only",
    "auto": "a model decides",
    "dontAsk": "refuses what is not allowed",
    "bypassPermissions": "ALLOWS EVERYTHING",
}


def drawn(session: Session, context: int, vim_mode: str, hint: str, look: Look) -> str:
    mode = session.mode
    theme = look.theme
    head = theme.paint(f"mode_{mode}", mode_in_words(mode))
    if hint:
        return clipped(
            f"{head}{theme.paint('faint', ' · ')}{theme.paint('strong', hint)}", look.width
        )
    parts = [model_of(session)]
    window = session.bounds(session.model)[0]
    if context and window:
        parts.append(f"{min(100, round(100 * context / window))}% context")
    if session.spent.dollars:
        parts.append(dollars(session.spent.dollars))
    if session.name:
        parts.append(one_line(session.name))
    if vim_mode:
        parts.insert(0, vim_mode)
    parts.append("? keys")
    return clipped(head + theme.paint("faint", " · " + " · ".join(parts)), look.width)


def mode_in_words(mode: str) -> str:
    return f"{mode}: {MODES.get(mode, mode)}"


def numbers(session: Session) -> Numbers:
    spent, left = session.spent, session.left()
    told = ""
    if "dollars" in left:
        told = f"{dollars(max(0.0, left['dollars']))} left"
    elif "tokens" in left:
        told = f"{tokens(max(0, int(left['tokens'])))} tokens left"
    elif left:
        what, amount = next(iter(left.items()))
        told = f"{amount:g} {what} left"
    return Numbers(spent.dollars, bool(spent.unpriced), told, session.price)


class Jobs:
    """Commands in the background: a line each while they run, and a word when they have ended."""

    def __init__(self) -> None:
        self._running: set[str] = set()

    def lines(self, session: Session) -> tuple[str, ...]:
        running = [job for job in session.jobs if job.exit_code is None]
        lines = [f"⚙ {job.id} {job.command} · {seconds(job.seconds)}" for job in running[:4]]
        if len(running) > 4:
            lines.append(f"⚙ … {counted(len(running) - 4, 'more job')}")
        return tuple(lines)

    def news(self, session: Session) -> list[str]:
        """Of those that ran when somebody looked last."""
        ended = [job for job in session.jobs if job.id in self._running and _is_over(job)]
        self._running = {job.id for job in session.jobs if job.exit_code is None}
        return [
            f"{job.id} has ended after {seconds(job.seconds)}, exit code {job.exit_code}: "
            f"{one_line(job.command)}"
            for job in ended
        ]


def _is_over(job: Job) -> bool:
    return job.exit_code is not None
