"""What every fold gives."""

from detent.surfaces.tui.blocks import Block
from detent.surfaces.tui.view import View

Folded = tuple[View, tuple[Block, ...]]
"""The view from now on, and what is finished."""
