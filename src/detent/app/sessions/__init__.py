"""Stored sessions, as people handle them: listed, found, shown, named, deleted."""
