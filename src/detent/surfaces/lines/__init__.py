"""Speaking with a person line by line: on stderr, and on whatever stdin is."""
