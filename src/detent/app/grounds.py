"""What a session is built on: options, settings, folders, clock."""

import os
from collections.abc import Mapping

from msgspec import Struct

from detent.app.clock import SystemClock
from detent.app.config import Settings, load_sources, merge
from detent.app.models import open_model
from detent.app.options import Options
from detent.app.places import detent_home, user_home
from detent.ports import Clock, Model
from detent.types.errors import BadInput


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

    def model(self, options: Options) -> Model:
        return open_model(options, self.settings, self.environ, self.clock)


def grounds_of(options: Options) -> Grounds:
    environ = os.environ if options.environ is None else options.environ
    cwd = working_folder(options.cwd)
    own, home = user_home(environ), detent_home(environ)
    sources = load_sources(cwd, home, own, options.setting_sources, options.settings)
    settings = merge(sources, trusted=options.trust)
    return Grounds(options, environ, settings, cwd, own, home, options.clock or SystemClock())


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
