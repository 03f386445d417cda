"""Memory files as text: what in them counts, what they import, and how the model is told."""
