"""Sessions for others to read, and sessions of others."""

import os
from collections.abc import Iterator, Mapping, Sequence

from detent.app.export.exporting import FORMS, Exported, Form, export
from detent.app.importing.storing import Imported, import_all
from detent.app.options import Options
from detent.app.places import detent_home

__all__ = ["FORMS", "Exported", "Form", "Imported", "export_session", "import_sessions"]


def export_session(
    session: str = "", form: Form = "md", options: Options | None = None
) -> Exported:
    """A session as Markdown, HTML, JSON or a snapshot of its state; without a name, the newest of
    the folder. Raises BadInput."""
    return export(options or Options(), session, form)


def import_sessions(
    paths: Sequence[str], *, is_trial: bool = False, environ: Mapping[str, str] | None = None
) -> Iterator[Imported]:
    """Transcripts of Claude Code and JSON exports of ours, from files and folders. Raises BadInput
    where there is no such path; all else is in what it gives."""
    home = detent_home(os.environ if environ is None else environ)
    return import_all(paths, home, is_trial=is_trial)
