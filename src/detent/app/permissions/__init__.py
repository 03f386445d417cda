"""Asking the gate: explain, test, replay, suggest, all by the one function that decides."""
