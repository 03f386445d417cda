"""Completion for shells: what can be typed where, and a script of it for each shell."""
