"""What a repository says of itself, for an AGENTS.md: one file per kind of finding, all data."""
