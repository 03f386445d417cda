"""What language servers know of the code: a small client for the Language Server Protocol."""
