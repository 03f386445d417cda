"""Pure data: frozen tagged unions that every layer shares."""
