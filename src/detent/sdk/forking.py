"""A new session from any step of another."""

from detent.app.forking import Fork, Forked, beside, find, in_place, into, look_in_place

__all__ = ["Fork", "Forked", "beside", "find", "in_place", "into", "look_in_place"]
