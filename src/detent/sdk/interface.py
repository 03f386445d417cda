"""How the terminal is to look and to speak: what the settings say of it, and keeping a choice."""

import os
from collections.abc import Mapping
from typing import Any

from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.settings.interface import InterfaceWishes, SpinnerVerbs, StatusLine
from detent.app.settings.keeping import keep_setting

__all__ = ["InterfaceWishes", "SpinnerVerbs", "StatusLine", "interface_of", "keep"]


def interface_of(options: Options | None = None) -> InterfaceWishes:
    """Without a session, and so without a model. Raises BadInput for settings that are broken."""
    return grounds_of(options or Options()).settings.interface or InterfaceWishes()


def keep(key: str, value: Any, environ: Mapping[str, str] | None = None) -> str:
    """One setting of the user's own, such as theme or model, for all sessions from now on; None
    takes it out. Gives the file. Raises BadInput, and then nothing was changed."""
    return keep_setting(key, value, os.getcwd(), os.environ if environ is None else environ)
