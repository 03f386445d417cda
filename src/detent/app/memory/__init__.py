"""Memory files on the disk: found, read, and told when they are due. Loaded with the first."""
