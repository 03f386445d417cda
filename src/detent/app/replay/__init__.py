"""Replay: the real loop once more, on stand-ins that answer from a session's log."""
