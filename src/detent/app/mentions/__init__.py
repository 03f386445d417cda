"""Files that a prompt names with an `@`."""
