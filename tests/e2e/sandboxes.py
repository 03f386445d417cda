"""The sandboxes that commands are tried in; one that the machine does not have is skipped."""

from __future__ import annotations

import os

import pytest

BWRAP = "/usr/bin/bwrap"

needs_bwrap = pytest.mark.skipif(not os.access(BWRAP, os.X_OK), reason="needs bubblewrap")
CONFINED = ("landlock", pytest.param("bwrap", marks=needs_bwrap))
SANDBOXES = pytest.mark.parametrize("sandbox", ["off", *CONFINED])
