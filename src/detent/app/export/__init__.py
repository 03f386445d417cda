"""A session for readers outside: Markdown, HTML, JSON, and a snapshot of its state."""
