"""Commands that people write themselves: files whose text becomes a prompt."""
