"""Questions to the person, each with lines of its own: one at a time gets the keys."""
