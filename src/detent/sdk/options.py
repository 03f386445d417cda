"""Everything a caller may set; see the class."""

from detent.app.options import Options

__all__ = ["Options"]
