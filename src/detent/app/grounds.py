"""What a session is built on: options, settings, folders, clock."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.app.clock import SystemClock
from detent.app.models import open_model, prices, unpriced
from detent.app.options import Options
from detent.app.places import user_home
from detent.app.settings.record import Settings
from detent.app.settings.sources import Where, load_sources, merge, where_of
from detent.gate.terms import KindLimits
from detent.ports import Clock, Model
from detent.types.errors import BadInput
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.http.tape import Tape


class Grounds(Struct, frozen=True):
    options: Options
    environ: Mapping[str, str]
    settings: Settings
    cwd: str
    own: str
    """The user's home folder."""
    home: str
    """The program's."""
    clock: Clock
    where: Where
    """Where its settings are."""
    tape: "Tape | None" = None
    """Keeps what models are sent and what they answer, byte by byte."""
    first_words: str = ""
    """What the agent that the session runs as begins with, before the first prompt;"""
    limits: KindLimits = KindLimits()
    """and what it is held to."""

    @property
    def is_trusted(self) -> bool:
        """Whether the user trusts the folder, by a word for this run or for good."""
        if self.options.trust:
            return True
        from detent.app.trust.deciding import is_trusted_folder

        return is_trusted_folder(self.where, self.settings.trusted_folders, self.own)

    def model(self, options: Options) -> Model:
        """Raises BadInput where a budget could not be kept with it."""
        model = open_model(options, self.settings, self.environ, self.clock, self.tape)
        if options.max_budget_usd and prices(self.settings)(model.name, Usage(input=1)) is None:
            raise BadInput(unpriced(model.name))
        return model


def grounds_of(options: Options) -> Grounds:
    environ = os.environ if options.environ is None else options.environ
    cwd = working_folder(options.cwd)
    where = where_of(cwd, environ, options.managed_folders)
    sources = load_sources(where, options.setting_sources, options.settings)
    notes: tuple[str, ...] = ()
    if not options.trust and any(source.is_project for source in sources):
        from detent.app.trust.deciding import with_trust

        sources, notes = with_trust(sources, where, user_home(environ))
    settings = merge(sources, trusted=options.trust)
    if notes:
        settings = replace(settings, notices=(*notes, *settings.notices))
    clock = options.clock or SystemClock()
    own, tape = user_home(environ), _tape(options.record) if options.record else None
    grounds = Grounds(options, environ, settings, cwd, own, where.home, clock, where, tape)
    if not (options.agent or options.agents or settings.agent):
        return grounds
    from detent.app.agents.kinds.acting import as_agent

    return as_agent(grounds)


def _tape(folder: str) -> "Tape":
    from detent.http.tape import Tape

    try:
        return Tape(folder)
    except OSError as error:
        raise BadInput(f"nothing can be recorded in {folder}: {error.strerror}") from None


def working_folder(wanted: str) -> str:
    try:
        folder = os.path.realpath(wanted) if wanted else os.getcwd()
        os.scandir(folder).close()
    except OSError as error:
        raise BadInput(f"cannot work in {wanted or 'this folder'}: {error.strerror}") from None
    try:
        folder.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the name of the folder is not UTF-8 text: {folder!a}") from None
    return folder
