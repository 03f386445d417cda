"""What was typed before in a folder."""

import os
from collections.abc import Mapping

from detent.app.past_prompts import PastPrompts
from detent.app.past_prompts import past_prompts as _past_prompts
from detent.app.places import detent_home

__all__ = ["PastPrompts", "past_prompts"]


def past_prompts(folder: str, environ: Mapping[str, str] | None = None) -> PastPrompts:
    environ = os.environ if environ is None else environ
    return _past_prompts(detent_home(environ), folder, environ)
