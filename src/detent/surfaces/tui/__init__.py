"""The terminal: a session that a person lives in. What is finished is printed once and left to the
terminal's own scrollback; one live region below it is repainted when it changes."""
