"""Esc Esc: back to an earlier prompt."""

from detent.sdk.session import Session
from detent.sdk.undo import Point
from detent.surfaces.commands.undo import told_rewind
from detent.surfaces.tui.blocks import Output, Told
from detent.surfaces.tui.dialogs.rewind import RewindDialog
from detent.surfaces.tui.seat import Seat
from detent.types.errors import BadInput


async def rewind(seat: Seat) -> None:
    """What would come of it is shown before it is done."""
    session = seat.session
    if session is None or session.is_running:
        return
    points = session.points()
    if not points:
        seat.stage.show(Told("Nothing was said yet that one could go back to."))
        return
    dialog = RewindDialog(points, lambda point: seat.begin(_preview(seat, session, point, dialog)))
    wanted = await seat.stage.ask(dialog)
    if wanted is None:
        return
    try:
        done = await session.rewind(wanted.point.number, wanted.part)
    except BadInput as error:
        seat.stage.show(Told(str(error), "error"))
        return
    seat.stage.show(Output("/rewind", "\n".join(told_rewind(done, session.cwd))))
    if wanted.part != "files":
        seat.keyboard.put(wanted.point.text)


async def _preview(seat: Seat, session: Session, point: Point, dialog: RewindDialog) -> None:
    try:
        found = await session.rewind(point.number, "both", dry_run=True)
        dialog.tell([*told_rewind(found, session.cwd)][:-1])
    except BadInput as error:
        dialog.tell([str(error)])
    seat.stage.touch()
