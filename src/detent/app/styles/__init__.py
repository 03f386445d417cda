"""Output styles: how the model speaks, as files say it."""
